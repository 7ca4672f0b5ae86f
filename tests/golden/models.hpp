// models.hpp: runs the layers and models of a golden file with heed.
#pragma once

#include <algorithm>

#include "golden/operations.hpp"
#include "golden/optimizers.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/encoder_decoder.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/optim/adamw.hpp"

namespace golden {

// An input of the file and the heed parameters that it contains, one below the other: PyTorch
// stores the projections of query, key and value in one (3C, C) matrix.
struct Packed {
  std::string input;
  std::vector<std::string> parameters;
};
using Packing = std::vector<Packed>;

inline void load(const Packing& packing, const Call& call, const heed::Parameters& parameters) {
  std::size_t loaded = 0;
  for (const Packed& packed : packing) {
    const Array& input = call.tensor(packed.input).value();
    std::size_t offset = 0;
    for (const std::string& name : packed.parameters) {
      Tensor parameter = parameters.at(name);
      const std::size_t n = parameter.value().size();
      if (offset + n > input.size()) throw std::runtime_error(packed.input + " is too small");
      std::copy_n(input.data() + offset, n, parameter.mutable_value().data());
      offset += n;
    }
    if (offset != input.size()) throw std::runtime_error(packed.input + " is too large");
    loaded += offset;
  }
  if (loaded != parameters.count()) throw std::runtime_error("some parameters were not loaded");
}

// Without effect if no parameter has a gradient, as in a layer that no output depends on.
inline void gather(const Packed& packed, const Tensor& input, const heed::Parameters& parameters) {
  bool has_gradient = false;
  Array gradient = heed::zeros(input.shape());
  heed::Real* to = gradient.data();
  for (const std::string& name : packed.parameters) {
    const Tensor parameter = parameters.at(name);
    if (parameter.has_grad()) std::copy_n(parameter.grad().data(), parameter.value().size(), to);
    has_gradient = has_gradient || parameter.has_grad();
    to += parameter.value().size();
  }
  if (!has_gradient) return;
  input.node()->grad = gradient;
  input.node()->has_grad = true;
}

// ---- multi-head attention

inline Packing attention_packing(bool bias) {
  Packing packing{{"in_proj_weight", {"query.weight", "key.weight", "value.weight"}},
                  {"out_proj_weight", {"out.weight"}}};
  if (!bias) return packing;
  packing.push_back({"in_proj_bias", {"query.bias", "key.bias", "value.bias"}});
  packing.push_back({"out_proj_bias", {"out.bias"}});
  return packing;
}

// heed's mask, (B, T, S) or with several heads (B, 1, T, S), is true where a query may attend to a
// key. PyTorch's attn_mask (T, S) and key_padding_mask (B, S) are true where a key is masked. The
// attribute "unmask_full_rows" unmasks the rows that are fully masked.
inline std::optional<Mask> visible_keys(const Call& call, std::size_t B, std::size_t T,
                                        std::size_t S) {
  const Value *const pairs = call.find("attn_mask"), *const keys = call.find("key_padding_mask");
  if (pairs == nullptr && keys == nullptr) return {};
  Mask mask = Mask::from_shape({B, T, S});
  for (std::size_t row = 0; row < B * T; ++row) {
    bool* const visible = mask.data() + row * S;
    for (std::size_t s = 0; s < S; ++s)
      visible[s] = (pairs == nullptr || !std::get<Mask>(*pairs)(row % T, s)) &&
                   (keys == nullptr || !std::get<Mask>(*keys)(row / T, s));
    if (call.flag("unmask_full_rows") && std::count(visible, visible + S, true) == 0)
      std::fill_n(visible, S, true);
  }
  if (call.integer("heads") > 1) mask.reshape(Mask::shape_type{B, 1, T, S});
  return mask;
}

inline Result multi_head_attention(const Call& call) {
  const Tensor query = call.tensor("query");
  const Tensor key = call.find("key") == nullptr ? query : call.tensor("key");
  const Tensor value = call.find("value") == nullptr ? key : call.tensor("value");
  const auto heads = static_cast<std::size_t>(call.integer("heads"));
  const bool bias = call.find("in_proj_bias") != nullptr;

  const auto parameters = std::make_shared<heed::Parameters>();
  Generator generator(0);
  const heed::nn::MultiHeadAttention layer({*parameters, generator}, query.shape().back(), heads,
                                           bias);
  const Packing packing = attention_packing(bias);
  load(packing, call, *parameters);

  heed::nn::AttentionMask visible;
  visible.mask = visible_keys(call, query.shape()[0], query.shape()[1], key.shape()[1]);
  heed::AttentionOptions options;
  options.mask = visible.mask;
  options.num_heads = heads;
  const Tensor out = value.node() == key.node()
                         ? layer(query, key, visible)
                         : layer.out(heed::scaled_dot_product_attention(
                               layer.query(query), layer.key(key), layer.value(value), options));
  const Tensor weights = layer.weights(query, key, visible);
  std::vector<Tensor> inputs;
  for (const Packed& packed : packing) inputs.push_back(call.tensor(packed.input));
  return {{out, heed::mean(weights, {1})}, [=] {
            for (std::size_t i = 0; i < packing.size(); ++i)
              gather(packing[i], inputs[i], *parameters);
          }};
}

// ---- layers of library.py

// The results, and a function that copies the parameters' gradients to the inputs of `packing`.
inline Result with_gradients(Values results, const Packing& packing, const Call& call,
                             const std::shared_ptr<heed::Parameters>& parameters) {
  std::vector<Tensor> inputs;
  for (const Packed& packed : packing) inputs.push_back(call.tensor(packed.input));
  return {std::move(results), [=] {
            for (std::size_t i = 0; i < packing.size(); ++i)
              gather(packing[i], inputs[i], *parameters);
          }};
}

inline std::optional<Mask> optional_mask(const Call& call, const char* name) {
  const Value* const mask = call.find(name);
  return mask == nullptr ? std::optional<Mask>() : std::get<Mask>(*mask);
}

// Multi-head attention with the mask of the padded keys. The weights are those of every head.
inline Result padded_attention(const Call& call) {
  const auto parameters = std::make_shared<heed::Parameters>();
  Generator generator(0);
  const Tensor query = call.tensor("query");
  const heed::nn::MultiHeadAttention layer({*parameters, generator}, query.shape().back(),
                                           static_cast<std::size_t>(call.integer("heads")));
  const Packing packing = attention_packing(true);
  load(packing, call, *parameters);
  const Tensor memory = call.find("memory") == nullptr ? query : call.tensor("memory");
  const heed::nn::AttentionMask mask{call.flag("causal"), {}, optional_mask(call, "key_padding")};
  const Tensor output = layer(query, memory, mask);
  return with_gradients({output, layer.with_weights(query, memory, mask).weights}, packing, call,
                        parameters);
}

inline Result patch_embedding(const Call& call) {
  const auto parameters = std::make_shared<heed::Parameters>();
  Generator generator(0);
  const Tensor images = call.tensor("images");
  const heed::nn::PatchEmbedding layer({*parameters, generator}, images.shape()[1],
                                       static_cast<std::size_t>(call.integer("patch_size")),
                                       call.tensor("bias").shape()[0]);
  const Packing packing{{"weight", {"weight"}}, {"bias", {"bias"}}};
  load(packing, call, *parameters);
  return with_gradients({layer(images)}, packing, call, parameters);
}

inline Packing decoder_packing() {
  Packing packing;
  const std::pair<std::string, std::string> attentions[]{{"self_attn", "attention"},
                                                         {"multihead_attn", "cross"}};
  for (const auto& [from, to] : attentions)
    for (const std::string kind : {"weight", "bias"}) {
      packing.push_back({from + ".in_proj_" + kind,
                         {to + ".query." + kind, to + ".key." + kind, to + ".value." + kind}});
      packing.push_back({from + ".out_proj." + kind, {to + ".out." + kind}});
    }
  for (const std::string kind : {".weight", ".bias"}) {
    for (const std::string norm : {"norm1", "norm2", "norm3"})
      packing.push_back({norm + kind, {norm + kind}});
    packing.push_back({"linear1" + kind, {"mlp.up" + kind}});
    packing.push_back({"linear2" + kind, {"mlp.down" + kind}});
  }
  return packing;
}

inline Result decoder_block(const Call& call) {
  const auto parameters = std::make_shared<heed::Parameters>();
  Generator generator(0);
  const Tensor x = call.tensor("x");
  const heed::nn::DecoderBlock block({*parameters, generator}, x.shape().back(),
                                     static_cast<std::size_t>(call.integer("heads")));
  const Packing packing = decoder_packing();
  load(packing, call, *parameters);
  const Tensor y = block(x, call.tensor("memory"), {true, {}, optional_mask(call, "padding")},
                         {false, {}, optional_mask(call, "memory_padding")});
  return with_gradients({y}, packing, call, parameters);
}

inline Result swiglu(const Call& call) {
  const auto parameters = std::make_shared<heed::Parameters>();
  Generator generator(0);
  const Tensor x = call.tensor("x");
  const heed::nn::Mlp mlp({*parameters, generator}, x.shape().back(), false, heed::Gelu::erf,
                          heed::nn::MlpKind::swiglu);
  const Packing packing{
      {"gate", {"gate.weight"}}, {"up", {"up.weight"}}, {"down", {"down.weight"}}};
  load(packing, call, *parameters);
  return with_gradients({mlp(x)}, packing, call, parameters);
}

inline Result llama_block(const Call& call) {
  const auto parameters = std::make_shared<heed::Parameters>();
  Generator generator(0);
  const Tensor x = call.tensor("x");
  heed::nn::GptConfig config;
  config.embed_dim = x.shape().back();
  config.heads = call.size("heads");
  config.kv_heads = call.size("kv_heads");
  config.head_dim = call.size("head_dim");
  config.intermediate_size = call.size("hidden");
  config.qkv_bias = call.flag("qkv_bias");
  const heed::RotaryOptions rotary = rotary_options(call);
  config.rope_theta = rotary.base;
  config.rotary_pairs = rotary.pairs;
  config.rotary_dim = rotary.dim;
  config.norm = heed::nn::NormKind::rms;
  config.positions = heed::nn::PositionKind::rotary;
  config.mlp = heed::nn::MlpKind::swiglu;
  const heed::nn::Block block({*parameters, generator}, config);
  Packing packing;
  for (const std::string norm : {"norm1", "norm2"}) packing.push_back({norm, {norm + ".weight"}});
  for (const std::string name : {"query", "key", "value", "out"})
    packing.push_back({name, {"attention." + name + ".weight"}});
  for (const std::string name : {"gate", "up", "down"})
    packing.push_back({name, {"mlp." + name + ".weight"}});
  if (config.qkv_bias)
    for (const std::string name : {"query", "key", "value"})
      packing.push_back({name + "_bias", {"attention." + name + ".bias"}});
  load(packing, call, *parameters);
  return with_gradients({block(x, {true})}, packing, call, parameters);
}

// Fills one tensor of each shape, one after another, with the function of torch.nn.init.
inline Values initial_values(const Call& call) {
  namespace init = heed::nn::init;
  Generator generator(call.attrs.at("seed").get<std::uint64_t>());
  const std::string name = call.attrs.at("function");
  const auto args = call.attrs.at("args").get<std::vector<double>>();
  const auto argument = [&](std::size_t i, double omitted) {
    return i < args.size() ? args[i] : omitted;
  };
  Values results;
  for (const Json& shape : call.attrs.at("shapes")) {
    const Tensor x(heed::zeros(shape_from(shape)));
    if (name == "uniform_") init::uniform_(x, generator, argument(0, 0), argument(1, 1));
    if (name == "normal_") init::normal_(x, generator, argument(0, 0), argument(1, 1));
    if (name == "xavier_uniform_") init::xavier_uniform_(x, generator, argument(0, 1));
    if (name == "kaiming_uniform_") init::kaiming_uniform_(x, generator, argument(0, 0));
    results.push_back(x);
  }
  return results;
}

// ---- the language model

inline Packing gpt_packing(std::size_t layers, bool tied) {
  Packing packing{{"wte", {"token.weight"}},
                  {"wpe", {"position.weight"}},
                  {"lnf.w", {"norm.weight"}},
                  {"lnf.b", {"norm.bias"}}};
  if (!tied) packing.push_back({"head.w", {"head.weight"}});
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string from = std::to_string(i) + ".", to = "blocks." + std::to_string(i) + ".";
    const std::string attention = to + "attention.";
    for (const auto& [b, bias] : {std::pair{"w", "weight"}, std::pair{"b", "bias"}}) {
      packing.push_back({from + "ln1." + b, {to + "norm1." + bias}});
      packing.push_back(
          {from + "attn." + b,
           {attention + "query." + bias, attention + "key." + bias, attention + "value." + bias}});
      packing.push_back({from + "proj." + b, {attention + "out." + bias}});
      packing.push_back({from + "ln2." + b, {to + "norm2." + bias}});
      packing.push_back({from + "fc." + b, {to + "mlp.up." + bias}});
      packing.push_back({from + "fc2." + b, {to + "mlp.down." + bias}});
    }
  }
  return packing;
}

