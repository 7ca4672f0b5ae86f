// 23 online_softmax: update a softmax-weighted sum with a new block of keys.
//
// Online softmax reads the keys of one query in blocks (Milakov and Gimelshein 2018; Dao 2023,
// "FlashAttention-2", section 3.1). It keeps three things of the keys so far:
//
//   row.maximum   the largest score, at first minus infinity
//   row.sum       the sum of exp(score - row.maximum), at first 0
//   row.output    the sum of exp(score - row.maximum) * value, (d_v), at first zeros
//
// `update` adds a block: scores (b) and values (b, d_v), one row for each key. The attention of the
// query is row.output / row.sum after the last block. Scores may be as large as 100000. A score of
// minus infinity means that the key is masked, so that it must not change anything, even if its
// value is NaN or infinite. All keys of a block may be masked, also those of the first block, and a
// block may be empty. Calls for several rows may alternate, so keep nothing in static variables. Row
// is declared in lessons/23_what_attention_costs/online_softmax.hpp.
//
// As handed out, update subtracts no maximum.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "online_softmax.hpp"

using namespace heed;

// Your part begins here.
void update(Row& row, const Array& scores, const Array& values) {
  Real maximum = row.maximum;
  for (const Real score : scores) maximum = std::max(maximum, score);
  if (std::isinf(maximum)) return;  // all keys so far are masked
  const Real rescale = std::exp(row.maximum - maximum);
  row.maximum = maximum;
  row.sum *= rescale;
  for (Real& element : row.output) element *= rescale;
  for (std::size_t s = 0; s < scores.size(); ++s) {
    if (std::isinf(scores(s))) continue;  // 0 * value is NaN if the value is NaN or infinite
    const Real weight = std::exp(scores(s) - maximum);
    row.sum += weight;
    for (std::size_t d = 0; d < row.output.size(); ++d) row.output(d) += weight * values(s, d);
  }
}
// Your part ends here.
