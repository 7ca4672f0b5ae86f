// Only rank 0 gets all chunks.
#include "exercise.hpp"

using namespace heed;

void all_reduce(std::vector<Array>& ranks) {
  const std::size_t P = ranks.size(), n = ranks[0].size();
  for (std::size_t step = 0; step + 1 < P; ++step) {  // reduce-scatter
    const std::vector<Array> sent = ranks;
    for (std::size_t r = 0; r < P; ++r) {
      const std::size_t c = (r + P - step) % P;
      for (std::size_t i = n * c / P; i < n * (c + 1) / P; ++i) ranks[(r + 1) % P](i) += sent[r](i);
    }
  }
  for (std::size_t step = 0; step + 1 < P; ++step) {  // all-gather
    const std::vector<Array> sent = ranks;
    for (std::size_t r = 0; r < P; ++r) {
      const std::size_t c = (r + 1 + P - step) % P;
      for (std::size_t i = n * c / P; i < n * (c + 1) / P; ++i)
        if ((r + 1) % P == 0) ranks[0](i) = sent[r](i);
    }
  }
}
