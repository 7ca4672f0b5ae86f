// embedding_test.cpp: gradients of embedding at random shapes.

#include "heed/ops/embedding.hpp"

#include <algorithm>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/shape.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

// embedding gives row padding_idx no gradient although the output depends on it. Subtracting that
// row, detached, from the output makes the output constant in the row: finite differences give 0.
Case embedding_case(Draw& d) {
  const Shape shape = d.shape();
  const std::size_t V = numel(shape) == 0 ? d.size() : 1 + d.below(max_size);
  const Indices indices = d.indices(shape, V);
  const Array table = d.values({V, d.size(V)});
  if (V == 0 || d.coin())
    return on(table, words("indices ", str(shape)), [=](T x) { return embedding(indices, x); });
  const auto padding = static_cast<std::int64_t>(d.below(V));
  Array padded = uninitialized(shape);
  std::transform(indices.begin(), indices.end(), padded.data(),
                 [=](std::int64_t i) { return i == padding ? 1 : 0; });
  return on(table, words("indices ", str(shape), ", padding_idx ", padding), [=](T x) {
    const Tensor read = embedding(indices, detach(x)) * unsqueeze(Tensor(padded), -1);
    return embedding(indices, x, padding) - read;
  });
}

}  // namespace

Rows embedding_rows() { return {{"embedding", 0, 4, embedding_case}}; }

TEST_CASE("the gradients of embedding are right at random shapes",
          "[double][random_shapes][embedding]") {
  check(embedding_rows());
}

}  // namespace heed::test
