// policy_test.cpp: the documented differences between heed and PyTorch, and the handling of NaN.
//
// tests/golden/policy.hpp applies the differences to golden cases.

#include "catch.hpp"
#include "heed/nn/attention.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/adamw.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

constexpr double inf = infinity, NaN = not_a_number;

Tensor with_gradient(std::initializer_list<double> gradient) {
  const Tensor x(zeros({gradient.size()}), true);
  x.node()->grad = array_of({gradient.size()}, gradient);
  x.node()->has_grad = true;
  return x;
}

}  // namespace

// ---- where heed differs

TEST_CASE("softmax of a fully masked row is zero, and so is its gradient", "[golden][policy]") {
  const Tensor scores = tensor_of({2, 3}, {1, 2, 3, 0, 0, 0});
  const Mask masked = mask_of({2, 3}, {1, 1, 1, 0, 0, 1});
  const Tensor weights = softmax(masked_fill(scores, masked, -inf), -1);
  CHECK(difference(weights, array_of({2, 3}, {0, 0, 0, 0.5, 0.5, 0})) == "");
  backward(weights, array_of({2, 3}, {1, -2, 3, 1, 0, 5}));
  CHECK(difference(scores.grad(), array_of({2, 3}, {0, 0, 0, 0.25, -0.25, 0})) == "");
}

TEST_CASE("log_softmax of a fully masked row is -infinity, its gradient 0", "[golden][policy]") {
  const Tensor x = tensor_of({2, 2}, {-inf, -inf, 0, 0});
  const Tensor logs = log_softmax(x, 1), total = logsumexp(x, 1);
  CHECK(difference(logs, array_of({2, 2}, {-inf, -inf, -std::log(2), -std::log(2)})) == "");
  CHECK(difference(total, array_of({2}, {-inf, std::log(2)})) == "");
  backward(logs, array_of({2, 2}, {1, 2, 1, 0}));
  CHECK(difference(x.grad(), array_of({2, 2}, {0, 0, 0.5, -0.5})) == "");
  x.node()->has_grad = false;
  backward(total, ones({2}));
  CHECK(difference(x.grad(), array_of({2, 2}, {0, 0, 0.5, 0.5})) == "");
}

TEST_CASE("a fully masked query does not change the attention of the other queries",
          "[golden][policy]") {
  const Mask mask = mask_of({3, 3}, {1, 1, 0, 0, 0, 0, 1, 1, 1});
  const auto without_middle = [](const Tensor& x) {
    return concat({slice(x, 0, 0, 1), slice(x, 0, 2, 3)}, 0);
  };
  const Function all = [&](const std::vector<Tensor>& x) {
    AttentionOptions options;
    options.mask = mask;
    return scaled_dot_product_attention(x[0], x[1], x[2], options);
  };
  const Function others = [&](const std::vector<Tensor>& x) {
    AttentionOptions options;
    options.mask = mask_of({2, 3}, {1, 1, 0, 1, 1, 1});
    return scaled_dot_product_attention(without_middle(x[0]), x[1], x[2], options);
  };
  const std::vector<Array> qkv{random_array({3, 4}, 1), random_array({3, 4}, 2),
                               random_array({3, 5}, 3)};
  const Function rest = [&](const std::vector<Tensor>& x) { return without_middle(all(x)); };
  CHECK(twin_difference(rest, others, qkv) == "");
  const Tensor out = all({Tensor(qkv[0]), Tensor(qkv[1]), Tensor(qkv[2])});
  CHECK(difference(select(out, 0, 1), zeros({5})) == "");
}

TEST_CASE("the output of MultiHeadAttention for a fully masked query is the output bias",
          "[golden][policy]") {
  for (const std::size_t heads : {std::size_t{1}, std::size_t{2}}) {
    Parameters parameters;
    Generator generator(1);
    const nn::MultiHeadAttention layer({parameters, generator}, 4, heads);
    nn::AttentionMask all_masked;
    all_masked.mask = mask_of({1, 3}, {0, 0, 0});
    const Tensor y =
        layer(Tensor(random_array({1, 2, 4}, 2)), Tensor(random_array({1, 3, 4}, 3)), all_masked);
    CHECK(difference(y, expand(layer.out.bias, {1, 2, 4}).value()) == "");
    backward(y, ones(y.shape()));
    CHECK(difference(layer.value.weight.grad(), zeros({4, 4})) == "");
    CHECK(difference(layer.query.bias.grad(), zeros({4})) == "");
  }
}

