// head_kinds.cpp: how much a head does what heads are known for, such as looking one place back.

#include "heed/study/head_kinds.hpp"

#include <limits>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

bool previous_token(const std::int64_t*, std::size_t t, std::size_t s) { return s + 1 == t; }
bool first_token(const std::int64_t*, std::size_t t, std::size_t s) { return s == 0 && t > 0; }
bool same_symbol(const std::int64_t* symbols, std::size_t t, std::size_t s) {
  return s != t && symbols[s] == symbols[t];
}

// The sum of a row's shares for the places of this kind, and whether there are any.
struct RowSum {
  double sum = 0;
  bool any = false;
};

RowSum row_sum(const HeadKind& kind, const Real* shares, const std::int64_t* symbols, std::size_t t,
               std::size_t seen) {
  RowSum row;
  for (std::size_t s = 0; s < seen; ++s)
    if (kind.attends(symbols, t, s)) {
      row.sum += static_cast<double>(shares[s]);
      row.any = true;
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

// Rows of equal shares for all that is seen: (B, 1, T, T).
Array even_weights(std::size_t batch, std::size_t size, bool causal) {
  Array weights = zeros({batch, 1, size, size});
  for (std::size_t i = 0; i < batch * size; ++i) {
    const std::size_t seen = causal ? i % size + 1 : size;
    for (std::size_t s = 0; s < seen; ++s)
      weights.data()[i * size + s] = Real(1) / static_cast<Real>(seen);
  }
  return weights;
}

}  // namespace

const std::vector<HeadKind>& head_kinds() {
  static const std::vector<HeadKind> kinds = {{"previous token", previous_token},
                                              {"first token", first_token},
                                              {"same symbol", same_symbol}};
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
        const Real* const shares = weights.data() + ((b * H + h) * T + t) * T;
        const RowSum row = row_sum(kind, shares, tokens.data() + b * T, t, causal ? t + 1 : T);
        if (row.any) sum += row.sum, ++rows;
      }
    scores(h) = rows == 0 ? std::numeric_limits<Real>::quiet_NaN()
                          : static_cast<Real>(sum / static_cast<double>(rows));
  }
  return scores;
}

double uniform_score(const HeadKind& kind, const Indices& tokens, bool causal) {
  if (tokens.dimension() != 2) check_shapes({}, shape_of(tokens));
  const Array even = even_weights(tokens.shape()[0], tokens.shape()[1], causal);
  return static_cast<double>(head_scores(kind, even, tokens, causal)(0));
}

}  // namespace heed
