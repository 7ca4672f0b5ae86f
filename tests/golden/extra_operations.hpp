// extra_operations.hpp: runs the operations of extra.txt with heed.
#pragma once

#include "golden/models.hpp"
#include "heed/extra/comparison.hpp"
#include "heed/extra/elementwise.hpp"
#include "heed/extra/indexing.hpp"
#include "heed/extra/losses.hpp"
#include "heed/extra/recurrent.hpp"
#include "heed/extra/reductions.hpp"

namespace golden {

// ---- comparison

inline Mask compared(const Call& call) {
  struct Comparison {
    Mask (*of_tensors)(heed::In, heed::In);
    Mask (*of_number)(heed::In, double);
  };
  static const std::map<std::string, Comparison> all{
      {"gt", {heed::gt, heed::gt}}, {"ge", {heed::ge, heed::ge}}, {"lt", {heed::lt, heed::lt}},
      {"le", {heed::le, heed::le}}, {"eq", {heed::eq, heed::eq}}, {"ne", {heed::ne, heed::ne}}};
  const Comparison& compare = all.at(call.attrs.at("name"));
  return call.has("c") ? compare.of_number(call.tensor(0), call.real("c"))
                       : compare.of_tensors(call.tensor(0), call.tensor(1));
}

inline Table comparison_operations() {
  return {
      {"compare", [](const Call& c) { return Values{compared(c)}; }},
      {"maximum", [](const Call& c) { return Values{heed::maximum(c.tensor(0), c.tensor(1))}; }},
      {"minimum", [](const Call& c) { return Values{heed::minimum(c.tensor(0), c.tensor(1))}; }},
      {"where_number",
       [](const Call& c) { return Values{heed::where(c.mask(0), c.tensor(1), c.real("c"))}; }},
      {"number_where",
       [](const Call& c) { return Values{heed::where(c.mask(0), c.real("c"), c.tensor(1))}; }},
  };
}

// ---- reductions

inline Tensor prod(const Call& call) {
  if (!call.has("dim")) return heed::prod(call.tensor(0));
  return heed::prod(call.tensor(0), call.integer("dim"), call.flag("keepdim"));
}

inline Table extra_reductions() {
  return {
      {"amin",
       [](const Call& c) { return Values{heed::amin(c.tensor(0), c.axes(), c.flag("keepdim"))}; }},
      {"argmin", [](const Call& c) { return Values{heed::argmin(c.tensor(0), c.integer("dim"))}; }},
      {"prod", [](const Call& c) { return Values{prod(c)}; }},
      {"cumsum", [](const Call& c) { return Values{heed::cumsum(c.tensor(0), c.integer("dim"))}; }},
      {"norm",
       [](const Call& c) {
         return Values{heed::norm(c.tensor(0), c.real("p"), c.axes(), c.flag("keepdim"))};
       }},
      {"normalize",
       [](const Call& c) {
         return Values{heed::normalize(c.tensor(0), c.real("p"), c.integer("dim"), c.real("eps"))};
       }},
      {"var_correction",
       [](const Call& c) {
         return Values{heed::var(c.tensor(0), c.axes(), c.real("correction"), c.flag("keepdim"))};
       }},
      {"stddev",
       [](const Call& c) {
         return Values{
             heed::stddev(c.tensor(0), c.axes(), c.real("correction"), c.flag("keepdim"))};
       }},
      {"logsumexp_axes",
       [](const Call& c) {
         return Values{heed::logsumexp(c.tensor(0), c.axes(), c.flag("keepdim"))};
       }},
  };
}

// ---- indexing

inline Tensor scattered(const Call& call) {
  const int axis = call.integer("dim");
  if (call.has("c")) return heed::scatter(call.tensor(0), axis, call.indices(1), call.real("c"));
  return heed::scatter(call.tensor(0), axis, call.indices(1), call.tensor(2));
}

inline Table indexing_operations() {
  return {
      {"one_hot",
       [](const Call& c) {
         return Values{Tensor(heed::one_hot(c.indices(0), c.integer("num_classes")))};
       }},
      {"index_select",
       [](const Call& c) {
         return Values{heed::index_select(c.tensor(0), c.integer("dim"), c.indices(1))};
       }},
      {"index", [](const Call& c) { return Values{Tensor(c.tensor(0)[c.integer("i")])}; }},
      {"unbind", [](const Call& c) { return list(heed::unbind(c.tensor(0), c.integer("dim"))); }},
      {"scatter", [](const Call& c) { return Values{scattered(c)}; }},
      {"scatter_add",
       [](const Call& c) {
         return Values{heed::scatter_add(c.tensor(0), c.integer("dim"), c.indices(1), c.tensor(2))};
       }},
      {"triu",
       [](const Call& c) { return Values{heed::triu(c.tensor(0), c.integer("diagonal"))}; }},
      {"flip", [](const Call& c) { return Values{heed::flip(c.tensor(0), c.integers("dims"))}; }},
      {"repeat",
       [](const Call& c) { return Values{heed::repeat(c.tensor(0), c.integers("sizes"))}; }},
      {"pad",
       [](const Call& c) {
         return Values{heed::pad(c.tensor(0), c.integers("padding"), c.real("value"))};
       }},
      {"expand_kept",
       [](const Call& c) { return Values{heed::expand(c.tensor(0), c.integers("sizes"))}; }},
  };
}

// ---- elementwise functions

inline Table elementwise_operations() {
  return {
      {"pow", [](const Call& c) { return Values{heed::pow(c.tensor(0), c.tensor(1))}; }},
      {"number_pow", [](const Call& c) { return Values{heed::pow(c.real("c"), c.tensor(0))}; }},
      {"sin", [](const Call& c) { return Values{heed::sin(c.tensor(0))}; }},
      {"cos", [](const Call& c) { return Values{heed::cos(c.tensor(0))}; }},
      {"erf", [](const Call& c) { return Values{heed::erf(c.tensor(0))}; }},
      {"softplus",
       [](const Call& c) {
         return Values{heed::softplus(c.tensor(0), c.real("beta"), c.real("threshold"))};
       }},
      {"leaky_relu",
       [](const Call& c) { return Values{heed::leaky_relu(c.tensor(0), c.real("slope"))}; }},
      {"elu", [](const Call& c) { return Values{heed::elu(c.tensor(0), c.real("alpha"))}; }},
  };
}

// ---- losses

inline heed::CrossEntropyOptions class_loss_options(const Call& call) {
  heed::CrossEntropyOptions options;
  options.reduction = reduction_of(call);
  options.ignore_index = call.attrs.value("ignore_index", std::int64_t{-100});
  options.label_smoothing = call.attrs.value("label_smoothing", 0.0);
  return options;
}

inline Tensor nll_loss(const Call& call) {
  const auto options = class_loss_options(call);
  const Tensor x = call.tensor("logits"), weight = call.tensor("weight");
  return weight.defined() ? heed::nll_loss(x, call.indices(1), weight.value(), options)
                          : heed::nll_loss(x, call.indices(1), options);
}

inline Tensor weighted_cross_entropy(const Call& call) {
  const auto options = class_loss_options(call);
  const Tensor x = call.tensor("logits"), weight = call.tensor("weight");
  const Tensor probabilities = call.tensor("probabilities");
  if (!probabilities.defined())
    return heed::cross_entropy(x, call.indices(1), weight.value(), options);
  return weight.defined() ? heed::cross_entropy(x, probabilities, weight.value(), options)
                          : heed::cross_entropy(x, probabilities, options);
}

inline Table extra_losses() {
  return {
      {"l1_loss",
       [](const Call& c) {
         return Values{heed::l1_loss(c.tensor(0), c.tensor(1), reduction_of(c))};
       }},
      {"kl_div",
       [](const Call& c) {
         return Values{
             heed::kl_div(c.tensor(0), c.tensor(1), reduction_of(c), c.flag("log_target"))};
       }},
      {"nll_loss", [](const Call& c) { return Values{nll_loss(c)}; }},
      {"weighted_cross_entropy", [](const Call& c) { return Values{weighted_cross_entropy(c)}; }},
  };
}

// ---- layers

inline Tensor softcap_attention(const Call& call) {
  heed::AttentionOptions options;
  options.causal = call.flag("causal");
  options.softcap = call.real("softcap");
  options.bias = call.tensor("bias");
  return heed::scaled_dot_product_attention(call.tensor("q"), call.tensor("k"), call.tensor("v"),
                                            options);
}

inline Result recurrent(const Call& call, bool lstm) {
  const auto parameters = std::make_shared<heed::Parameters>();
  Generator generator(0);
  const heed::Scope scope(*parameters, generator);
  const Tensor x = call.tensor("x");
  const std::size_t hidden = call.tensor("weight_hh_l0").shape()[1];
  const heed::nn::RecurrentOptions options{call.size("num_layers"), call.flag("bias"),
                                           call.flag("bidirectional")};
  const auto results = [&](const auto& layer, const auto& read) {
    Packing packing;
    for (const Tensor& parameter : *parameters)
      packing.push_back({parameter.name(), {parameter.name()}});
    load(packing, call, *parameters);
    return with_gradients(read(layer), packing, call, parameters);
  };
  if (!lstm)
    return results(heed::nn::GRU(scope, x.shape()[2], hidden, options), [&](const auto& layer) {
      const auto [output, h_n] = layer(x, call.tensor("h_0"));
      return Values{output, h_n};
    });
  return results(heed::nn::LSTM(scope, x.shape()[2], hidden, options), [&](const auto& layer) {
    const auto [output, h_n, c_n] = layer(x, call.tensor("h_0"), call.tensor("c_0"));
    return Values{output, h_n, c_n};
  });
}

inline Values initial_recurrent(const Call& call) {
  heed::Parameters parameters;
  Generator generator(call.attrs.at("seed").get<std::uint64_t>());
  const heed::Scope scope(parameters, generator);
  const auto sizes = call.attrs.at("sizes").get<std::vector<std::size_t>>();
  heed::nn::RecurrentOptions options;
  options.num_layers = sizes.size() > 2 ? sizes[2] : 1;
  options.bidirectional = call.flag("bidirectional");
  if (call.attrs.at("layer") == "GRU") heed::nn::GRU(scope, sizes[0], sizes[1], options);
  if (call.attrs.at("layer") == "LSTM") heed::nn::LSTM(scope, sizes[0], sizes[1], options);
  return list(parameters.tensors());
}

inline Table extra_layers() {
  return {{"softcap_attention", [](const Call& c) { return Values{softcap_attention(c)}; }},
          {"gru", [](const Call& c) { return recurrent(c, false); }},
          {"lstm", [](const Call& c) { return recurrent(c, true); }},
          {"initial_recurrent", [](const Call& c) { return initial_recurrent(c); }}};
}

inline Table extra_operations() {
  Table operations = comparison_operations();
  operations.merge(extra_reductions());
  operations.merge(indexing_operations());
  operations.merge(elementwise_operations());
  operations.merge(extra_losses());
  operations.merge(extra_layers());
  return operations;
}

inline const Table& table() {
  static const Table all = [] {
    Table operations = arithmetic_operations();
    operations.merge(shape_operations());
    operations.merge(reduction_operations());
    operations.merge(fused_operations());
    operations.merge(library_operations());
    operations.merge(model_operations());
    operations.merge(optimizer_operations());
    operations.merge(extra_operations());
    return operations;
  }();
  return all;
}

}  // namespace golden
