// attention_head_test.cpp: AttentionHead with known weights, and heads in a loop.

#include "catch.hpp"
#include "heed/nn/attention.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// Multi-head attention as a loop over heads.
struct Loop {
  Loop(Scope scope, std::size_t embed_dim, std::size_t num_heads, std::size_t head_size)
      : heads(made(scope, embed_dim, num_heads, head_size)),
        out(scope / "out", num_heads * head_size, embed_dim) {}
  static std::vector<nn::AttentionHead> made(Scope scope, std::size_t embed_dim,
                                             std::size_t num_heads, std::size_t head_size) {
    std::vector<nn::AttentionHead> heads;
    for (std::size_t h = 0; h < num_heads; ++h)
      heads.emplace_back(scope / "heads" / h, embed_dim, head_size);
    return heads;
  }
  Tensor operator()(const Tensor& x, const nn::AttentionMask& mask = {}) const {
    std::vector<Tensor> outputs;
    for (const nn::AttentionHead& head : heads) outputs.push_back(head(x, mask));
    return out(concat(outputs, -1));
  }
  std::vector<nn::AttentionHead> heads;
  nn::Linear out;
};

// The weights of one layer, such as the query projection, of all heads, concatenated.
Tensor packed_weight(const Loop& loop, nn::Linear nn::AttentionHead::*layer) {
  std::vector<Tensor> parts;
  for (const nn::AttentionHead& head : loop.heads) parts.push_back((head.*layer).weight);
  return concat(parts, 0);
}

}  // namespace

TEST_CASE("a head with the matrices of lesson 05 gives the R of lesson 05", "[nn][attention]") {
  Generator g(42);
  const Array tokens = g.randn({3, 5});
  const Array W_K = g.randn({5, 4}), W_Q = g.randn({5, 4}), W_V = g.randn({5, 4});
  Parameters parameters;
  nn::AttentionHead head({parameters, g}, 5, 4);
  head.query.weight.mutable_value() = xt::transpose(W_Q);
  head.key.weight.mutable_value() = xt::transpose(W_K);
  head.value.weight.mutable_value() = xt::transpose(W_V);
  nn::AttentionMask causal;
  causal.causal = true;
  const Tensor x = unsqueeze(Tensor(tokens), 0);
  const Array R = array_of({1, 3, 4}, {-0.9285, 0.3301, 1.8359, -1.3448,  //
                                       -0.8652, 0.3082, 1.7268, -1.2445,  //
                                       0.1138, 0.0517, 0.0270, 0.1831});
  CHECK(difference(head(x, causal), R, 5.1e-5) == "");
  const Array weights = array_of({1, 3, 3}, {1, 0, 0, 0.9546, 0.0454, 0, 0.2563, 0.7156, 0.0281});
  CHECK(difference(head.weights(x, causal), weights, 5.1e-5) == "");
}

// The values are from PyTorch 1.13 with torch.manual_seed(89): a head of three nn.Linear layers
// without bias, and four such heads with an nn.Linear (32, 32) as output projection.
TEST_CASE("a head, and four heads in a loop, have PyTorch's weights and outputs",
          "[nn][attention]") {
  Generator g(89);
  g.randn({1, 3, 5});
  for (int n = 0; n < 3; ++n) nn::init::linear_weight(g, 5, 16);
  const Tensor x(g.randn({1, 3, 32}));
  Parameters parameters;
  const nn::AttentionHead head({parameters, g}, 32, 8);
  const Array one_head =
      array_of({1, 3, 8}, {0.0039897,  -0.4351768, 0.3078450,  0.2155343,  0.4996189,  0.6805734,
                           -0.2441967, -0.0320013, 0.1862186,  -0.6533071, 0.3246818,  0.2157962,
                           0.4064536,  0.8141675,  -0.1919187, 0.1331953,  0.0956894,  -0.5278653,
                           0.3892853,  0.1878461,  0.4449895,  0.7493767,  -0.2466704, 0.0676239});
  CHECK(difference(head(x), one_head, 3e-6) == "");
  const Tensor x4(g.randn({1, 3, 32}));
  const Loop loop({parameters, g, "loop"}, 32, 4, 8);
  const Array four_heads =
      array_of({1, 3, 32},
               {-0.2504735, 0.0291821,  0.0792566,  -0.2170551, 0.0084344,  -0.3306593, 0.0671538,
                0.1370089,  0.0126138,  -0.6919085, 0.2674187,  -0.0268051, -0.1218324, -0.0144881,
                0.1618124,  -0.5737624, 0.0801937,  0.4726986,  -0.2777981, 0.0182324,  0.4504038,
                0.2151616,  -0.1041643, 0.5856611,  -0.0679938, 0.1391904,  0.0597120,  -0.7474558,
                0.0177235,  0.0071073,  0.3200780,  -0.1323718, -0.2695211, -0.0129455, 0.0166230,
                -0.2841401, -0.0543693, -0.3759963, 0.0477453,  0.1974100,  0.0974327,  -0.6008697,
                0.1967250,  0.0151464,  0.0428587,  -0.0970261, 0.1271538,  -0.4916491, 0.0287746,
                0.3907868,  -0.3901408, -0.0749281, 0.4333217,  0.3322145,  -0.0405402, 0.5230252,
                -0.0701631, 0.0956880,  0.0441067,  -0.7440063, -0.0332308, -0.0001286, 0.2945820,
                -0.1512113, -0.2829230, -0.0206169, 0.0598037,  -0.2222494, -0.0118032, -0.3452790,
                0.0732271,  0.1038743,  0.0338647,  -0.6770193, 0.2748797,  -0.0276068, -0.0419219,
                -0.0378460, 0.1546200,  -0.5612710, 0.0586656,  0.4567735,  -0.3443514, -0.0140030,
                0.4306999,  0.2514216,  -0.1088779, 0.5529242,  -0.0678541, 0.1586065,  0.0602615,
                -0.7407621, -0.0214306, 0.0019890,  0.3059834,  -0.1603266});
  CHECK(difference(loop(x4), four_heads, 3e-6) == "");
}

