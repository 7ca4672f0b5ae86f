// softmax_test.cpp: gradient checks of softmax, cross-entropy, layer norm and cosine similarity.

#include "heed/ops/softmax.hpp"

#include <cmath>

#include "catch.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/normalize.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

const std::vector<Shape> shapes{{}, {1}, {6}, {2, 3}, {3, 1, 4}, {2, 3, 4}, {0, 2}};

std::string over_axes(const std::function<Tensor(const Tensor&, int)>& f) {
  for (const Shape& shape : shapes) {
    const int rank = std::max(1, static_cast<int>(shape.size()));
    for (int axis = -rank; axis < rank; ++axis) {
      const std::string error =
          gradcheck_error([&](X x) { return f(x[0], axis); }, {random_array(shape, 1, -3, 3)});
      if (!error.empty()) return str(shape) + " axis " + std::to_string(axis) + ": " + error;
    }
  }
  return "";
}

std::vector<std::int64_t> targets_with_ignored() { return {0, 4, 2, -100, 4, 1}; }

}  // namespace

TEST_CASE("gradients of softmax, log_softmax and logsumexp", "[double][softmax]") {
  CHECK(over_axes([](const Tensor& x, int axis) { return softmax(x, axis); }) == "");
  CHECK(over_axes([](const Tensor& x, int axis) { return log_softmax(x, axis); }) == "");
  for (const bool keepdim : {false, true})
    CHECK(over_axes([=](const Tensor& x, int axis) { return logsumexp(x, axis, keepdim); }) == "");
}

TEST_CASE("gradients of softmax after a mask, with a fully masked row", "[double][softmax]") {
  const Mask mask = mask_of({2, 4}, {0, 1, 0, 1, 1, 1, 1, 1});
  const Array x = random_array({2, 4}, 1);
  const Function masked = [&](X in) { return softmax(masked_fill(in[0], mask, -infinity), -1); };
  CHECK(gradcheck_error(masked, {x}) == "");
}

TEST_CASE("gradients of cross entropy for every reduction and smoothing", "[double][loss]") {
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    for (const double smoothing : {0.0, 0.1, 1.0}) {
      CrossEntropyOptions options;
      options.reduction = reduction;
      options.label_smoothing = smoothing;
      const auto with = [&](const Indices& targets) {
        return [=](X x) { return cross_entropy(x[0], targets, options); };
      };
      CHECK(gradcheck_error(with(indices_of({6}, targets_with_ignored())),
                            {random_array({6, 5}, 1, -2, 2)}) == "");
      CHECK(gradcheck_error(with(indices_of({2, 3}, targets_with_ignored())),
                            {random_array({2, 3, 9}, 1)}) == "");
      CHECK(gradcheck_error(with(indices_of({}, {1})), {random_array({2}, 1)}) == "");
    }
}

TEST_CASE("gradients of layer norm, with and without weight and bias", "[double][normalize]") {
  for (const Shape& shape : {Shape{5}, Shape{3, 5}, Shape{2, 3, 5}, Shape{35, 5}, Shape{0, 5}}) {
    const Array x = random_array(shape, 1, -2, 2), w = random_array({5}, 2),
                b = random_array({5}, 3);
    CHECK(gradcheck_error([](X in) { return layer_norm(in[0], {5}); }, {x}) == "");
    CHECK(gradcheck_error([](X in) { return layer_norm(in[0], {5}, in[1]); }, {x, w}) == "");
    CHECK(gradcheck_error([](X in) { return layer_norm(in[0], {5}, {}, in[1]); }, {x, b}) == "");
    CHECK(gradcheck_error([](X in) { return layer_norm(in[0], {5}, in[1], in[2]); }, {x, w, b}) ==
          "");
  }
  CHECK(gradcheck_error(
            [](X in) {
              return layer_norm(in[0], {2, 3}, in[1], in[2], 0.1);
            },
            {random_array({4, 2, 3}, 1), random_array({2, 3}, 2), random_array({2, 3}, 3)}) == "");
  CHECK(gradcheck_error([](X in) { return layer_norm(in[0], {1}); }, {random_array({3, 1}, 1)}) ==
        "");
}

TEST_CASE("gradients of cosine similarity along every axis", "[double][normalize]") {
  const auto along = [](int axis) {
    return [axis](X x) { return cosine_similarity(x[0], x[1], axis); };
  };
  for (int axis = -3; axis < 3; ++axis) {
    CHECK(gradcheck_error(along(axis), {random_array({2, 3, 4}, 1), random_array({2, 3, 4}, 2)}) ==
          "");
    CHECK(gradcheck_error(along(axis), {random_array({2, 1, 4}, 1), random_array({3, 1}, 2)}) ==
          "");
  }
  CHECK(gradcheck_error(along(0), {away_from_zero({}, 1), away_from_zero({3}, 2)}) == "");
}

TEST_CASE("gradients of cosine similarity with a norm below eps", "[double][normalize]") {
  const auto wide = [](X x) { return cosine_similarity(x[0], x[1], 0, 10); };
  CHECK(gradcheck_error(wide, {random_array({3}, 1), random_array({3}, 2)}) == "");
  const auto one = [](X x) { return cosine_similarity(x[0], x[1], 0, 1); };
  CHECK(gradcheck_error(one, {random_array({3}, 1, 0, 0.2), random_array({3}, 2, 2, 3)}) == "");
}
