// compact_test.cpp: tests of what matrices in BF16 and in int8 share.

#include "heed/gemm/compact.hpp"

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

std::shared_ptr<CompactMatrix> compact_of(const Array& values, WeightType type) {
  CompactMatrices matrices;
  matrices.type = type;
  const auto matrix = matrices.make(values.shape()[0], values.shape()[1]);
  matrix->set(0, values.data(), values.size());
  return matrix;
}

Array product_of(const Array& x, const CompactMatrix& weight) {
  Array y = uninitialized({x.shape()[0], weight.rows()});
  product_with_transposed(x.data(), x.shape()[0], weight, y.data());
  return y;
}

}  // namespace

TEST_CASE("a product with a compact matrix has the same bits on any number of threads",
          "[gemm][bf16][int8]") {
  const int threads = num_threads();
  for (const WeightType type : {WeightType::bf16, WeightType::int8}) {
    const auto weight = compact_of(random_array({3000, 301}, 3), type);
    for (const std::size_t rows : {1, 5, 50}) {
      const Array x = random_array({rows, 301}, 4);
      set_num_threads(1);
      const Array one = product_of(x, *weight);
      for (const int n : {2, 3, 8}) {
        set_num_threads(n);
        CHECK(same_bits(product_of(x, *weight), one));
      }
    }
  }
  set_num_threads(threads);
}

TEST_CASE("all_finite finds infinity and NaN anywhere in a compact matrix", "[gemm][bf16][int8]") {
  for (const WeightType type : {WeightType::bf16, WeightType::int8})
    for (std::size_t at = 0; at < 6; ++at)
      for (const double bad : {infinity, -infinity, not_a_number}) {
        Array values = ones({2, 3});
        CHECK(compact_of(values, type)->all_finite());
        values.data()[at] = static_cast<Real>(bad);
        CHECK_FALSE(compact_of(values, type)->all_finite());
      }
}