struct LoadedGpt {
  explicit LoadedGpt(const Call& call)
      : packing(gpt_packing(static_cast<std::size_t>(call.integer("layers")), call.flag("tied"))),
        model({parameters, generator}, config(call)),
        tokens(std::get<Indices>(*call.find("idx"))),
        targets(std::get<Indices>(*call.find("target"))) {
    load(packing, call, parameters);
    for (const Packed& packed : packing) inputs.push_back(call.tensor(packed.input));
  }
  static heed::nn::GptConfig config(const Call& call) {
    heed::nn::GptConfig c;
    c.vocab_size = call.tensor("wte").shape()[0];
    c.block_size = call.tensor("wpe").shape()[0];
    c.embed_dim = call.tensor("wte").shape()[1];
    c.layers = static_cast<std::size_t>(call.integer("layers"));
    c.heads = static_cast<std::size_t>(call.integer("heads"));
    c.bias = true;
    c.tied = call.flag("tied");
    c.gelu = heed::Gelu::tanh;
    return c;
  }

  heed::Parameters parameters;
  Generator generator{0};
  Packing packing;
  heed::nn::Gpt model;
  Indices tokens, targets;
  std::vector<Tensor> inputs;
};

inline Result gpt(const Call& call) {
  const auto loaded = std::make_shared<LoadedGpt>(call);
  const Tensor logits = loaded->model(loaded->tokens);
  const Tensor loss = loaded->model.loss(loaded->tokens, loaded->targets);
  return {{logits, loss}, [loaded] {
            for (std::size_t i = 0; i < loaded->packing.size(); ++i)
              gather(loaded->packing[i], loaded->inputs[i], loaded->parameters);
          }};
}

