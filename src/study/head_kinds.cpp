// head_kinds.cpp: scores that identify previous-token, first-token and same-token heads.

#include "heed/study/head_kinds.hpp"

#include <limits>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

bool previous_token(const std::int64_t*, std::size_t t, std::size_t s) { return s + 1 == t; }
bool first_token(const std::int64_t*, std::size_t t, std::size_t s) { return s == 0 && t > 0; }
bool same_token(const std::int64_t* tokens, std::size_t t, std::size_t s) {
  return s != t && tokens[s] == tokens[t];
}

// The sum of a row's attention weights over the positions of a kind, and whether there are any.
struct RowScore {
  double sum = 0;
  bool has_positions = false;
};

RowScore row_score(const HeadKind& kind, const Real* weights, const std::int64_t* tokens,
                   std::size_t t, std::size_t num_visible) {
  RowScore row;
  for (std::size_t s = 0; s < num_visible; ++s)
    if (kind.attends(tokens, t, s)) {
      row.sum += static_cast<double>(weights[s]);
      row.has_positions = true;
    }
  return row;
}

void check_shapes(const Shape& weights, const Shape& tokens) {
  if (weights.size() == 4 && tokens.size() == 2 && weights[0] == tokens[0] &&
      weights[2] == tokens[1] && weights[3] == tokens[1])
    return;
  throw_error("head_scores: weights must be (B, H, T, T) and tokens (B, T), got ", str(weights),
              " and ", str(tokens));
}

// Uniform attention weights over the positions that are not masked: (B, 1, T, T).
Array uniform_weights(std::size_t batch, std::size_t size, bool causal) {
  Array weights = zeros({batch, 1, size, size});
  for (std::size_t i = 0; i < batch * size; ++i) {
    const std::size_t num_visible = causal ? i % size + 1 : size;
    for (std::size_t s = 0; s < num_visible; ++s)
      weights.data()[i * size + s] = Real(1) / static_cast<Real>(num_visible);
  }
  return weights;
}

}  // namespace

const std::vector<HeadKind>& head_kinds() {
  static const std::vector<HeadKind> kinds = {
      {"previous token", previous_token}, {"first token", first_token}, {"same token", same_token}};
  return kinds;
}

Array head_scores(const HeadKind& kind, const Array& weights, const Indices& tokens, bool causal) {
  check_shapes(shape_of(weights), shape_of(tokens));
  const std::size_t B = weights.shape()[0], H = weights.shape()[1], T = weights.shape()[2];
  Array scores = zeros({H});
  for (std::size_t h = 0; h < H; ++h) {
    double sum = 0;
    std::size_t rows = 0;
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t t = 0; t < T; ++t) {
        const Real* const row_weights = weights.data() + ((b * H + h) * T + t) * T;
        const RowScore row =
            row_score(kind, row_weights, tokens.data() + b * T, t, causal ? t + 1 : T);
        if (row.has_positions) sum += row.sum, ++rows;
      }
    scores(h) = rows == 0 ? std::numeric_limits<Real>::quiet_NaN()
                          : static_cast<Real>(sum / static_cast<double>(rows));
  }
  return scores;
}

double uniform_score(const HeadKind& kind, const Indices& tokens, bool causal) {
  if (tokens.dimension() != 2) check_shapes({}, shape_of(tokens));
  const Array weights = uniform_weights(tokens.shape()[0], tokens.shape()[1], causal);
  return static_cast<double>(head_scores(kind, weights, tokens, causal)(0));
}

}  // namespace HEED_NAMESPACE
