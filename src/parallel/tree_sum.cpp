// tree_sum.cpp: sums over shards and processes in the order of one binary tree.

#include "heed/parallel/tree_sum.hpp"

#include <utility>

#include "array/reduce.hpp"

namespace HEED_NAMESPACE {
namespace {

// Arrays up to this number of bytes are exchanged whole: the latency of a message counts more.
constexpr std::size_t short_bytes = 4096;

// The compiler vectorizes this loop. Each element has one addition, so its bits are the same.
void add(Real* to, const Real* part, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] += part[i];
}

std::size_t exchange(Communicator& communicator, std::size_t partner, const Real* sent,
                     std::size_t num_sent, Real* received, std::size_t num_received) {
  communicator.exchange(partner, sent, num_sent * sizeof(Real), received,
                        num_received * sizeof(Real));
  return num_sent * sizeof(Real);
}

// The range of parts that this rank is responsible for after `steps` halving steps.
struct PartRange {
  std::size_t begin, end;
  std::size_t middle() const { return (begin + end) / 2; }
};

PartRange range_after(const Communicator& communicator, std::size_t steps) {
  PartRange range{0, communicator.size()};
  for (std::size_t k = 0; k < steps; ++k)
    ((communicator.rank() >> k & 1) == 0 ? range.end : range.begin) = range.middle();
  return range;
}

// The other half of the range before step k, for which the partner is responsible after the step.
PartRange other_half(PartRange before, PartRange kept) {
  return kept.begin == before.begin ? PartRange{kept.end, before.end}
                                    : PartRange{before.begin, kept.begin};
}

std::vector<std::size_t> equal_parts(std::size_t n, std::size_t parts) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i <= parts; ++i) begins.push_back(n * i / parts);
  return begins;
}

// Recursive halving: in step k, a rank sends the half of its range that its partner keeps, and adds
// what it receives to its own half.
std::size_t reduce_parts(Communicator& communicator, Real* x,
                         const std::vector<std::size_t>& begins, Real* scratch) {
  std::size_t bytes = 0;
  for (std::size_t k = 0; std::size_t{1} << k < communicator.size(); ++k) {
    const std::size_t partner = communicator.rank() ^ std::size_t{1} << k;
    const PartRange kept = range_after(communicator, k + 1);
    const PartRange sent = other_half(range_after(communicator, k), kept);
    const std::size_t begin = begins[kept.begin], n = begins[kept.end] - begin;
    bytes += exchange(communicator, partner, x + begins[sent.begin],
                      begins[sent.end] - begins[sent.begin], scratch, n);
    add(x + begin, scratch, n);
  }
  return bytes;
}

std::size_t sum_short(Communicator& communicator, Real* x, std::size_t n, Real* scratch) {
  std::size_t bytes = 0;
  for (std::size_t distance = 1; distance < communicator.size(); distance *= 2) {
    bytes += exchange(communicator, communicator.rank() ^ distance, x, n, scratch, n);
    add(x, scratch, n);
  }
  return bytes;
}

}  // namespace

Array TreeSum::merged(Array x) {
  for (std::size_t level = 0; (count_ >> level & 1) != 0; ++level) add_to(x, levels_[level]);
  return x;
}

void TreeSum::push(Array x) {
  x = merged(std::move(x));
  std::size_t level = 0;
  while ((count_ >> level & 1) != 0) ++level;
  if (level == levels_.size()) levels_.push_back(undefined_array());
  levels_[level] = std::move(x);
  ++count_;
}

Array TreeSum::finish(Array x) {
  x = merged(std::move(x));
  count_ = 0;
  return x;
}

double tree_sum(std::vector<double> values) {
  for (std::size_t n = values.size(); n > 1; n /= 2)
    for (std::size_t i = 0; i < n / 2; ++i) values[i] = values[2 * i] + values[2 * i + 1];
  return values.at(0);
}

std::size_t sum_over_processes(Communicator& communicator, Real* x, std::size_t n, Real* scratch) {
  if (n * sizeof(Real) <= short_bytes) return sum_short(communicator, x, n, scratch);
  const std::vector<std::size_t> begins = equal_parts(n, communicator.size());
  const std::size_t bytes = reduce_parts(communicator, x, begins, scratch);
  return bytes + gather_parts(communicator, x, begins);
}

std::size_t gather_parts(Communicator& communicator, Real* x,
                         const std::vector<std::size_t>& begins) {
  std::size_t bytes = 0, steps = 0;
  while (std::size_t{1} << steps < communicator.size()) ++steps;
  for (std::size_t k = steps; k-- > 0;) {
    const std::size_t partner = communicator.rank() ^ std::size_t{1} << k;
    const PartRange own = range_after(communicator, k + 1);
    const PartRange other = other_half(range_after(communicator, k), own);
    bytes +=
        exchange(communicator, partner, x + begins[own.begin], begins[own.end] - begins[own.begin],
                 x + begins[other.begin], begins[other.end] - begins[other.begin]);
  }
  return bytes;
}

std::size_t owner_of_part(std::size_t i, std::size_t processes) {
  std::size_t owner = 0;
  for (std::size_t bit = 1; bit < processes; bit *= 2) owner = owner * 2 + ((i & bit) != 0 ? 1 : 0);
  return owner;
}

}  // namespace HEED_NAMESPACE
