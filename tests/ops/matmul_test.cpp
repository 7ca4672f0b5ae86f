// matmul_test.cpp: matmul of matrices, vectors and batches; linear against matmul and add.

#include "heed/ops/matmul.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

Tensor product(const std::vector<Tensor>& x) { return matmul(x[0], x[1]); }

Tensor plain_linear(const std::vector<Tensor>& x) {
  const Tensor y = matmul(x[0], transpose(x[1], 0, 1));
  return x.size() == 3 ? y + x[2] : y;
}

Tensor fused_linear(const std::vector<Tensor>& x) {
  return linear(x[0], x[1], x.size() == 3 ? x[2] : Tensor());
}

std::string shape_of_product(const Shape& a, const Shape& b) {
  return str(matmul(Tensor(zeros(a)), Tensor(zeros(b))).shape());
}

}  // namespace

TEST_CASE("a product of two matrices and its gradients by hand", "[ops][matmul]") {
  const Array a = array_of({2, 3}, {1, 2, 3, 4, 5, 6}), b = array_of({3, 2}, {1, 0, 0, 1, 2, -1});
  CHECK((matmul(Tensor(a), Tensor(b)).value() == array_of({2, 2}, {7, -1, 16, -1})));
  const auto g = gradients(product, {a, b}, array_of({2, 2}, {1, 0, 0, 10}));
  CHECK((g[0] == array_of({2, 3}, {1, 0, 2, 0, 10, -10})));  // dY B^T
  CHECK((g[1] == array_of({3, 2}, {1, 40, 2, 50, 3, 60})));  // A^T dY
}

TEST_CASE("a vector counts as a row or column without that axis in the result", "[ops][matmul]") {
  const Tensor row(array_of({2}, {1, 2})), matrix(array_of({2, 2}, {1, 2, 3, 4}));
  CHECK((matmul(row, matrix).value() == array_of({2}, {7, 10})));
  CHECK((matmul(matrix, row).value() == array_of({2}, {5, 11})));
  CHECK((matmul(row, row).value() == scalar(5)));
  CHECK(shape_of_product({3}, {5, 3, 2}) == "(5, 2)");
  CHECK(shape_of_product({5, 2, 3}, {3}) == "(5, 2)");
  const auto g = gradients(product, {row.value(), matrix.value()}, array_of({2}, {1, 10}));
  CHECK((g[0] == array_of({2}, {21, 43})));
  CHECK((g[1] == array_of({2, 2}, {1, 10, 2, 20})));
}

TEST_CASE("batches broadcast, and the gradient of a broadcast batch is summed", "[ops][matmul]") {
  const Array a = random_array({4, 1, 2, 3}, 1), b = random_array({5, 3, 2}, 2);
  const Tensor product_of_batches = matmul(Tensor(a), Tensor(b));
  REQUIRE(str(product_of_batches.shape()) == "(4, 5, 2, 2)");
  const auto part = [&](int i, int j) {
    return matmul(select(select(Tensor(a), 0, i), 0, 0), select(Tensor(b), 0, j));
  };
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 5; ++j)
      CHECK(difference(select(select(product_of_batches, 0, i), 0, j), part(i, j).value()) == "");
  const Function expanded_inputs = [](const std::vector<Tensor>& x) {
    return matmul(expand(x[0], {4, 5, 2, 3}), expand(x[1], {4, 5, 3, 2}));
  };
  CHECK(twin_difference(product, expanded_inputs, {a, b}) == "");
}

TEST_CASE("one matrix for all matrices of a batch, left or right, equals the expanded one",
          "[ops][matmul]") {
  const Function right = [](const std::vector<Tensor>& x) {
    return matmul(x[0], expand(x[1], {4, 3, 5}));
  };
  CHECK(twin_difference(product, right, {random_array({4, 2, 3}, 1), random_array({3, 5}, 2)}) ==
        "");
  const Function left = [](const std::vector<Tensor>& x) {
    return matmul(expand(x[0], {4, 2, 3}), x[1]);
  };
  CHECK(twin_difference(product, left, {random_array({2, 3}, 1), random_array({4, 3, 5}, 2)}) ==
        "");
}

TEST_CASE("sizes of 0 give empty products; an inner size of 0 gives zeros", "[ops][matmul]") {
  CHECK(shape_of_product({0, 3}, {3, 2}) == "(0, 2)");
  CHECK(shape_of_product({2, 0, 3}, {2, 3, 4}) == "(2, 0, 4)");
  CHECK(shape_of_product({0, 2, 3}, {0, 3, 4}) == "(0, 2, 4)");
  CHECK((matmul(Tensor(zeros({2, 0})), Tensor(zeros({0, 3}))).value() == zeros({2, 3})));
  CHECK((matmul(Tensor(zeros({5, 2, 0})), Tensor(zeros({5, 0, 3}))).value() == zeros({5, 2, 3})));
  const auto g = gradients(product, {zeros({0, 3}), ones({3, 2})}, zeros({0, 2}));
  CHECK((g[1] == zeros({3, 2})));
  const auto inner = gradients(product, {zeros({4, 2, 0}), zeros({0, 3})}, ones({4, 2, 3}));
  CHECK(str(inner[0].shape()) == "(4, 2, 0)");
  CHECK(str(inner[1].shape()) == "(0, 3)");
}

