// layers_test.cpp: gradient checks of layers and models: inputs and all parameters.

#include "catch.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/shape.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

// The derivative of f by element i of the parameter, by central differences.
double numerical_derivative(const std::function<Tensor()>& f, Tensor parameter, std::size_t i,
                            const Array& upstream) {
  const NoGrad no_grad;
  constexpr double step = 1e-6;
  Real& value = parameter.mutable_value().data()[i];
  const Real middle = value;
  value = middle + step;
  const double above = dot(f().value(), upstream);
  value = middle - step;
  const double below = dot(f().value(), upstream);
  value = middle;
  return (above - below) / (2 * step);
}

// "" if the gradient of every element of every parameter equals the numerical derivative.
std::string parameter_error(const std::function<Tensor()>& f, const Parameters& parameters) {
  for (Tensor parameter : parameters) parameter.clear_grad();
  const Tensor y = f();
  const Array upstream = random_array(y.shape(), 9);
  backward(y, upstream);
  for (const Tensor& parameter : parameters) {
    if (!parameter.has_grad()) return parameter.name() + " has no gradient";
    for (std::size_t i = 0; i < parameter.value().size(); ++i) {
      const double got = parameter.grad().data()[i];
      const double expected = numerical_derivative(f, parameter, i, upstream);
      if (std::abs(got - expected) <= 1e-8 + 1e-6 * std::max(std::abs(got), std::abs(expected)))
        continue;
      return parameter.name() + " element " + std::to_string(i) + ": backward " +
             std::to_string(got) + ", numerical " + std::to_string(expected);
    }
  }
  return "";
}

// Draws all parameters at random, so that no bias is 0 and no scale is 1.
void randomize(const Parameters& parameters) {
  Generator generator(11);
  for (Tensor parameter : parameters)
    parameter.mutable_value() = generator.uniform(parameter.shape(), -0.7, 0.9);
}

struct Store {
  Parameters parameters;
  Generator generator{1};
  Scope scope() { return Scope(parameters, generator); }
};

nn::AttentionMask attention_mask(bool causal, std::optional<Mask> mask = {}) {
  nn::AttentionMask visible;
  visible.causal = causal;
  visible.mask = mask;
  return visible;
}

nn::GptConfig tiny(bool bias, bool tied, Gelu gelu = Gelu::erf) {
  nn::GptConfig config = small_config(5, {4, 4});
  config.bias = bias;
  config.tied = tied;
  config.gelu = gelu;
  return config;
}

nn::GptConfig tiny_llama(bool bias, bool tied) {
  nn::GptConfig config = tiny(bias, tied);
  config.embed_dim = 8;
  config.heads = 4;
  return llama_like(config);
}

}  // namespace

TEST_CASE("gradients of Linear, LayerNorm, Embedding and Mlp", "[double][nn]") {
  Store store;
  const nn::Linear linear(store.scope() / "linear", 3, 4);
  const nn::LayerNorm norm(store.scope() / "norm", 4);
  const nn::Embedding table(store.scope() / "table", 5, 3);
  const nn::Mlp mlp(store.scope() / "mlp", 4, true, Gelu::tanh);
  randomize(store.parameters);
  const Indices indices = indices_of({2, 2}, {0, 3, 3, 1});
  CHECK(parameter_error([&] { return mlp(norm(linear(table(indices)))); }, store.parameters) == "");
  CHECK(gradcheck_error([&](X x) { return mlp(norm(linear(x[0]))); }, {random_array({2, 3}, 1)}) ==
        "");
}

TEST_CASE("gradients of an RMSNorm and of an Mlp with SwiGLU", "[double][nn]") {
  for (const bool bias : {false, true}) {
    Store store;
    const nn::Norm norm(store.scope() / "norm", 4, bias, nn::NormKind::rms);
    const nn::Mlp mlp(store.scope() / "mlp", 4, bias, Gelu::erf, nn::MlpKind::swiglu);
    randomize(store.parameters);
    const Array x = random_array({2, 3, 4}, 1);
    CHECK(parameter_error([&] { return mlp(norm(Tensor(x))); }, store.parameters) == "");
    CHECK(gradcheck_error([&](X in) { return mlp(norm(in[0])); }, {x}) == "");
  }
}

TEST_CASE("gradients of MultiHeadAttention with grouped queries and rotary embedding",
          "[double][nn]") {
  Store store;
  const nn::MultiHeadAttention heads(store.scope(), 8, 4, true, {2, true});
  randomize(store.parameters);
  const Array x = random_array({2, 3, 8}, 1), memory = random_array({2, 5, 8}, 2);
  nn::AttentionMask mask = attention_mask(true);
  CHECK(gradcheck_error([&](X in) { return heads(in[0], mask); }, {x}) == "");
  CHECK(gradcheck_error([&](X in) { return heads.with_weights(in[0], in[1], mask).output; },
                        {x, memory}) == "");
  mask.window = 2;
  mask.key_padding = mask_of({2, 3}, {0, 1, 0, 0, 0, 1});
  CHECK(gradcheck_error([&](X in) { return heads(in[0], mask); }, {x}) == "");
  CHECK(parameter_error([&] { return heads(Tensor(x), mask); }, store.parameters) == "");
}

