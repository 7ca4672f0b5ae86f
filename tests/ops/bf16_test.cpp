// bf16_test.cpp: tests of linear and embedding with weights in BF16.

#include "heed/ops/bf16.hpp"

#include "catch.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/matmul.hpp"
#include "message_of.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// Values that BF16 holds exactly, and their matrix.
struct Weight {
  Weight(std::size_t rows, std::size_t columns)
      : values(random_array({rows, columns}, 5)), matrix(rows, columns) {
    matrix.set(0, values.data(), values.size());
    for (std::size_t r = 0; r < rows; ++r) matrix.copy_row(r, values.data() + r * columns);
  }
  Array values;
  Bf16Matrix matrix;
};

}  // namespace

TEST_CASE("linear and embedding with weights in BF16 equal those with the same weights in Real",
          "[ops][bf16]") {
  const NoGrad no_grad;
  const Weight weight(9, 6);
  const Tensor bias(random_array({9}, 6)), w(weight.values);
  for (const Shape& shape : {Shape{6}, Shape{1, 6}, Shape{2, 5, 6}}) {
    const Tensor x(random_array(shape, 7));
    CHECK(difference(linear(x, weight.matrix), linear(x, w).value()) == "");
    CHECK(difference(linear(x, weight.matrix, bias), linear(x, w, bias).value()) == "");
  }
  const Indices tokens = indices_of({2, 3}, {8, 0, 1, 3, 3, 7});
  CHECK(same_bits(embedding(tokens, weight.matrix).value(), embedding(tokens, w).value()));
}

TEST_CASE("weights in BF16 are refused where gradients are recorded, and for other shapes",
          "[ops][bf16]") {
  const Weight weight(9, 6);
  const Tensor x(random_array({2, 6}, 7));
  CHECK(message_of([&] { linear(x, weight.matrix); }) ==
        "linear: weights in BF16 have no gradients; create a NoGrad object first");
  CHECK(message_of([&] { embedding(indices_of({1}, {0}), weight.matrix); }) ==
        "embedding: weights in BF16 have no gradients; create a NoGrad object first");
  const NoGrad no_grad;
  CHECK(message_of([&] {
          linear(Tensor(ones({2, 5})), weight.matrix);
        }) ==
        "linear: the last size of x must be the weight's second: x (2, 5), weight (9, 6) in BF16");
  CHECK(message_of([&] { linear(x, weight.matrix, Tensor(ones({6}))); }) ==
        "linear: the bias must have the weight's first size: weight (9, 6) in BF16, bias (6)");
  CHECK(message_of([&] {
          embedding(indices_of({2}, {0, 9}), weight.matrix);
        }) == "embedding: index 9 among (2) indices is out of range for weight (9, 6) in BF16");
}
