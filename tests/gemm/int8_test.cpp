// int8_test.cpp: tests of matrices in eight bits.

#include "heed/gemm/int8.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "heed/gemm/gemm.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

Int8Matrix int8_of(const Array& values) {
  Int8Matrix matrix(values.shape()[0], values.shape()[1]);
  matrix.set(0, values.data(), values.size());
  return matrix;
}

Array values_of(const Int8Matrix& matrix) {
  Array values = zeros({matrix.rows(), matrix.columns()});
  for (std::size_t r = 0; r < matrix.rows(); ++r)
    matrix.copy_row(r, values.data() + r * matrix.columns());
  return values;
}

Real largest_of_row(const Array& values, std::size_t row) {
  Real largest = 0;
  for (std::size_t i = 0; i < values.shape()[1]; ++i)
    largest = std::max(largest, std::abs(values(row, i)));
  return largest;
}

Array product(const Array& x, const Int8Matrix& weight) {
  Array y = uninitialized({x.shape()[0], weight.rows()});
  product_with_transposed(x.data(), x.shape()[0], weight, y.data());
  return y;
}

}  // namespace

TEST_CASE("a weight in int8 differs by at most a 254th of the largest of its row", "[gemm][int8]") {
  for (const std::size_t columns : {1, 2, 7, 64, 65}) {
    Array values = random_array({5, columns}, columns);
    for (std::size_t i = 0; i < columns; ++i) values(1, i) *= Real(1e-30);
    for (std::size_t i = 0; i < columns; ++i) values(2, i) *= Real(1e30);
    const Array stored = values_of(int8_of(values));
    for (std::size_t r = 0; r < 5; ++r) {
      const Real largest = largest_of_row(values, r), half_step = largest / 254;
      INFO(columns << ' ' << r);
      CHECK(largest_of_row(stored, r) == Approx(largest).epsilon(1e-6));
      for (std::size_t i = 0; i < columns; ++i)
        CHECK(std::abs(stored(r, i) - values(r, i)) <= half_step * Real(1.0001));
    }
  }
}

TEST_CASE("rows of zeros and of the smallest numbers stay finite in int8", "[gemm][int8]") {
  const Real tiny = std::numeric_limits<Real>::denorm_min();
  const Array values = array_of({3, 2}, {0, 0, tiny, 0, -tiny, 3 * tiny});
  const Int8Matrix matrix = int8_of(values);
  CHECK(matrix.all_finite());
  for (const Real v : values_of(matrix)) CHECK(v == 0);  // the scale is too small for a Real
}

TEST_CASE("a matrix in int8 is the same, however it was set", "[gemm][int8]") {
  const Array values = random_array({5, 7}, 1);
  Int8Matrix in_pieces(5, 7);
  for (std::size_t i = 0; i < values.size(); i += 3)
    in_pieces.set(i, values.data() + i, std::min<std::size_t>(3, values.size() - i));
  CHECK(same_bits(values_of(in_pieces), values_of(int8_of(values))));
}

TEST_CASE("a product with a matrix in int8 is the product with the rounded matrix",
          "[gemm][int8]") {
  for (const std::size_t in : {1, 3, 65, 200})
    for (const std::size_t out : {1, 70, 1500})
      for (const std::size_t rows : {0, 1, 3, 8, 40}) {
        const Array x = random_array({rows, in}, 1);
        const Int8Matrix w = int8_of(random_array({out, in}, 2));
        INFO(in << ' ' << out << ' ' << rows);
        CHECK(difference(product(x, w),
                         matrix_product(x, Transpose::no, values_of(w), Transpose::yes),
                         2e-5) == "");
      }
}
