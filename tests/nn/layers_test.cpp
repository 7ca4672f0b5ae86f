// layers_test.cpp: tests of the layers: parameters, initial values and results.

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

struct Store {
  explicit Store(std::uint64_t seed = 42) : generator(seed) {}
  Scope scope() { return Scope(parameters, generator); }
  std::string names() const {
    std::string text;
    for (const Tensor& p : parameters) text += p.name() + " " + str(p.shape()) + "\n";
    return text;
  }
  Parameters parameters;
  Generator generator;
};

nn::AttentionMask causal() {
  nn::AttentionMask mask;
  mask.causal = true;
  return mask;
}

}  // namespace

TEST_CASE("a linear layer has the initial weights of nn.Linear(3, 2) for seed 42", "[nn][linear]") {
  Store store;
  const nn::Linear linear(store.scope(), 3, 2);
  CHECK((linear.weight.value() == array_of({2, 3}, {0.441406518f, 0.479205281f, -0.135257274f,
                                                    0.53036046f, -0.126499504f, 0.116503909f})));
  CHECK((linear.bias.value() == array_of({2}, {-0.281085879f, 0.339067787f})));
  CHECK(store.names() == "weight (2, 3)\nbias (2)\n");
}

TEST_CASE("a linear layer computes x W^T + b", "[nn][linear]") {
  Store store;
  const nn::Linear linear(store.scope(), 3, 2), bare(store.scope() / "bare", 3, 2, false);
  const Tensor x(random_array({4, 5, 3}, 1));
  const Tensor want = matmul(x, transpose(linear.weight, 0, 1)) + linear.bias;
  CHECK(difference(linear(x), want.value()) == "");
  CHECK_FALSE(bare.bias.defined());
  CHECK(difference(bare(x), matmul(x, transpose(bare.weight, 0, 1)).value()) == "");
  CHECK(message_of([&] {
          bare(Tensor(zeros({2, 4})));
        }) ==
        "linear: the last size of x must be the weight's second: x (2, 4), bare.weight (2, 3)");
}

TEST_CASE("a layer norm initially has weights of one and biases of zero", "[nn][layer_norm]") {
  Store store;
  const nn::LayerNorm norm(store.scope() / "norm", 4), bare(store.scope() / "bare", 4, false, 1e-3);
  CHECK(store.names() == "norm.weight (4)\nnorm.bias (4)\nbare.weight (4)\n");
  CHECK((norm.weight.value() == ones({4})));
  CHECK((norm.bias.value() == zeros({4})));
  const Tensor x(random_array({3, 4}, 1));
  CHECK(difference(norm(x), layer_norm(x, {4}).value()) == "");
  CHECK(difference(bare(x), layer_norm(x, {4}, {}, {}, 1e-3).value()) == "");
}

TEST_CASE("an RMSNorm layer has a weight of ones, a width and an eps", "[nn][rms_norm]") {
  Store store;
  const nn::RMSNorm norm(store.scope() / "norm", 4);
  CHECK(store.names() == "norm.weight (4)\n");
  CHECK(difference(norm.weight, ones({4})) == "");
  CHECK(norm.eps == static_cast<double>(std::numeric_limits<Real>::epsilon()));
  const Tensor x(random_array({2, 3, 4}, 1));
  norm.weight.mutable_value() = array_of({4}, {1, 2, 3, 4});
  CHECK(difference(norm(x), rms_norm(x, {4}, norm.weight).value(), 0) == "");
  const nn::RMSNorm other(store.scope() / "other", 4, 0.5);
  CHECK(difference(other(x), rms_norm(x, {4}, {}, 0.5).value()) == "");
}

TEST_CASE("an embedding is drawn from the standard normal distribution", "[nn][embedding]") {
  Store store(7);
  const nn::Embedding table(store.scope(), 5, 3);
  CHECK((table.weight.value() == Generator(7).randn({5, 3})));
  CHECK((table(indices_of({1}, {4})).value() == slice(table.weight, 0, 4).value()));
  CHECK(message_of([&] {
          table(indices_of({2}, {0, 5}));
        }) == "embedding: index 5 among (2) indices is out of range for weight (5, 3)");
}

TEST_CASE("a head has query, key and value projections without bias, in this order",
          "[nn][attention]") {
  Store store;
  const nn::AttentionHead head(store.scope(), 4, 3);
  CHECK(store.names() == "query.weight (3, 4)\nkey.weight (3, 4)\nvalue.weight (3, 4)\n");
  const Tensor x(random_array({2, 5, 4}, 1));
  CHECK(str(head(x).shape()) == "(2, 5, 3)");
  CHECK(str(head.weights(x, causal()).shape()) == "(2, 5, 5)");
  CHECK(difference(head(x, causal()), matmul(head.weights(x, causal()), head.value(x)).value()) ==
        "");
}

