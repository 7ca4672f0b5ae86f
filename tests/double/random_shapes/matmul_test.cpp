// matmul_test.cpp: gradients of matmul and linear at random shapes.

#include "heed/ops/matmul.hpp"

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

Array matrices(Draw& d, Shape batch, std::size_t rows, std::size_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return d.values(batch);
}

// One operand or both may be a vector; otherwise (..., M, K) and (..., K, N).
std::vector<Array> factors(Draw& d) {
  const Shape whole = d.shape();
  if (d.rank == 1 && d.coin()) return {d.values(whole), d.values(whole)};
  if (d.rank == 1) return {d.values(whole), matrices(d, {}, whole[0], d.size())};
  const Shape batch(whole.begin(), whole.end() - 2);
  const std::size_t K = whole[d.rank - 1];
  std::size_t M = whole[d.rank - 2], N = d.size(numel(batch) * K);
  if (d.coin()) std::swap(M, N);
  if (d.below(6) == 0) return {matrices(d, batch, M, K), d.values({K})};
  if (d.below(6) == 0) return {d.values({K}), matrices(d, batch, K, N)};
  const auto [a, b] = d.pair(batch);
  return {matrices(d, a, M, K), matrices(d, b, K, N)};
}

Case matmul_case(Draw& d) {
  return {[](X x) { return matmul(x[0], x[1]); }, factors(d)};
}

Case linear_case(Draw& d) {
  const Shape shape = d.shape();
  const std::size_t out = d.size();
  std::vector<Array> inputs{d.values(shape), d.values({out, shape.back()})};
  if (d.coin()) inputs.push_back(d.values({out}));
  return {[](X x) { return linear(x[0], x[1], x.size() == 3 ? x[2] : Tensor()); }, inputs};
}

}  // namespace

Rows matmul_rows() { return {{"matmul", 1, 4, matmul_case}, {"linear", 1, 4, linear_case}}; }

TEST_CASE("the gradients of matmul and linear are right at random shapes",
          "[double][random_shapes][matmul]") {
  check(matmul_rows());
}

}  // namespace heed::test
