// limits.cpp: the speed of reading memory, and the time of a million nodes and of memory blocks of
// their size.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>

#include "commands/bench/bench.hpp"
#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"

namespace heed::app {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Sixteen floats, which the compiler adds with the widest instructions that it may use. heed's own
// sums would be slower than memory, because they are computed in double.
using Floats = float __attribute__((vector_size(64)));

float sum_of_floats(const Floats* x, std::size_t count) {
  Floats sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += x[i + k];
  for (; i < count; ++i) sums[0] += x[i];
  float sum = 0;
  for (const Floats& each : sums)
    for (std::size_t k = 0; k < 16; ++k) sum += each[k];
  return sum;
}

// The results that nobody prints are stored here, so that the compiler does not omit them.
std::atomic<float> sink;

constexpr std::size_t nodes = 1'000'000;

// Adds the milliseconds of one round. `x` is a scalar.
void time_nodes(const Tensor& x, std::vector<double>& forward, std::vector<double>& backward_pass) {
  const auto start = Clock::now();
  Tensor y = x;
  for (std::size_t i = 0; i < nodes; ++i) y = y + x;
  forward.push_back(ms_since(start));
  const auto middle = Clock::now();
  backward(y);
  backward_pass.push_back(ms_since(middle));
}

void time_blocks(std::vector<double>& writing, std::vector<double>& reading) {
  using Block = std::array<char, sizeof(Node)>;
  std::vector<std::unique_ptr<Block>> blocks(nodes);
  const auto start = Clock::now();
  for (auto& block : blocks) block = std::make_unique<Block>();  // zeros
  writing.push_back(ms_since(start));
  const auto middle = Clock::now();
  float sum = 0;
  for (auto& block : blocks) {
    for (std::size_t i = 0; i < block->size(); i += 64) sum += (*block)[i];  // each cache line
    block.reset();
  }
  sink = sum;
  reading.push_back(ms_since(middle));
}

}  // namespace

double read_gb_per_s(double bytes) {
  const std::vector<Floats> x(static_cast<std::size_t>(bytes / sizeof(Floats)) + 1);
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto start = Clock::now(); ms_since(start) < 100 || std::isinf(fastest);) {
    const auto begin = Clock::now();
    parallel_ranges(x.size(), 1, 1024, [&](std::size_t first, std::size_t end) {
      sink = sum_of_floats(x.data() + first, end - first);
    });
    fastest = std::min(fastest, ms_since(begin));
  }
  return 1e-6 * static_cast<double>(x.size() * sizeof(Floats)) / fastest;
}

double weight_bytes_per_token(const nn::GptConfig& model, std::size_t bytes_per_weight) {
  return static_cast<double>(bytes_per_weight * model.embed_dim *
                             (12 * model.layers * model.embed_dim + model.vocab_size));
}

NodeTimes measure_nodes(std::int64_t rounds) {
  std::vector<double> forward, backward_pass, writing, reading;
  for (std::int64_t round = 0; round < rounds; ++round) {
    time_nodes(Tensor(Array(1), true), forward, backward_pass);
    time_blocks(writing, reading);
  }
  return {percentiles_of(forward), percentiles_of(backward_pass), percentiles_of(writing),
          percentiles_of(reading)};
}

}  // namespace heed::app
