// layers_test.cpp: whole layers, with slopes measured at their inputs and at every parameter.

#include "catch.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

// What `loss` changes by when element i of the parameter does, measured.
double measured(const std::function<Tensor()>& f, Tensor parameter, std::size_t i,
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

// "" when the gradient of every element of every parameter is the measured one.
std::string parameter_error(const std::function<Tensor()>& f, const Parameters& parameters) {
  for (Tensor parameter : parameters) parameter.clear_grad();
  const Tensor y = f();
  const Array upstream = random_array(y.shape(), 9);
  backward(y, upstream);
  for (const Tensor& parameter : parameters) {
    if (!parameter.has_grad()) return parameter.name() + " has no gradient";
    for (std::size_t i = 0; i < parameter.value().size(); ++i) {
      const double got = parameter.grad().data()[i], want = measured(f, parameter, i, upstream);
      if (std::abs(got - want) <= 1e-8 + 1e-6 * std::max(std::abs(got), std::abs(want))) continue;
      return parameter.name() + " element " + std::to_string(i) + ": backward " +
             std::to_string(got) + ", measured " + std::to_string(want);
    }
  }
  return "";
}

// A store whose parameters are drawn afresh, so that no bias is 0 and no scale is 1.
void shake(const Parameters& parameters) {
  Generator generator(11);
  for (Tensor parameter : parameters)
    parameter.mutable_value() = generator.uniform(parameter.shape(), -0.7, 0.9);
}

struct Store {
  Parameters parameters;
  Generator generator{1};
  Scope scope() { return Scope(parameters, generator); }
};

nn::AttentionMask seen(bool causal, std::optional<Mask> mask = {}) {
  nn::AttentionMask visible;
  visible.causal = causal;
  visible.mask = mask;
  return visible;
}

nn::GptConfig tiny(bool bias, bool tied, Gelu gelu = Gelu::erf) {
  nn::GptConfig config;
  config.vocab_size = 5;
  config.block_size = 4;
  config.layers = 2;
  config.heads = 2;
  config.embed_dim = 4;
  config.bias = bias;
  config.tied = tied;
  config.gelu = gelu;
  return config;
}

}  // namespace

TEST_CASE("slopes of linear, norm, embedding and mlp", "[double][nn]") {
  Store store;
  const nn::Linear linear(store.scope() / "linear", 3, 4);
  const nn::LayerNorm norm(store.scope() / "norm", 4);
  const nn::Embedding table(store.scope() / "table", 5, 3);
  const nn::Mlp mlp(store.scope() / "mlp", 4, true, Gelu::tanh);
  shake(store.parameters);
  const Indices indices = indices_of({2, 2}, {0, 3, 3, 1});
  CHECK(parameter_error([&] { return mlp(norm(linear(table(indices)))); }, store.parameters) == "");
  CHECK(slope_error([&](X x) { return mlp(norm(linear(x[0]))); }, {random_array({2, 3}, 1)}) == "");
}

TEST_CASE("slopes of an attention head, causal, masked and free", "[double][nn]") {
  Store store;
  const nn::AttentionHead head(store.scope(), 3, 2);
  const Array x = random_array({2, 3, 3}, 1);
  const Mask mask = mask_of({3, 3}, {1, 0, 0, 1, 0, 1, 0, 1, 1});
  for (const nn::AttentionMask& visible :
       {seen(false), seen(true), seen(false, mask), seen(true, mask)}) {
    CHECK(slope_error([&](X in) { return head(in[0], visible); }, {x}) == "");
    CHECK(slope_error([&](X in) { return head.weights(in[0], visible); }, {x}) == "");
    Store fresh;
    const nn::AttentionHead again(fresh.scope(), 3, 2);
    CHECK(parameter_error([&] { return again(Tensor(x), visible); }, fresh.parameters) == "");
  }
}

