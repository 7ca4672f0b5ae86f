// The factor is exp(new maximum - old maximum).
#include <algorithm>
#include <cmath>

#include "22_online_softmax.hpp"
#include "exercise.hpp"

using namespace heed;

void update(Row& row, const Array& scores, const Array& values) {
  Real maximum = row.maximum;
  for (const Real score : scores) maximum = std::max(maximum, score);
  if (std::isinf(maximum)) return;  // all keys so far are masked
  const Real rescale = std::exp(maximum - row.maximum);
  row.maximum = maximum;
  row.sum *= rescale;
  for (Real& element : row.output) element *= rescale;
  for (std::size_t s = 0; s < scores.size(); ++s) {
    const Real weight = std::exp(scores(s) - maximum);
    row.sum += weight;
    for (std::size_t d = 0; d < row.output.size(); ++d) row.output(d) += weight * values(s, d);
  }
}
