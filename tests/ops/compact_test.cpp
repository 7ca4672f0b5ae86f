// compact_test.cpp: tests of linear and embedding with weights in BF16 and int8.

#include "ops/compact.hpp"

#include <map>
#include <string>

#include "catch.hpp"
#include "heed/debug/timer.hpp"
#include "heed/debug/trace.hpp"
#include "heed/gemm/bf16.hpp"
#include "heed/gemm/int8.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/matmul.hpp"
#include "message_of.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// Values that a compact matrix holds exactly, and the matrix.
template <class Matrix>
struct Compact {
  Compact(std::size_t rows, std::size_t columns)
      : values(random_array({rows, columns}, 5)), matrix(rows, columns) {
    matrix.set(0, values.data(), values.size());
    for (std::size_t r = 0; r < rows; ++r) matrix.copy_row(r, values.data() + r * columns);
  }
  Array values;
  Matrix matrix;
};

using Weight = Compact<Bf16Matrix>;

template <class Matrix>
void check_same_as_real() {
  const NoGrad no_grad;
  const Compact<Matrix> weight(9, 6);
  const Tensor bias(random_array({9}, 6)), w(weight.values);
  for (const Shape& shape : {Shape{6}, Shape{1, 6}, Shape{2, 5, 6}}) {
    const Tensor x(random_array(shape, 7));
    CHECK(difference(linear(x, weight.matrix), linear(x, w).value()) == "");
    CHECK(difference(linear(x, weight.matrix, bias), linear(x, w, bias).value()) == "");
  }
  const Indices tokens = indices_of({2, 3}, {8, 0, 1, 3, 3, 7});
  CHECK(same_bits(embedding(tokens, weight.matrix).value(), embedding(tokens, w).value()));
}

}  // namespace

TEST_CASE("linear and embedding with compact weights equal those with the same weights in Real",
          "[ops][bf16][int8]") {
  check_same_as_real<Bf16Matrix>();
  check_same_as_real<Int8Matrix>();
}

TEST_CASE("weights in BF16 are rejected where gradients are recorded, and for other shapes",
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

TEST_CASE("HEED_TRACE=time shows operations with weights in BF16 as Linear and Embedding",
          "[ops][bf16][trace]") {
  const Weight weight(9, 6);
  const NoGrad no_grad;
  set_trace("time");
  clear_operation_times();
  linear(embedding(indices_of({2}, {0, 8}), weight.matrix), weight.matrix);
  set_trace("");
  std::map<std::string, std::size_t> calls;
  for (const OperationTime& operation : operation_times())
    calls[std::string(operation.name)] = operation.no_grad.calls;
  clear_operation_times();
  CHECK(calls == std::map<std::string, std::size_t>{{"Embedding", 1}, {"Linear", 1}});
}

TEST_CASE("HEED_TRACE=nan stops at the first operation with weights in BF16 that gives NaN",
          "[ops][bf16][trace]") {
  Weight weight(9, 6);
  const NoGrad no_grad;
  Array x = ones({2, 6});
  x(1, 3) = static_cast<Real>(not_a_number);
  set_trace("nan");
  const std::string of_linear = message_of([&] { linear(Tensor(x), weight.matrix); });
  const Real bad = static_cast<Real>(not_a_number);
  weight.matrix.set(8, &bad, 1);  // row 1, column 2
  const std::string of_embedding = message_of([&] {
    embedding(indices_of({2}, {0, 1}), weight.matrix);
  });
  const std::string of_finite = message_of([&] {
    embedding(indices_of({2}, {0, 2}), weight.matrix);
  });
  set_trace("");
  CHECK(of_linear.rfind("HEED_TRACE=nan: Linear (2, 9) made at ", 0) == 0);
  CHECK(of_linear.find(" has nan at (1, 0); its inputs: ") != std::string::npos);
  CHECK(of_linear.find(" (2, 6) with nan at (1, 3), made at ") != std::string::npos);
  CHECK(of_embedding.rfind("HEED_TRACE=nan: Embedding (2, 6) made at ", 0) == 0);
  CHECK(of_embedding.find(" has nan at (1, 2); none of its inputs is a tensor") !=
        std::string::npos);
  CHECK(of_finite == "");
}
