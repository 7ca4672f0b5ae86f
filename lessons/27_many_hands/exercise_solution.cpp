// 27 ring: an all-reduce on a ring of ranks, which is wrong in one place.
//
// `ranks` has one array for each of P ranks, all of the same size n. Afterwards each rank must have
// the sum of all arrays. Each array has P chunks; chunk c has the elements from n c / P to
// n (c + 1) / P - 1. In each step every rank sends one chunk to the next rank of the ring (the last
// one to rank 0), all at the same time (Patarasuk and Yuan 2009, "Bandwidth Optimal All-reduce
// Algorithms for Clusters of Workstations", section 3).
//
//   reduce-scatter, P - 1 steps: the receiver adds the chunk to its own. Afterwards rank r has the
//                                complete sum of chunk r + 1 (of chunk 0 if r is the last rank)
//   all-gather, P - 1 steps:     the receiver replaces its own chunk, which was not complete
//
// As handed out, the ring is wrong in one place.

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
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
      for (std::size_t i = n * c / P; i < n * (c + 1) / P; ++i) ranks[(r + 1) % P](i) = sent[r](i);
    }
  }
}
// Your part ends here.