TEST_CASE("gradients of AttentionHead: causal, masked and unmasked", "[double][nn]") {
  Store store;
  const nn::AttentionHead head(store.scope(), 3, 2);
  const Array x = random_array({2, 3, 3}, 1);
  const Mask mask = mask_of({3, 3}, {1, 0, 0, 1, 0, 1, 0, 1, 1});
  for (const nn::AttentionMask& visible :
       {attention_mask(false), attention_mask(true), attention_mask(false, mask),
        attention_mask(true, mask)}) {
    CHECK(gradcheck_error([&](X in) { return head(in[0], visible); }, {x}) == "");
    CHECK(gradcheck_error([&](X in) { return head.weights(in[0], visible); }, {x}) == "");
    Store fresh;
    const nn::AttentionHead again(fresh.scope(), 3, 2);
    CHECK(parameter_error([&] { return again(Tensor(x), visible); }, fresh.parameters) == "");
  }
}

TEST_CASE("gradients of MultiHeadAttention: causal, masked, cross, dropout", "[double][nn]") {
  Store store;
  const nn::MultiHeadAttention heads(store.scope(), 4, 2);
  randomize(store.parameters);
  const Array x = random_array({2, 3, 4}, 1), memory = random_array({2, 5, 4}, 2);
  const Mask mask = mask_of({3, 3}, {1, 0, 0, 1, 0, 1, 0, 1, 1});
  for (const nn::AttentionMask& visible :
       {attention_mask(false), attention_mask(true), attention_mask(true, mask)})
    CHECK(gradcheck_error([&](X in) { return heads(in[0], visible); }, {x}) == "");
  CHECK(gradcheck_error([&](X in) { return heads(in[0], in[1]); }, {x, memory}) == "");
  CHECK(gradcheck_error([&](X in) { return heads.weights(in[0], in[1]); }, {x, memory}) == "");
  const auto with_dropout = [&](const Tensor& in) {
    Generator generator(3);
    const nn::TrainingMode training{0.4, &generator};
    return heads(in, attention_mask(true), &training);
  };
  CHECK(gradcheck_error([&](X in) { return with_dropout(in[0]); }, {x}) == "");
  CHECK(parameter_error([&] { return with_dropout(Tensor(x)); }, store.parameters) == "");
}

TEST_CASE("gradients of the parameters of cross-attention", "[double][nn]") {
  Store store;
  const nn::MultiHeadAttention heads(store.scope(), 4, 2);
  randomize(store.parameters);
  const Tensor x(random_array({2, 3, 4}, 1)), memory(random_array({2, 5, 4}, 2));
  CHECK(parameter_error([&] { return heads(x, memory); }, store.parameters) == "");
}

TEST_CASE("gradients of Block, also with dropout", "[double][nn]") {
  for (const bool bias : {false, true}) {
    Store store;
    const nn::Block block(store.scope(), 4, 2, bias);
    randomize(store.parameters);
    const Array x = random_array({2, 3, 4}, 1);
    CHECK(gradcheck_error([&](X in) { return block(in[0], attention_mask(true)); }, {x}) == "");
    CHECK(parameter_error(
              [&] {
                Generator generator(3);
                const nn::TrainingMode training{0.3, &generator};
                return block(Tensor(x), attention_mask(true), &training);
              },
              store.parameters) == "");
  }
}

TEST_CASE("gradients of all parameters of a tiny Gpt, tied or not", "[double][nn]") {
  const Indices tokens = indices_of({2, 4}, {0, 3, 1, 1, 4, 2, 0, 3});
  const Indices targets = indices_of({2, 4}, {3, 1, 1, 0, 2, 0, 3, 4});
  for (const nn::GptConfig& config :
       {tiny(false, true), tiny(true, false), tiny(true, true, Gelu::tanh), tiny_llama(false, true),
        tiny_llama(true, false)}) {
    Store store;
    const nn::Gpt model(store.scope(), config);
    randomize(store.parameters);
    CHECK(parameter_error([&] { return model.loss(tokens, targets); }, store.parameters) == "");
  }
}

TEST_CASE("logits with a KV cache equal those of the full forward pass", "[double][nn]") {
  const Indices tokens = indices_of({1, 4}, {0, 3, 1, 4});
  for (const nn::GptConfig& config :
       {tiny(false, true), tiny(true, false), tiny_llama(false, true), tiny_llama(true, false)}) {
    Store store;
    const nn::Gpt model(store.scope(), config);
    randomize(store.parameters);
    const Tensor full = model(tokens);
    nn::GptCache cache(config);
    for (std::size_t t = 0; t < 4; ++t) {
      const Tensor next = model(indices_of({1, 1}, {tokens(0, t)}), cache);
      const int at = static_cast<int>(t);
      CHECK(difference(next, slice(full, 1, at, at + 1).value(), 1e-13) == "");
    }
  }
}

TEST_CASE("gradients of a tiny Gpt with dropout", "[double][nn]") {
  const Indices tokens = indices_of({1, 3}, {0, 3, 1}), targets = indices_of({1, 3}, {3, 1, 4});
  Store store;
  const nn::Gpt model(store.scope(), tiny(true, true));
  randomize(store.parameters);
  CHECK(parameter_error(
            [&] {
              Generator generator(5);
              const nn::TrainingMode training{0.2, &generator};
              return model.loss(tokens, targets, &training) + model.loss(tokens, targets);
            },
            store.parameters) == "");
}