TEST_CASE("a loop over heads equals MultiHeadAttention in value and gradients", "[nn][attention]") {
  Generator g(5);
  Parameters loop_parameters, packed_parameters;
  Loop loop({loop_parameters, g}, 12, 3, 4);
  nn::MultiHeadAttention packed({packed_parameters, g}, 12, 3);
  packed.query.weight.mutable_value() = packed_weight(loop, &nn::AttentionHead::query).value();
  packed.key.weight.mutable_value() = packed_weight(loop, &nn::AttentionHead::key).value();
  packed.value.weight.mutable_value() = packed_weight(loop, &nn::AttentionHead::value).value();
  for (Tensor bias : {packed.query.bias, packed.key.bias, packed.value.bias})
    bias.mutable_value() = zeros({12});  // the heads of the loop have no bias
  packed.out.weight.mutable_value() = loop.out.weight.value();
  packed.out.bias.mutable_value() = loop.out.bias.value();
  nn::AttentionMask none, causal, custom;
  causal.causal = true;
  custom.mask = mask_of({3, 3}, {1, 0, 1, 0, 0, 0, 1, 1, 0});
  for (const nn::AttentionMask& mask : {none, causal, custom}) {
    CHECK(twin_difference([&](const auto& in) { return loop(in[0], mask); },
                          [&](const auto& in) { return packed(in[0], mask); },
                          {random_array({2, 3, 12}, 6)}) == "");
    CHECK(difference(packed.query.weight.grad(),
                     concat({Tensor(loop.heads[0].query.weight.grad()),
                             Tensor(loop.heads[1].query.weight.grad()),
                             Tensor(loop.heads[2].query.weight.grad())},
                            0)
                         .value(),
                     2e-6) == "");
    CHECK(difference(packed.out.weight.grad(), loop.out.weight.grad(), 2e-6) == "");
  }
}

TEST_CASE("heads as wide as the model need a wider output projection", "[nn][attention]") {
  Generator g(5);
  Parameters parameters;
  Loop loop({parameters, g}, 12, 3, 12);
  CHECK(str(loop(Tensor(zeros({2, 3, 12}))).shape()) ==
        "(2, 3, 12)");  // with an output projection (12, 36)
  Parameters others;
  loop.out = nn::Linear({others, g, "out"}, 12, 12);
  CHECK(message_of([&] {
          loop(Tensor(zeros({2, 3, 12})));
        }) ==
        "linear: the last size of x must be the weight's second: x (2, 3, 36), out.weight (12, "
        "12)");
}

TEST_CASE("a cache whose size or values were changed is rejected", "[nn][attention]") {
  const NoGrad no_grad;
  Parameters parameters;
  Generator generator(1);
  const nn::MultiHeadAttention attention(Scope(parameters, generator), 8, 2);
  const Tensor x(ones({1, 1, 8}));
  for (const std::size_t size : {std::size_t{5}, std::size_t{1} << 30}) {
    nn::KeyValueCache cache(4, 8);
    cache.size = size;
    CHECK(message_of([&] { attention(x, cache); }) ==
          "MultiHeadAttention: x (1, 1, 8) does not fit after the " + std::to_string(size) +
              " positions of a cache (1, 4, 8)");
  }
  nn::KeyValueCache cache(4, 8);
  cache.values = x;
  CHECK(message_of([&] { attention(x, cache); }) ==
        "MultiHeadAttention: the cache has keys (1, 4, 8) and values (1, 1, 8); make a new "
        "KeyValueCache");
}