// The loss before each step, and the norm of all gradients before clipping.
inline Result gpt_training(const Call& call) {
  LoadedGpt loaded(call);
  const std::vector<Tensor>& parameters = loaded.parameters.tensors();
  heed::optim::AdamWOptions options;
  options.lr = call.real("lr");
  options.beta1 = 0.9;
  options.beta2 = 0.95;
  options.weight_decay = call.real("wd");
  heed::optim::AdamW optimizer(parameters, options);
  const auto n = static_cast<std::size_t>(call.integer("n"));
  Array losses = heed::uninitialized({n}), norms = heed::uninitialized({n});
  for (std::size_t step = 0; step < n; ++step) {
    const Tensor loss = loaded.model.loss(loaded.tokens, loaded.targets);
    heed::optim::zero_grad(parameters);
    heed::backward(loss);
    losses(step) = loss.item();
    norms(step) =
        static_cast<heed::Real>(heed::optim::clip_grad_norm(parameters, call.real("max_norm")));
    optimizer.step();
  }
  return Values{Tensor(losses), Tensor(norms)};
}

inline Table model_operations() {
  return {{"mha", multi_head_attention},
          {"gpt", gpt},
          {"gpt_train", gpt_training},
          {"padded_attention", padded_attention},
          {"patch_embedding", patch_embedding},
          {"decoder_block", decoder_block},
          {"swiglu", swiglu},
          {"llama_block", llama_block},
          {"init", [](const Call& call) { return initial_values(call); }}};
}

}  // namespace golden
