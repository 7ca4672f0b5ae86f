// indexing_test.cpp: one_hot, index_select, x[i], unbind, scatter, triu, flip, repeat and pad.

#include "heed/extra/indexing.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

const Tensor matrix = tensor_of({2, 3}, {1, 2, 3, 4, 5, 6}).set_name("x");

// The gradient of y at `matrix` for the upstream gradient 1, 2, 3, ...
Array counted_gradient(const Tensor& y) {
  matrix.clear_grad();
  Array upstream = uninitialized(y.shape());
  for (std::size_t i = 0; i < upstream.size(); ++i) upstream.data()[i] = static_cast<Real>(i + 1);
  backward(y, upstream);
  return matrix.grad();
}

}  // namespace

TEST_CASE("one_hot has 1 at each index", "[extra][indexing]") {
  CHECK(difference(one_hot(indices_of({2}, {2, 0})), array_of({2, 3}, {0, 0, 1, 1, 0, 0})) == "");
  CHECK(difference(one_hot(indices_of({}, {1}), 2), array_of({2}, {0, 1})) == "");
  CHECK(one_hot(indices_of({0, 2}, {}), 4).shape() == Shape{0, 2, 4});
  CHECK(message_of([] {
          one_hot(indices_of({2}, {0, 3}), 3);
        }) == "one_hot: index 3 among the indices (2) is not from 0 to num_classes - 1 = 2");
  CHECK(message_of([] { one_hot(indices_of({1}, {-1})); }) ==
        "one_hot: index -1 among the indices (1) is not from 0 to num_classes - 1 = -1");
  CHECK(message_of([] { one_hot(indices_of({0}, {})); }) ==
        "one_hot: num_classes does not follow from the indices (0); give it");
}

TEST_CASE("index_select takes parts, and adds the gradients of a part", "[extra][indexing]") {
  const Tensor y = index_select(matrix, 1, indices_of({4}, {2, 0, 2, 2}));
  CHECK(difference(y, array_of({2, 4}, {3, 1, 3, 3, 6, 4, 6, 6})) == "");
  CHECK(difference(counted_gradient(y), array_of({2, 3}, {2, 0, 8, 6, 0, 20})) == "");
  CHECK(difference(index_select(matrix, 0, indices_of({1}, {1})), array_of({1, 3}, {4, 5, 6})) ==
        "");
  CHECK(
      message_of([] { index_select(matrix, 1, indices_of({1}, {3})); }) ==
      "index_select: index 3 among indices (1) is out of range for axis 1 of x (2, 3); use 0 to 2");
  CHECK(message_of([] {
          index_select(matrix, 1, indices_of({1, 1}, {0}));
        }) == "index_select: the indices (1, 1) must have one axis, and at least one: x (2, 3)");
}

TEST_CASE("x[i] is part i along the first axis", "[extra][indexing]") {
  CHECK(difference(matrix[0], array_of({3}, {1, 2, 3})) == "");
  CHECK(difference(matrix[-1], array_of({3}, {4, 5, 6})) == "");
  CHECK(matrix[1][std::size_t{2}].item() == 6);
  CHECK(difference(counted_gradient(matrix[1]), array_of({2, 3}, {0, 0, 0, 1, 2, 3})) == "");
  CHECK(message_of([] { matrix[2]; }) == "select: index 2 is out of range for axis 0 of x (2, 3)");
  CHECK(matrix[1].location().line == __LINE__);
  STATIC_REQUIRE(std::is_const_v<decltype(matrix[0])>);  // x[0] = y would change nothing
}

TEST_CASE("unbind gives all parts along an axis", "[extra][indexing]") {
  const std::vector<Tensor> columns = unbind(matrix, 1);
  CHECK(columns.size() == 3);
  CHECK(difference(columns[2], array_of({2}, {3, 6})) == "");
  CHECK(difference(counted_gradient(columns[2] * 10 + columns[0]),
                   array_of({2, 3}, {1, 0, 10, 2, 0, 20})) == "");
  CHECK(unbind(Tensor(zeros({0, 2}))).empty());
  CHECK(message_of([] { unbind(tensor_of({}, {1})); }) == "unbind: x () has no axes");
}

