// operations.hpp: runs the operations of a golden file with heed.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <variant>

#include "golden/draws.hpp"
#include "golden/file.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/einsum.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/rotary.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"

namespace golden {

using heed::Mask;
using heed::Tensor;

using Value = std::variant<Tensor, Indices, Mask>;
using Values = std::vector<Value>;

// The inputs and attributes of one operation.
struct Call {
  const Values& inputs;
  const Json& attrs;

  const Tensor& tensor(std::size_t i) const { return std::get<Tensor>(inputs.at(i)); }
  const Indices& indices(std::size_t i) const { return std::get<Indices>(inputs.at(i)); }
  const Mask& mask(std::size_t i) const { return std::get<Mask>(inputs.at(i)); }
  std::vector<Tensor> tensors() const {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < inputs.size(); ++i) result.push_back(tensor(i));
    return result;
  }

  // Inputs by the names that the attribute "inputs" gives them.
  const Value* find(std::string_view name) const {
    const Json& names = attrs.at("inputs");
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i].get<std::string>() == name) return &inputs.at(i);
    return nullptr;
  }
  Tensor tensor(std::string_view name) const {  // undefined if absent
    const Value* const value = find(name);
    return value == nullptr ? Tensor() : std::get<Tensor>(*value);
  }

  bool has(const char* key) const { return attrs.contains(key); }
  double real(const char* key) const { return number(attrs.at(key)); }
  int integer(const char* key) const { return attrs.at(key).get<int>(); }
  std::size_t size(const char* key) const { return attrs.value(key, std::size_t{0}); }
  bool flag(const char* key) const { return attrs.value(key, false); }
  std::vector<int> integers(const char* key) const { return attrs.at(key).get<std::vector<int>>(); }
  heed::AxisList axes() const {  // all axes if absent
    if (!has("dim")) return {};
    return attrs["dim"].is_array() ? integers("dim") : heed::AxisList{integer("dim")};
  }
};

// The outputs, and a function to call after the backward pass: it copies the gradients of a model's
// parameters to the inputs from which they were loaded.
struct Result {
  Result(
      Values outputs, std::function<void()> gather = [] {})
      : values(std::move(outputs)), gather_gradients(std::move(gather)) {}
  Values values;
  std::function<void()> gather_gradients;
};

using Operation = std::function<Result(const Call&)>;
using Table = std::map<std::string, Operation>;

inline const Table& table();