TEST_CASE("slopes of several heads: causal, masked, across, and with dropout", "[double][nn]") {
  Store store;
  const nn::MultiHeadAttention heads(store.scope(), 4, 2);
  shake(store.parameters);
  const Array x = random_array({2, 3, 4}, 1), memory = random_array({2, 5, 4}, 2);
  const Mask mask = mask_of({3, 3}, {1, 0, 0, 1, 0, 1, 0, 1, 1});
  for (const nn::AttentionMask& visible : {seen(false), seen(true), seen(true, mask)})
    CHECK(slope_error([&](X in) { return heads(in[0], visible); }, {x}) == "");
  CHECK(slope_error([&](X in) { return heads(in[0], in[1]); }, {x, memory}) == "");
  CHECK(slope_error([&](X in) { return heads.weights(in[0], in[1]); }, {x, memory}) == "");
  const auto dropping = [&](const Tensor& in) {
    Generator drops(3);
    const nn::TrainingMode training{0.4, &drops};
    return heads(in, seen(true), &training);
  };
  CHECK(slope_error([&](X in) { return dropping(in[0]); }, {x}) == "");
  CHECK(parameter_error([&] { return dropping(Tensor(x)); }, store.parameters) == "");
}

TEST_CASE("slopes of the parameters of cross-attention", "[double][nn]") {
  Store store;
  const nn::MultiHeadAttention heads(store.scope(), 4, 2);
  shake(store.parameters);
  const Tensor x(random_array({2, 3, 4}, 1)), memory(random_array({2, 5, 4}, 2));
  CHECK(parameter_error([&] { return heads(x, memory); }, store.parameters) == "");
}

TEST_CASE("slopes of a block, with dropout too", "[double][nn]") {
  for (const bool bias : {false, true}) {
    Store store;
    const nn::Block block(store.scope(), 4, 2, bias);
    shake(store.parameters);
    const Array x = random_array({2, 3, 4}, 1);
    CHECK(slope_error([&](X in) { return block(in[0], seen(true)); }, {x}) == "");
    CHECK(parameter_error(
              [&] {
                Generator drops(3);
                const nn::TrainingMode training{0.3, &drops};
                return block(Tensor(x), seen(true), &training);
              },
              store.parameters) == "");
  }
}

TEST_CASE("slopes of every parameter of a tiny Gpt, tied or not", "[double][nn]") {
  const Indices tokens = indices_of({2, 4}, {0, 3, 1, 1, 4, 2, 0, 3});
  const Indices targets = indices_of({2, 4}, {3, 1, 1, 0, 2, 0, 3, 4});
  for (const nn::GptConfig& config :
       {tiny(false, true), tiny(true, false), tiny(true, true, Gelu::tanh)}) {
    Store store;
    const nn::Gpt model(store.scope(), config);
    shake(store.parameters);
    CHECK(parameter_error([&] { return model.loss(tokens, targets); }, store.parameters) == "");
  }
}

TEST_CASE("scores through a cache are those of the whole window", "[double][nn]") {
  const Indices tokens = indices_of({1, 4}, {0, 3, 1, 4});
  for (const nn::GptConfig& config : {tiny(false, true), tiny(true, false)}) {
    Store store;
    const nn::Gpt model(store.scope(), config);
    shake(store.parameters);
    const Tensor whole = model(tokens);
    nn::GptCache cache(config);
    for (std::size_t t = 0; t < 4; ++t) {
      const Tensor next = model(indices_of({1, 1}, {tokens(0, t)}), cache);
      const int at = static_cast<int>(t);
      CHECK(difference(next, slice(whole, 1, at, at + 1).value(), 1e-13) == "");
    }
  }
}

TEST_CASE("slopes of a tiny Gpt with dropout, its generator seeded alike each time",
          "[double][nn]") {
  const Indices tokens = indices_of({1, 3}, {0, 3, 1}), targets = indices_of({1, 3}, {3, 1, 4});
  Store store;
  const nn::Gpt model(store.scope(), tiny(true, true));
  shake(store.parameters);
  CHECK(parameter_error(
            [&] {
              Generator drops(5);
              const nn::TrainingMode training{0.2, &drops};
              return model.loss(tokens, targets, &training) + model.loss(tokens, targets);
            },
            store.parameters) == "");
}