TEST_CASE("scatter replaces elements, and scatter_add adds to them", "[extra][indexing]") {
  const Indices places = indices_of({2, 2}, {2, 0, 1, 1});
  const Tensor source = tensor_of({2, 2}, {10, 20, 30, 40}).set_name("source");
  const Tensor y = scatter(matrix, 1, places, source), sum = scatter_add(matrix, 1, places, source);
  CHECK(difference(y, array_of({2, 3}, {20, 2, 10, 4, 40, 6})) == "");
  CHECK(difference(sum, array_of({2, 3}, {21, 2, 13, 4, 75, 6})) == "");
  CHECK(difference(scatter(matrix, 1, places, 0.5), array_of({2, 3}, {.5, 2, .5, 4, .5, 6})) == "");
  CHECK(difference(counted_gradient(y), array_of({2, 3}, {0, 2, 0, 4, 0, 6})) == "");
  CHECK(difference(source.grad(), array_of({2, 2}, {3, 1, 0, 5})) == "");
  source.clear_grad();
  CHECK(difference(counted_gradient(sum), array_of({2, 3}, {1, 2, 3, 4, 5, 6})) == "");
  CHECK(difference(source.grad(), array_of({2, 2}, {3, 1, 5, 5})) == "");
}

TEST_CASE("the errors of scatter name both shapes", "[extra][indexing]") {
  const Tensor source = Tensor(ones({2, 1})).set_name("source");
  CHECK(message_of([&] {
          scatter(matrix, 1, indices_of({2, 1}, {0, 3}), source);
        }) ==
        "scatter: index 3 among indices (2, 1) is out of range for axis 1 of x (2, 3); use 0 to 2");
  CHECK(message_of([&] {
          scatter_add(matrix, 1, indices_of({1, 1}, {0}), source);
        }) ==
        "scatter_add: the indices (1, 1) and source (2, 1) must have one shape, that of x (2, 3) "
        "except along axis 1");
}

TEST_CASE("triu sets the elements below the diagonal to 0", "[extra][indexing]") {
  CHECK(difference(triu(matrix), array_of({2, 3}, {1, 2, 3, 0, 5, 6})) == "");
  CHECK(difference(triu(matrix, 1), array_of({2, 3}, {0, 2, 3, 0, 0, 6})) == "");
  CHECK(difference(triu(matrix, -1), matrix.value()) == "");
  CHECK(difference(counted_gradient(triu(matrix, 2)), array_of({2, 3}, {0, 0, 3, 0, 0, 0})) == "");
  CHECK(message_of([] { triu(tensor_of({1}, {1})); }) == "triu: x (1) needs at least two axes");
}

TEST_CASE("flip reverses the order along axes", "[extra][indexing]") {
  CHECK(difference(flip(matrix, 1), array_of({2, 3}, {3, 2, 1, 6, 5, 4})) == "");
  CHECK(difference(flip(matrix, {0, -1}), array_of({2, 3}, {6, 5, 4, 3, 2, 1})) == "");
  CHECK(difference(flip(matrix, {}), matrix.value()) == "");
  CHECK(difference(counted_gradient(flip(matrix, 0)), array_of({2, 3}, {4, 5, 6, 1, 2, 3})) == "");
}

TEST_CASE("repeat tiles a tensor", "[extra][indexing]") {
  CHECK(difference(repeat(matrix, {1, 2}),
                   array_of({2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6})) == "");
  CHECK(repeat(matrix, {4, 1, 2}).shape() == Shape{4, 2, 6});
  CHECK(difference(counted_gradient(repeat(matrix, {2, 1})),
                   array_of({2, 3}, {8, 10, 12, 14, 16, 18})) == "");
  CHECK(message_of([] { repeat(matrix, {2}); }) ==
        "repeat: (2) for x (2, 3) must have a size of 0 or more for each axis");
}

TEST_CASE("pad adds elements before and after an axis, a negative number removes them",
          "[extra][indexing]") {
  CHECK(difference(pad(matrix, {1, 0}, -1), array_of({2, 4}, {-1, 1, 2, 3, -1, 4, 5, 6})) == "");
  CHECK(difference(pad(matrix, {0, 0, 0, 1}), array_of({3, 3}, {1, 2, 3, 4, 5, 6, 0, 0, 0})) == "");
  CHECK(difference(pad(matrix, {-1, 1}), array_of({2, 3}, {2, 3, 0, 5, 6, 0})) == "");
  CHECK(difference(counted_gradient(pad(matrix, {1, -1})), array_of({2, 3}, {2, 3, 0, 5, 6, 0})) ==
        "");
  CHECK(message_of([] { pad(matrix, {1}); }) ==
        "pad: 1 numbers for x (2, 3); give two per axis, before and after it, the last axis first");
  CHECK(message_of([] {
          pad(matrix, {-2, -2});
        }) == "pad: -2 and -2 elements at axis 1 of x (2, 3) give a negative size");
}
