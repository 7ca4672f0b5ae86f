// tree_sum.hpp: sums over shards and over processes, in the order of one binary tree, so that the
// bits of a sum do not depend on the number of processes.
//
// A run has S shards, a power of two. The tree adds shards 0 and 1, 2 and 3, ...; then these sums
// in pairs, and so on, log2 S times. Each of P processes (a power of two, at most S) owns S / P
// consecutive shards, which are a subtree. In the exchange between processes, the partner in step k
// is rank XOR 2^k: these steps are the upper levels of the same tree.
#pragma once

#include <vector>

#include "heed/array/array.hpp"
#include "heed/parallel/communicator.hpp"

namespace HEED_NAMESPACE {

// Sums arrays of the same shape, which are pushed in the order of the shards. Stores one array for
// each level of the tree, as a binary counter has digits.
class TreeSum {
 public:
  // Adds the next shard's array. The number of pushed arrays, including the one that finish() gets,
  // must be a power of two.
  void push(Array x);
  // The sum of all pushed arrays and of x, the last one. The TreeSum is empty afterwards.
  Array finish(Array x);
  void clear() { count_ = 0; }  // forgets the pushed arrays, as after a failed step

 private:
  Array merged(Array x);  // adds the sums of full levels to x

  std::vector<Array> levels_;  // levels_[k] is the sum of 2^k shards if bit k of count_ is set
  std::size_t count_ = 0;
};

// The sum of a power of two of values, by the same tree.
double tree_sum(std::vector<double> values);

// Collective: replaces x[0] to x[n - 1] by their sums over all ranks, by the upper levels of the
// tree. Short arrays are exchanged whole in each step (recursive doubling). Long ones are halved in
// each step, then gathered (recursive halving and doubling: Thakur, Rabenseifner and Gropp 2005,
// "Optimization of Collective Communication Operations in MPICH", section 4.5): 2 (P - 1) / P n
// elements are sent instead of n log2 P. Both add in the same order, so they give the same bits.
// `scratch` has space for n elements. Returns the number of bytes sent.
std::size_t sum_over_processes(Communicator& communicator, Real* x, std::size_t n, Real* scratch);

// Collective: gathers an array whose parts belong to the ranks. Part i, the elements from
// begins[i] to begins[i + 1], is valid at rank owner_of_part(i, P) before the call, and at every
// rank after it. `begins` has P + 1 entries. Returns the number of bytes sent.
std::size_t gather_parts(Communicator& communicator, Real* x,
                         const std::vector<std::size_t>& begins);

// The rank that owns part i of P: i with its log2 P bits in reverse order.
std::size_t owner_of_part(std::size_t i, std::size_t processes);

}  // namespace HEED_NAMESPACE