TEST_CASE("policy: equal maxima get equal parts of the gradient", "[golden][policy]") {
  const Tensor x = tensor_of({2, 3}, {3, 1, 3, 5, 5, 5});
  backward(max(x, {1}), array_of({2}, {1, 3}));
  CHECK(difference(x.grad(), array_of({2, 3}, {0.5, 0, 0.5, 1, 1, 1})) == "");
  CHECK(argmax(x, 1)(0) == 0);
  CHECK(argmax(x, 1)(1) == 0);
}

TEST_CASE("cosine similarity does not depend on norms, even if their square overflows",
          "[golden][policy]") {
  const Tensor a = tensor_of({1, 2}, {1e20, 1e20}), b = tensor_of({1, 2}, {1e20, -3e19});
  const double cosine = 0.7 / std::sqrt(2 * 1.09);
  CHECK(difference(cosine_similarity(a, b), array_of({1}, {cosine})) == "");
}

TEST_CASE("gradients whose squares overflow are clipped to max_norm", "[golden][policy]") {
  const Tensor x = with_gradient({3e38, -3e38});
  optim::clip_grad_norm({x}, 1);
  CHECK(difference(x.grad(), array_of({2}, {std::sqrt(0.5), -std::sqrt(0.5)}), 2e-6) == "");
}

TEST_CASE("the binary cross-entropy of the logit -inf is infinite, not NaN", "[golden][policy]") {
  const Tensor logits = tensor_of({2}, {-inf, inf}), targets = tensor_of({2}, {0.25, 0.25});
  const Tensor loss = binary_cross_entropy_with_logits(logits, targets, Reduction::none);
  CHECK(difference(loss, array_of({2}, {inf, inf})) == "");
}

TEST_CASE("mse_loss and huber_loss reject shapes that PyTorch broadcasts with a warning",
          "[golden][policy]") {
  const Tensor input(ones({3, 1})), target(ones({3}));
  CHECK(message_of([&] { mse_loss(input, target); }) != "");
  CHECK(message_of([&] { huber_loss(input, target); }) != "");
}

TEST_CASE(
    "gather rejects indices that are smaller than x along another axis, as torch.gather "
    "does not",
    "[golden][policy]") {
  const Tensor x(ones({3, 4}));
  CHECK(message_of([&] { gather(x, 1, indices({2, 4})); }) != "");
  CHECK(gather(x, 1, indices({3, 4})).shape() == Shape({3, 4}));
}

TEST_CASE("topk orders equal elements by their index, PyTorch in no fixed order",
          "[golden][policy]") {
  const TopK top = topk(tensor_of({5}, {1, 2, 1, 2, 1}), 5);
  CHECK(top.indices == indices_of({5}, {1, 3, 0, 2, 4}));
}

// ---- where heed agrees with PyTorch, which may be unexpected

TEST_CASE("the softmax row, the maximum and the loss of a NaN are NaN", "[golden][policy]") {
  const Tensor x = tensor_of({2, 2}, {NaN, -inf, 0, 0});
  CHECK(difference(softmax(x, 1), array_of({2, 2}, {NaN, NaN, 0.5, 0.5})) == "");
  CHECK(difference(max(x, {1}), array_of({2}, {NaN, 0})) == "");
  CHECK(argmax(x, 1)(0) == 0);
  CrossEntropyOptions each;
  each.reduction = Reduction::none;
  CHECK(difference(cross_entropy(x, indices_of({2}, {1, 1}), each),
                   array_of({2}, {NaN, std::log(2)})) == "");
}

TEST_CASE("a NaN that is the maximum gets the gradient", "[golden][policy]") {
  const Tensor x = tensor_of({3}, {1, NaN, 3});
  backward(max(x));
  CHECK(difference(x.grad(), array_of({3}, {0, 1, 0})) == "");
}

TEST_CASE("the mean of no elements or no targets is NaN", "[golden][policy]") {
  CHECK(std::isnan(mean(Tensor(zeros({0, 3}))).item()));
  const Tensor logits = tensor_of({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor loss = cross_entropy(logits, indices_of({2}, {-100, -100}));
  CHECK(std::isnan(loss.item()));
  backward(loss);
  CHECK(difference(logits.grad(), zeros({2, 3})) == "");
}

TEST_CASE("clipping an infinite norm makes finite gradients 0 and infinite ones NaN",
          "[golden][policy]") {
  const Tensor x = with_gradient({inf, 1});
  CHECK(optim::clip_grad_norm({x}, 1) == inf);
  CHECK(difference(x.grad(), array_of({2}, {NaN, 0})) == "");
}

TEST_CASE("a NaN gradient makes the parameter NaN", "[golden][policy]") {
  const Tensor x = with_gradient({NaN, 1});
  optim::AdamW({x}, {}).step();
  CHECK(std::isnan(x.value()(0)));
  CHECK(std::isfinite(x.value()(1)));
}