TEST_CASE("factors that do not fit throw an error with names and shapes", "[ops][matmul]") {
  const auto error_of = [](const Shape& a, const Shape& b) {
    return message_of([&] { matmul(Tensor(zeros(a)), Tensor(zeros(b))); });
  };
  CHECK(error_of({2, 3}, {2, 3}) == "matmul: inner sizes differ: a (2, 3), b (2, 3)");
  CHECK(error_of({3}, {2, 3}) == "matmul: inner sizes differ: a (3), b (2, 3)");
  CHECK(error_of({2, 3}, {2}) == "matmul: inner sizes differ: a (2, 3), b (2)");
  CHECK(error_of({}, {2}) == "matmul: both factors need at least one axis: a (), b (2)");
  CHECK(error_of({2, 4, 3}, {5, 3, 4}) ==
        "matmul: batches do not broadcast: a (2, 4, 3), b (5, 3, 4)");
  Tensor x(zeros({4, 8, 64})), weight(zeros({32, 256}));
  x.set_name("x");
  weight.set_name("blocks.0.up.weight");
  CHECK(message_of([&] { matmul(x, weight); }) ==
        "matmul: inner sizes differ: x (4, 8, 64), blocks.0.up.weight (32, 256)");
}

TEST_CASE("linear and its gradients by hand", "[ops][matmul][linear]") {
  const Array x = array_of({2, 2}, {1, 2, 3, 4});
  const Array weight = array_of({3, 2}, {1, 0, 0, 1, 1, 1}), bias = array_of({3}, {10, 20, 30});
  CHECK((linear(Tensor(x), Tensor(weight), Tensor(bias)).value() ==
         array_of({2, 3}, {11, 22, 33, 13, 24, 37})));
  const auto g = gradients(fused_linear, {x, weight, bias}, array_of({2, 3}, {1, 0, 0, 0, 10, 2}));
  CHECK((g[0] == array_of({2, 2}, {1, 0, 2, 12})));
  CHECK((g[1] == array_of({3, 2}, {1, 2, 30, 40, 6, 8})));
  CHECK((g[2] == array_of({3}, {1, 10, 2})));
}

TEST_CASE("linear equals matmul and add, forward and backward", "[ops][matmul][linear]") {
  const Array weight = random_array({7, 5}, 2), bias = random_array({7}, 3);
  for (const Shape& shape : {Shape{5}, Shape{1, 5}, Shape{33, 5}, Shape{2, 3, 5}, Shape{0, 5}}) {
    const Array x = random_array(shape, 1);
    CHECK(twin_difference(fused_linear, plain_linear, {x, weight, bias}) == "");
    CHECK(twin_difference(fused_linear, plain_linear, {x, weight}) == "");
  }
}

TEST_CASE("linear with 0 inputs gives the bias", "[ops][matmul][linear]") {
  const Array bias = array_of({2}, {1, 2});
  CHECK((linear(Tensor(zeros({3, 0})), Tensor(zeros({2, 0})), Tensor(bias)).value() ==
         array_of({3, 2}, {1, 2, 1, 2, 1, 2})));
  const auto g = gradients(fused_linear, {ones({3, 2}), zeros({0, 2}), zeros({0})}, zeros({3, 0}));
  CHECK((g[0] == zeros({3, 2})));
  CHECK(str(g[1].shape()) == "(0, 2)");
}

TEST_CASE("linear throws for shapes that do not fit", "[ops][matmul][linear]") {
  const Tensor x(zeros({2, 3})), weight(zeros({4, 3})), bias(zeros({3}));
  CHECK(message_of([&] { linear(x, bias); }) == "linear: the weight must be (out, in): weight (3)");
  CHECK(message_of([&] {
          linear(Tensor(zeros({2, 4})), weight);
        }) == "linear: the last size of x must be the weight's second: x (2, 4), weight (4, 3)");
  CHECK(message_of([&] { linear(Tensor(scalar(1)), weight); }) ==
        "linear: the last size of x must be the weight's second: x (), weight (4, 3)");
  CHECK(message_of([&] { linear(x, weight, bias); }) ==
        "linear: the bias must have the weight's first size: weight (4, 3), bias (3)");
}
