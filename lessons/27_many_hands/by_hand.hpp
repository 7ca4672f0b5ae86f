// by_hand.hpp: two processes that share a batch, and sums in several orders, for lesson 27.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "heed/parallel/shared_memory.hpp"
#include "lesson.hpp"

namespace heed {

inline bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

inline std::size_t count_different(const Array& a, const Array& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a.data()[i] == b.data()[i] ? 0 : 1;
  return count;
}

// Runs body() in `processes` processes: this one is rank 0, fork() makes the others. Each has its
// own memory, except for the mailboxes of the communicator.
inline void in_processes(std::size_t processes, const std::function<void(Communicator&)>& body) {
  SharedMemory memory(processes);
  for (std::size_t rank = 1; rank < processes; ++rank)
    if (fork() == 0) {
      SharedMemoryCommunicator communicator(memory, rank);
      body(communicator);
      _exit(0);  // ends the copy of this program
    }
  SharedMemoryCommunicator communicator(memory, 0);
  body(communicator);
  while (wait(nullptr) > 0) continue;  // until all copies have ended
}

// The gradient of the mean squared error of x W against y, with respect to W.
inline Array gradient_of(const Array& x, const Array& y, const Array& W) {
  const Tensor w(W, true);
  const Tensor difference = matmul(Tensor(x), w) - Tensor(y);
  mean(difference * difference).backward();
  return w.grad();
}

// Rows `begin` to `end` - 1 of x.
inline Array rows(const Array& x, std::size_t begin, std::size_t end) {
  return xt::view(x, xt::range(begin, end));
}

using Arrays = std::vector<Array>;

// Made-up gradients of 8 shards: products of random numbers.
inline Arrays random_gradients() {
  Generator g(8);
  Arrays x;
  for (int i = 0; i < 8; ++i)
    x.push_back(Array(g.uniform({1000}, -1, 1) * g.uniform({1000}, -1, 1)));
  return x;
}

// ((x0 + x1) + x2) + ...
inline Array sum_in_turn(const Arrays& x) {
  Array sum = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) sum = Array(sum + x[i]);
  return sum;
}

// (x0 + x1) + (x2 + x3): the sum of each half, then their sum.
inline Array sum_by_tree(const Arrays& x) {
  if (x.size() == 1) return x[0];
  const auto middle = x.begin() + std::ptrdiff_t(x.size() / 2);
  return Array(sum_by_tree(Arrays(x.begin(), middle)) + sum_by_tree(Arrays(middle, x.end())));
}

// Each of P ranks adds its own shards by the tree. Then the ranks exchange with rank XOR 1, XOR 2,
// XOR 4, ... and add. Returns the sum at each rank.
inline Arrays recursive_doubling(const Arrays& shards, std::size_t P) {
  Arrays sums;
  const auto own = std::ptrdiff_t(shards.size() / P);
  for (std::ptrdiff_t r = 0; r < std::ptrdiff_t(P); ++r)
    sums.push_back(sum_by_tree(Arrays(shards.begin() + r * own, shards.begin() + (r + 1) * own)));
  for (std::size_t distance = 1; distance < P; distance *= 2) {
    const Arrays before = sums;
    for (std::size_t r = 0; r < P; ++r) sums[r] = Array(before[r] + before[r ^ distance]);
  }
  return sums;
}

// A ring: each rank adds its own shards in turn. The array has P chunks. Chunk c travels from rank
// c around the ring, and each rank adds its own chunk to it.
inline Array ring(const Arrays& shards, std::size_t P) {
  Arrays own;
  const auto count = std::ptrdiff_t(shards.size() / P);
  for (std::ptrdiff_t r = 0; r < std::ptrdiff_t(P); ++r)
    own.push_back(
        sum_in_turn(Arrays(shards.begin() + r * count, shards.begin() + (r + 1) * count)));
  Array sum = own[0];
  for (std::size_t c = 0; c < P; ++c)
    for (std::size_t i = sum.size() * c / P; i < sum.size() * (c + 1) / P; ++i) {
      sum(i) = own[c](i);
      for (std::size_t step = 1; step < P; ++step) sum(i) += own[(c + step) % P](i);
    }
  return sum;
}

}  // namespace heed
