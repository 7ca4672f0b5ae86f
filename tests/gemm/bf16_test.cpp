// bf16_test.cpp: tests of numbers and matrices in BF16.

#include "heed/gemm/bf16.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "heed/gemm/gemm.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

Bf16Matrix matrix_of(const Array& values) {
  Bf16Matrix matrix(values.shape()[0], values.shape()[1]);
  matrix.set(0, values.data(), values.size());
  return matrix;
}

Array rounded(const Array& values) {
  Array y = values;
  for (Real& v : y) v = static_cast<Real>(float_of_bf16(bf16_of_float(static_cast<float>(v))));
  return y;
}

Array product(const Array& x, const Bf16Matrix& weight) {
  Array y = uninitialized({x.shape()[0], weight.rows()});
  product_with_transposed(x.data(), x.shape()[0], weight, y.data());
  return y;
}

}  // namespace

TEST_CASE("bf16_of_float rounds to the nearest number, ties to even", "[gemm][bf16]") {
  const auto rounded_to = [](float x) { return float_of_bf16(bf16_of_float(x)); };
  CHECK(rounded_to(1 + 0x1p-8f) == 1);               // a tie: down to an even fraction
  CHECK(rounded_to(1 + 0x1.8p-7f) == 1 + 0x1p-6f);   // a tie: up to an even fraction
  CHECK(rounded_to(1 + 0x1.01p-8f) == 1 + 0x1p-7f);  // above a tie
  CHECK(rounded_to(1 + 0x1.7fp-7f) == 1 + 0x1p-7f);  // below a tie
  CHECK(rounded_to(-1 - 0x1.8p-7f) == -1 - 0x1p-6f);
  CHECK(rounded_to(0x1.ffp0f) == 2);          // a tie that carries into the exponent
  CHECK(rounded_to(0x1p-133f) == 0x1p-133f);  // the smallest subnormal number
  CHECK(rounded_to(0x1p-134f) == 0);          // a tie with zero
  CHECK(std::signbit(rounded_to(-0.0f)));
}

TEST_CASE("infinity and NaN stay what they are in BF16, and large numbers become infinite",
          "[gemm][bf16]") {
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(float_of_bf16(bf16_of_float(infinite)) == infinite);
  CHECK(float_of_bf16(bf16_of_float(-infinite)) == -infinite);
  CHECK(float_of_bf16(bf16_of_float(0x1.fefffep127f)) == 0x1.fep127f);  // below the last tie
  CHECK(float_of_bf16(bf16_of_float(0x1.ffp127f)) == infinite);
  for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u}) {
    float nan;
    std::memcpy(&nan, &bits, sizeof nan);
    CHECK(std::isnan(float_of_bf16(bf16_of_float(nan))));
  }
}

TEST_CASE("the rows of a matrix in BF16 hold the rounded values, however they were set",
          "[gemm][bf16]") {
  for (const std::size_t columns : {1, 2, 7, 64, 65}) {
    const Array values = random_array({5, columns}, columns);
    Bf16Matrix in_pieces(5, columns);
    for (std::size_t i = 0; i < values.size(); i += 3)
      in_pieces.set(i, values.data() + i, std::min<std::size_t>(3, values.size() - i));
    const Array expected = rounded(values);
    Array rows = zeros(values.shape());
    for (std::size_t r = 0; r < 5; ++r) in_pieces.copy_row(r, rows.data() + r * columns);
    INFO(columns);
    CHECK(same_bits(rows, expected));
  }
}

TEST_CASE("a product with a matrix in BF16 is the product with the rounded matrix",
          "[gemm][bf16]") {
  for (const std::size_t in : {1, 3, 65, 200})
    for (const std::size_t out : {1, 70, 1500})
      for (const std::size_t rows : {0, 1, 3, 8, 40}) {
        const Array x = random_array({rows, in}, 1), w = random_array({out, in}, 2);
        INFO(in << ' ' << out << ' ' << rows);
        CHECK(difference(product(x, matrix_of(w)),
                         matrix_product(x, Transpose::no, rounded(w), Transpose::yes), 2e-5) == "");
      }
}