TEST_CASE("the parameters, shapes and attention weights of MultiHeadAttention", "[nn][attention]") {
  Store store;
  const nn::MultiHeadAttention heads(store.scope() / "attention", 8, 2, false);
  CHECK(store.names() ==
        "attention.query.weight (8, 8)\nattention.key.weight (8, 8)\nattention.value.weight (8, "
        "8)\nattention.out.weight (8, 8)\n");
  const Tensor x(random_array({2, 5, 8}, 1)), memory(random_array({2, 7, 8}, 2));
  CHECK(str(heads(x).shape()) == "(2, 5, 8)");
  CHECK(str(heads(x, memory).shape()) == "(2, 5, 8)");
  CHECK(str(heads.weights(x, memory).shape()) == "(2, 2, 5, 7)");
  const Tensor attended = matmul(heads.weights(x, memory), split_heads(heads.value(memory), 2));
  CHECK(difference(heads(x, memory), heads.out(join_heads(attended)).value(), 2e-6) == "");
}

TEST_CASE("with one head, weights has a head axis, and the mask may have one", "[nn][attention]") {
  Store store;
  const nn::MultiHeadAttention heads(store.scope(), 4, 1);
  const Tensor x(random_array({2, 3, 4}, 1));
  CHECK(str(heads.weights(x, x).shape()) == "(2, 1, 3, 3)");
  nn::AttentionMask three, four;
  three.mask = mask_of({2, 3, 3}, {1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1});
  four.mask = three.mask;
  four.mask->reshape({2, 1, 3, 3});
  CHECK(same_bits(heads(x, three).value(), heads(x, four).value()));
}

TEST_CASE("the error of an embed_dim not divisible by num_heads contains both", "[nn][attention]") {
  Store store;
  CHECK(message_of([&] { nn::MultiHeadAttention(store.scope(), 128, 6); }) ==
        "MultiHeadAttention: embed_dim 128 must be divisible by num_heads 6");
  CHECK(message_of([&] { nn::MultiHeadAttention(store.scope(), 128, 0); }) ==
        "MultiHeadAttention: embed_dim 128 must be divisible by num_heads 0");
  CHECK(store.parameters.size() == 0);
}

TEST_CASE("a layer draws a dropout mask only in training", "[nn][attention]") {
  Store store;
  const nn::Block block(store.scope(), 8, 2);
  const Tensor x(random_array({2, 5, 8}, 1));
  Generator generator(3);
  const nn::TrainingMode off{0, &generator}, on{0.5, &generator};
  const std::string before = generator.state();
  CHECK(same_bits(block(x, causal()).value(), block(x, causal(), &off).value()));
  CHECK(generator.state() == before);
  CHECK_FALSE(same_bits(block(x, causal()).value(), block(x, causal(), &on).value()));
  CHECK(generator.state() != before);
  const nn::TrainingMode no_generator{0.5, nullptr};
  CHECK(message_of([&] { block(x, causal(), &no_generator); }) ==
        "dropout: training needs a generator to draw from");
}

TEST_CASE("dropout is applied to the attention weights", "[nn][attention]") {
  Store store;
  const nn::MultiHeadAttention heads(store.scope(), 4, 2, false);
  const Tensor x(random_array({1, 3, 4}, 1));
  Generator generator(3), same_generator(3);
  const nn::TrainingMode training{0.5, &generator};
  const Tensor weights = heed::dropout(heads.weights(x, x), 0.5, same_generator);
  const Tensor want = heads.out(join_heads(matmul(weights, split_heads(heads.value(x), 2))));
  CHECK(difference(heads(x, {}, &training), want.value()) == "");
}

TEST_CASE("a block adds attention and MLP, each after a layer norm", "[nn][block]") {
  Store store;
  const nn::Block block(store.scope(), 8, 2);
  CHECK(store.parameters.size() == 16);
  CHECK(store.parameters.at("mlp.up.weight").shape() == Shape{32, 8});
  const Tensor x(random_array({2, 5, 8}, 1));
  const Tensor attended = x + block.attention(block.norm1(x), causal());
  const Tensor hidden = gelu(block.mlp.up(block.norm2(attended)));
  CHECK(difference(block(x, causal()), (attended + block.mlp.down(hidden)).value()) == "");
}

TEST_CASE("the MLP uses the given form of GELU", "[nn][block]") {
  Store store;
  const nn::Mlp mlp(store.scope(), 4, false, Gelu::tanh);
  CHECK(store.names() == "up.weight (16, 4)\ndown.weight (4, 16)\n");
  const Tensor x(random_array({3, 4}, 1, -3, 3));
  CHECK(difference(mlp(x), mlp.down(gelu(mlp.up(x), Gelu::tanh)).value()) == "");
}
