// shape_test.cpp: gradient checks of shape operations, reductions, masks and embedding.

#include "heed/ops/shape.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

std::string error_of(const Function& f, const std::vector<Shape>& shapes) {
  std::vector<Array> inputs;
  for (const Shape& shape : shapes) inputs.push_back(random_array(shape, inputs.size() + 1));
  return gradcheck_error(f, inputs);
}

const std::vector<Shape> shapes{{}, {1}, {5}, {2, 3}, {3, 1, 4}, {2, 3, 4}, {2, 0}};

// No axes, each axis (positive and negative), and the first with the last.
std::vector<AxisList> axis_lists(const Shape& shape) {
  const int rank = std::max(1, static_cast<int>(shape.size()));
  std::vector<AxisList> lists{{}};
  for (int axis = -rank; axis < rank; ++axis) lists.push_back({axis});
  if (rank > 1) lists.push_back({0, -1});
  return lists;
}

using Reducer = Tensor (*)(const Tensor&, const AxisList&, bool);

std::string over_axes(Reducer f) {
  for (const Shape& shape : shapes)
    for (const AxisList& axes : axis_lists(shape))
      for (const bool keepdim : {false, true}) {
        const std::string error = error_of([&](X x) { return f(x[0], axes, keepdim); }, {shape});
        if (!error.empty()) return str(shape) + ": " + error;
      }
  return "";
}

}  // namespace

TEST_CASE("gradients of reshape, squeeze, unsqueeze and expand", "[double][shape]") {
  CHECK(error_of([](X x) { return reshape(x[0], {3, -1}); }, {{2, 3}}) == "");
  CHECK(error_of([](X x) { return reshape(x[0], {1, 1}); }, {{}}) == "");
  CHECK(error_of([](X x) { return squeeze(x[0], 1); }, {{2, 1, 3}}) == "");
  CHECK(error_of([](X x) { return unsqueeze(x[0], -2); }, {{2, 3}}) == "");
  CHECK(error_of([](X x) { return expand(x[0], {4, 2, 3}); }, {{2, 1}}) == "");
  CHECK(error_of([](X x) { return expand(x[0], {2, 2}); }, {{}}) == "");
  CHECK(error_of([](X x) { return expand(x[0], {2, 0}); }, {{2, 1}}) == "");
}

TEST_CASE("gradients of transpose and permute over every pair and order", "[double][shape]") {
  for (int a = -3; a < 3; ++a)
    for (int b = -3; b < 3; ++b)
      CHECK(error_of([=](X x) { return transpose(x[0], a, b); }, {{2, 3, 4}}) == "");
  AxisList order{0, 1, 2};
  do CHECK(error_of([&](X x) { return permute(x[0], order); }, {{2, 3, 4}}) == "");
  while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("gradients of slice and select along every axis", "[double][shape]") {
  for (int axis = -3; axis < 3; ++axis) {
    CHECK(error_of([=](X x) { return slice(x[0], axis, 1); }, {{2, 3, 4}}) == "");
    CHECK(error_of([=](X x) { return slice(x[0], axis, 0, to_the_end, 2); }, {{3, 3, 4}}) == "");
    CHECK(error_of([=](X x) { return slice(x[0], axis, 2, 1); }, {{2, 3, 4}}) == "");
    CHECK(error_of([=](X x) { return select(x[0], axis, -1); }, {{2, 3, 4}}) == "");
  }
}

TEST_CASE("gradients of concat, stack and split along every axis", "[double][shape]") {
  CHECK(error_of([](X x) { return concat(x, 0); }, {{2, 3}, {1, 3}, {0, 3}}) == "");
  CHECK(error_of([](X x) { return concat({x[0], x[1], x[0]}, -1); }, {{2, 3}, {2, 1}}) == "");
  for (int axis = -3; axis < 3; ++axis)
    CHECK(error_of([=](X x) { return stack(x, axis); }, {{2, 3}, {2, 3}}) == "");
  CHECK(error_of([](X x) { return stack(x, 0); }, {{}, {}}) == "");
  CHECK(error_of(
            [](X x) {
              return split(x[0], {1, 3}, 1)[1] * split(x[0], {3, 1}, 1)[0];
            },
            {{2, 4}}) == "");
}

TEST_CASE("gradients of sums, means, maxima and variances over every axis", "[double][reduce]") {
  CHECK(over_axes([](const Tensor& x, const AxisList& a, bool k) { return sum(x, a, k); }) == "");
  CHECK(over_axes([](const Tensor& x, const AxisList& a, bool k) {
          return x.value().size() == 0 ? x : mean(x, a, k);
        }) == "");
  CHECK(over_axes([](const Tensor& x, const AxisList& a, bool k) {
          return x.value().size() == 0 ? x : max(x, a, k);
        }) == "");
  CHECK(over_axes([](const Tensor& x, const AxisList& a, bool k) {
          return x.value().size() == 0 ? x : variance(x, a, false, k);
        }) == "");
}

TEST_CASE("gradients of the unbiased variance", "[double][reduce]") {
  for (const int axis : {0, 1, -1})
    CHECK(error_of([=](X x) { return variance(x[0], {axis}); }, {{2, 3, 4}}) == "");
  CHECK(error_of([](X x) { return variance(x[0]); }, {{2, 3}}) == "");
}

TEST_CASE("gradients of masked_fill and tril", "[double][mask]") {
  const Mask square = mask_of({2, 3}, {0, 1, 0, 1, 0, 0}), row = mask_of({3}, {1, 0, 0});
  CHECK(error_of([&](X x) { return masked_fill(x[0], square, 5); }, {{2, 3}}) == "");
  CHECK(error_of([&](X x) { return masked_fill(x[0], row, 5); }, {{4, 2, 3}}) == "");
  for (const int diagonal : {-2, -1, 0, 1, 2})
    CHECK(error_of([=](X x) { return tril(x[0], diagonal); }, {{2, 3, 4}}) == "");
}

TEST_CASE("gradients of dropout, with the same seed at each call", "[double][mask]") {
  for (const double p : {0.0, 0.3, 1.0})
    CHECK(error_of(
              [=](X x) {
                Generator generator(7);
                return dropout(x[0], p, generator);
              },
              {{5, 7}}) == "");
}

TEST_CASE("gradients of embedding weights", "[double][embedding]") {
  const Indices indices = indices_of({2, 3}, {0, 2, 2, 4, 0, 2});
  CHECK(error_of([&](X x) { return embedding(indices, x[0]); }, {{5, 3}}) == "");
  CHECK(error_of([&](X x) { return embedding(indices_of({}, {1}), x[0]); }, {{2, 3}}) == "");
}