inline Values list(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

inline Tensor sliced(const Call& call) {
  Tensor x = call.tensor(0);
  const Json& slices = call.attrs.at("slices");
  for (std::size_t axis = 0; axis < slices.size(); ++axis) {
    const auto part = [&](std::size_t i, std::int64_t default_value) {
      return slices[axis].at(i).is_null() ? default_value : slices[axis][i].get<std::int64_t>();
    };
    x = heed::slice(x, static_cast<int>(axis), part(0, 0), part(1, heed::to_the_end), part(2, 1));
  }
  return x;
}

inline Values max_with_position(const Call& call) {
  const Tensor& x = call.tensor(0);
  Indices position = heed::argmax(x, call.integer("dim"));
  const Tensor y = heed::max(x, call.axes(), call.flag("keepdim"));
  position.reshape(Indices::shape_type(y.shape().begin(), y.shape().end()));
  return {y, position};
}

inline heed::Reduction reduction_of(const Call& call) {
  const std::string name = call.attrs.value("reduction", "mean");
  return name == "mean"  ? heed::Reduction::mean
         : name == "sum" ? heed::Reduction::sum
                         : heed::Reduction::none;
}

inline Tensor cross_entropy(const Call& call) {
  heed::CrossEntropyOptions options;
  options.reduction = reduction_of(call);
  options.ignore_index = call.attrs.value("ignore_index", std::int64_t{-100});
  options.label_smoothing = call.attrs.value("label_smoothing", 0.0);
  const Tensor loss = heed::cross_entropy(call.tensor(0), call.indices(1), options);
  return options.reduction == heed::Reduction::none
             ? heed::reshape(loss, {static_cast<int>(loss.value().size())})
             : loss;
}

inline Tensor layer_norm(const Call& call) {
  return heed::layer_norm(call.tensor("x"), shape_from(call.attrs.at("normalized_shape")),
                          call.tensor("weight"), call.tensor("bias"),
                          call.attrs.value("eps", 1e-5));
}

inline Tensor rms_norm(const Call& call) {
  return heed::rms_norm(
      call.tensor("x"), shape_from(call.attrs.at("normalized_shape")), call.tensor("weight"),
      call.attrs.value("eps", double{std::numeric_limits<heed::Real>::epsilon()}));
}

inline Values topk(const Call& call) {
  const auto k = static_cast<std::size_t>(call.integer("k"));
  const heed::TopK largest = heed::topk(call.tensor(0), k, call.integer("dim"));
  return {largest.values, largest.indices};
}

inline Tensor embedding(const Call& call) {
  std::optional<std::int64_t> padding;
  if (call.has("padding_idx")) padding = call.integer("padding_idx");
  return heed::embedding(call.indices(1), call.tensor(0), padding);
}

inline Values attention(const Call& call) {
  heed::AttentionOptions options;
  options.causal = call.flag("causal");
  if (call.has("scale")) options.scale = call.real("scale");
  if (call.find("mask") != nullptr) options.mask = std::get<Mask>(*call.find("mask"));
  options.bias = call.tensor("bias");
  const Tensor q = call.tensor("q"), k = call.tensor("k"), v = call.tensor("v");
  return {heed::scaled_dot_product_attention(q, k, v, options),
          heed::attention_weights(q, k, options)};
}

inline Values grouped_attention(const Call& call) {
  heed::AttentionOptions options;
  options.causal = call.flag("causal");
  options.window = static_cast<std::size_t>(call.integer("window"));
  options.num_heads = static_cast<std::size_t>(call.integer("heads"));
  options.num_kv_heads = static_cast<std::size_t>(call.integer("kv_heads"));
  if (const Value* const padding = call.find("key_padding"); padding != nullptr)
    options.key_padding = std::get<Mask>(*padding);
  const Tensor q = call.tensor("q"), k = call.tensor("k"), v = call.tensor("v");
  return {heed::scaled_dot_product_attention(q, k, v, options),
          heed::attention_weights(q, k, options)};
}

inline heed::RotaryOptions rotary_options(const Call& call) {
  heed::RotaryOptions options;
  options.base = call.has("base") ? call.real("base") : options.base;
  options.pairs = call.flag("halves") ? heed::RotaryPairs::halves : heed::RotaryPairs::interleaved;
  options.dim = call.size("dim");
  return options;
}

inline Tensor rotary_embedding(const Call& call) {
  return heed::rotary_embedding(call.tensor("x"), call.size("heads"), call.size("first"),
                                rotary_options(call));
}

inline Tensor dropout(const Call& call) {
  if (!call.flag("training")) return call.tensor(0);
  Generator generator(call.attrs.at("seed").get<std::uint64_t>());
  return heed::dropout(call.tensor(0), call.real("p"), generator);
}

// Both golden files have draws of PyTorch's default dtype, float32.
inline Values random_draws(const Call& call) {
  Generator generator(call.attrs.at("seed").get<std::uint64_t>(), heed::Precision::float32);
  Values result;
  for (const Json& draw : call.attrs.at("calls"))
    for (const Drawn& x : drawn(generator, draw))
      result.push_back(x.index() == 0 ? Value(Tensor(std::get<Array>(x))) : std::get<Indices>(x));
  return result;
}

// Runs the steps [result, op, [arguments], attributes]; each op is in the table. A step with the
// attribute "no_grad" records no graph.
inline Result program(const Call& call) {
  std::map<std::string, Value> values;
  std::vector<std::function<void()>> gather_gradients;  // of the layers
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    values[call.attrs.at("inputs").at(i)] = call.inputs[i];
  for (const Json& step : call.attrs.at("steps")) {
    Values arguments;
    for (const Json& name : step.at(2)) arguments.push_back(values.at(name));
    std::optional<heed::NoGrad> no_grad;
    if (step.at(3).value("no_grad", false)) no_grad.emplace();
    const Result result = table().at(step.at(1))({arguments, step.at(3)});
    gather_gradients.push_back(result.gather_gradients);
    const Values& results = result.values;
    if (!step.at(0).is_array()) {
      values[step[0]] = results.at(0);
      continue;
    }
    for (std::size_t i = 0; i < step[0].size(); ++i) values[step[0][i]] = results.at(i);
  }
  Values outputs;
  for (const Json& name : call.attrs.at("out")) outputs.push_back(values.at(name));
  return {outputs, [=] {
            for (const std::function<void()>& gather : gather_gradients) gather();
          }};
}

inline Table arithmetic_operations() {
  return {
      {"add", [](const Call& c) { return Values{c.tensor(0) + c.tensor(1)}; }},
      {"sub", [](const Call& c) { return Values{c.tensor(0) - c.tensor(1)}; }},
      {"mul", [](const Call& c) { return Values{c.tensor(0) * c.tensor(1)}; }},
      {"div", [](const Call& c) { return Values{c.tensor(0) / c.tensor(1)}; }},
      {"add_scalar", [](const Call& c) { return Values{c.tensor(0) + c.real("c")}; }},
      {"mul_scalar", [](const Call& c) { return Values{c.tensor(0) * c.real("c")}; }},
      {"rsub_scalar", [](const Call& c) { return Values{c.real("c") - c.tensor(0)}; }},
      {"div_scalar", [](const Call& c) { return Values{c.tensor(0) / c.real("c")}; }},
      {"rdiv_scalar", [](const Call& c) { return Values{c.real("c") / c.tensor(0)}; }},
      {"pow_scalar", [](const Call& c) { return Values{heed::power(c.tensor(0), c.real("p"))}; }},
      {"neg", [](const Call& c) { return Values{-c.tensor(0)}; }},
      {"exp", [](const Call& c) { return Values{heed::exp(c.tensor(0))}; }},
      {"log", [](const Call& c) { return Values{heed::log(c.tensor(0))}; }},
      {"sqrt", [](const Call& c) { return Values{heed::sqrt(c.tensor(0))}; }},
      {"abs", [](const Call& c) { return Values{heed::abs(c.tensor(0))}; }},
      {"tanh", [](const Call& c) { return Values{heed::tanh(c.tensor(0))}; }},
      {"relu", [](const Call& c) { return Values{heed::relu(c.tensor(0))}; }},
      {"sigmoid", [](const Call& c) { return Values{heed::sigmoid(c.tensor(0))}; }},
      {"gelu_erf", [](const Call& c) { return Values{heed::gelu(c.tensor(0), heed::Gelu::erf)}; }},
      {"gelu_tanh",
       [](const Call& c) { return Values{heed::gelu(c.tensor(0), heed::Gelu::tanh)}; }},
  };
}

inline Table shape_operations() {
  return {
      {"transpose",
       [](const Call& c) {
         return Values{heed::transpose(c.tensor(0), c.integer("d0"), c.integer("d1"))};
       }},
      {"permute",
       [](const Call& c) { return Values{heed::permute(c.tensor(0), c.integers("dims"))}; }},
      {"reshape",
       [](const Call& c) { return Values{heed::reshape(c.tensor(0), c.integers("shape"))}; }},
      {"transpose_reshape",
       [](const Call& c) {
         return Values{heed::reshape(heed::transpose(c.tensor(0), c.integer("d0"), c.integer("d1")),
                                     c.integers("shape"))};
       }},
      {"expand",
       [](const Call& c) {
         return Values{heed::expand(c.tensor(0), shape_from(c.attrs.at("shape")))};
       }},
      {"squeeze",
       [](const Call& c) { return Values{heed::squeeze(c.tensor(0), c.integer("dim"))}; }},
      {"unsqueeze",
       [](const Call& c) { return Values{heed::unsqueeze(c.tensor(0), c.integer("dim"))}; }},
      {"slice", [](const Call& c) { return Values{sliced(c)}; }},
      {"select",
       [](const Call& c) {
         return Values{heed::select(c.tensor(0), c.integer("dim"), c.integer("index"))};
       }},
      {"cat", [](const Call& c) { return Values{heed::concat(c.tensors(), c.integer("dim"))}; }},
      {"cat_self",
       [](const Call& c) {
         const auto n = static_cast<std::size_t>(c.integer("n"));
         return Values{heed::concat(std::vector<Tensor>(n, c.tensor(0)), c.integer("dim"))};
       }},
      {"stack", [](const Call& c) { return Values{heed::stack(c.tensors(), c.integer("dim"))}; }},
      {"split",
       [](const Call& c) {
         const auto sizes = c.attrs.at("sizes").get<std::vector<std::int64_t>>();
         return list(heed::split(c.tensor(0), sizes, c.integer("dim")));
       }},
      {"detach", [](const Call& c) { return Values{heed::detach(c.tensor(0))}; }},
  };
}

inline Table reduction_operations() {
  return {
      {"sum",
       [](const Call& c) { return Values{heed::sum(c.tensor(0), c.axes(), c.flag("keepdim"))}; }},
      {"mean",
       [](const Call& c) { return Values{heed::mean(c.tensor(0), c.axes(), c.flag("keepdim"))}; }},
      {"amax",
       [](const Call& c) { return Values{heed::max(c.tensor(0), c.axes(), c.flag("keepdim"))}; }},
      {"max_all", [](const Call& c) { return Values{heed::max(c.tensor(0))}; }},
      {"max_dim", max_with_position},
      {"var",
       [](const Call& c) {
         return Values{
             heed::variance(c.tensor(0), c.axes(), c.flag("unbiased"), c.flag("keepdim"))};
       }},
      {"softmax",
       [](const Call& c) { return Values{heed::softmax(c.tensor(0), c.integer("dim"))}; }},
      {"log_softmax",
       [](const Call& c) { return Values{heed::log_softmax(c.tensor(0), c.integer("dim"))}; }},
      {"logsumexp",
       [](const Call& c) {
         return Values{heed::logsumexp(c.tensor(0), c.integer("dim"), c.flag("keepdim"))};
       }},
      {"masked_fill",
       [](const Call& c) {
         return Values{heed::masked_fill(c.tensor(0), c.mask(1), c.real("value"))};
       }},
      {"masked_softmax",
       [](const Call& c) {
         const double minus_infinity = -std::numeric_limits<double>::infinity();
         return Values{heed::softmax(heed::masked_fill(c.tensor(0), c.mask(1), minus_infinity),  //
                                     c.integer("dim"))};
       }},
  };
}

inline Table fused_operations() {
  return {
      {"matmul", [](const Call& c) { return Values{heed::matmul(c.tensor(0), c.tensor(1))}; }},
      {"linear",
       [](const Call& c) {
         return Values{
             heed::linear(c.tensor(0), c.tensor(1), c.inputs.size() > 2 ? c.tensor(2) : Tensor())};
       }},
      {"einsum",
       [](const Call& c) {
         return Values{heed::einsum(c.attrs.at("eq").get<std::string>(), c.tensors())};
       }},
      {"cosine_similarity",
       [](const Call& c) {
         return Values{heed::cosine_similarity(c.tensor(0), c.tensor(1), c.attrs.value("dim", 1),
                                               c.attrs.value("eps", 1e-8))};
       }},
      {"cross_entropy", [](const Call& c) { return Values{cross_entropy(c)}; }},
      {"layer_norm", [](const Call& c) { return Values{layer_norm(c)}; }},
      {"embedding", [](const Call& c) { return Values{embedding(c)}; }},
      {"sdpa", attention},
      {"dropout", [](const Call& c) { return Values{dropout(c)}; }},
      {"rng", random_draws},
      {"program", program},
  };
}

inline Table library_operations() {
  return {
      {"mse_loss",
       [](const Call& c) {
         return Values{heed::mse_loss(c.tensor(0), c.tensor(1), reduction_of(c))};
       }},
      {"binary_cross_entropy_with_logits",
       [](const Call& c) {
         return Values{heed::binary_cross_entropy_with_logits(c.tensor(0), c.tensor(1),  //
                                                              reduction_of(c))};
       }},
      {"huber_loss",
       [](const Call& c) {
         return Values{heed::huber_loss(c.tensor(0), c.tensor(1), reduction_of(c),
                                        c.attrs.value("delta", 1.0))};
       }},
      {"clamp",
       [](const Call& c) {
         return Values{heed::clamp(c.tensor(0), c.real("low"), c.real("high"))};
       }},
      {"where",
       [](const Call& c) { return Values{heed::where(c.mask(0), c.tensor(1), c.tensor(2))}; }},
      {"topk", topk},
      {"gather",
       [](const Call& c) {
         return Values{heed::gather(c.tensor(0), c.integer("dim"), c.indices(1))};
       }},
      {"argmax", [](const Call& c) { return Values{heed::argmax(c.tensor(0), c.integer("dim"))}; }},
      {"rms_norm", [](const Call& c) { return Values{rms_norm(c)}; }},
      {"silu", [](const Call& c) { return Values{heed::silu(c.tensor(0))}; }},
      {"rotary_embedding", [](const Call& c) { return Values{rotary_embedding(c)}; }},
      {"grouped_attention", grouped_attention},
  };
}

}  // namespace golden
