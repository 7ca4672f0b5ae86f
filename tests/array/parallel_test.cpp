// parallel_test.cpp: chunks of parallel loops; results for different numbers of threads.

#include "heed/array/parallel.hpp"

#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include "catch.hpp"
#include "heed/gemm/gemm_choice.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/softmax.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using Ranges = std::set<std::pair<std::size_t, std::size_t>>;
using X = const std::vector<Tensor>&;

// Sets the number of threads, and restores it in the destructor.
struct Threads {
  explicit Threads(int n) : before(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before;
};

Ranges chunks(std::size_t n, std::size_t grain) {
  Ranges found;
  std::mutex mutex;
  parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard lock(mutex);
    found.emplace(begin, end);
  });
  return found;
}

// Whether f's value and the gradients of its inputs have the same bits with 1 to 7 threads.
bool same_for_all_threads(const Function& f, const std::vector<Array>& inputs) {
  std::vector<std::vector<Array>> results;
  for (const int n : {1, 2, 3, 4, 7}) {
    const Threads threads(n);
    std::vector<Tensor> leaves;
    for (const Array& input : inputs) leaves.emplace_back(input, true);
    const Tensor y = f(leaves);
    backward(y, random_array(y.shape(), 9));
    results.push_back({y.value()});
    for (const Tensor& leaf : leaves) results.back().push_back(leaf.grad());
  }
  for (const std::vector<Array>& other : results)
    for (std::size_t i = 0; i < other.size(); ++i)
      if (!same_bits(results[0][i], other[i])) return false;
  return true;
}

}  // namespace

TEST_CASE("all chunks but the last have `grain` iterations, on any number of threads",
          "[array][parallel]") {
  for (const int n : {1, 2, 4}) {
    const Threads threads(n);
    CHECK(chunks(10, 4) == Ranges{{0, 4}, {4, 8}, {8, 10}});
    CHECK(chunks(8, 4) == Ranges{{0, 4}, {4, 8}});
    CHECK(chunks(3, 100) == Ranges{{0, 3}});
    CHECK(chunks(1, 1) == Ranges{{0, 1}});
    CHECK(chunks(0, 4).empty());
    CHECK(chunks(1000, 1).size() == 1000);
  }
}

TEST_CASE("parallel_ranges makes one range per thread, none shorter than half a grain",
          "[array][parallel]") {
  const auto ranges = [](std::size_t n, std::size_t grain) {
    Ranges found;
    std::mutex mutex;
    parallel_ranges(n, grain, grain, [&](std::size_t begin, std::size_t end) {
      const std::lock_guard lock(mutex);
      found.emplace(begin, end);
    });
    return found;
  };
  {
    const Threads threads(1);
    CHECK(ranges(100, 24) == Ranges{{0, 100}});
  }
  const Threads threads(3);
  CHECK(ranges(100, 24) == Ranges{{0, 24}, {24, 72}, {72, 100}});
  CHECK(ranges(71, 24) == Ranges{{0, 24}, {24, 71}});
  CHECK(ranges(47, 24) == Ranges{{0, 47}});
  CHECK(ranges(10, 24) == Ranges{{0, 10}});
  for (std::size_t n = 48; n < 400; ++n) {
    std::size_t end = 0;
    for (const auto& [from, to] : ranges(n, 24)) {
      CHECK(from == end);
      CHECK(to >= from + 12);
      end = to;
    }
    CHECK(end == n);
  }
}

TEST_CASE("the number of threads is 1 to 1024", "[array][parallel]") {
  const Threads threads(3);
  CHECK(num_threads() == 3);
  CHECK(message_of([] { set_num_threads(0); }) == "set_num_threads: 0 is not in 1 to 1024");
  CHECK(message_of([] { set_num_threads(-2); }) == "set_num_threads: -2 is not in 1 to 1024");
  CHECK(message_of([] { set_num_threads(1025); }) == "set_num_threads: 1025 is not in 1 to 1024");
  CHECK(num_threads() == 3);
  for (const int limit : {1024, 1}) {
    set_num_threads(limit);
    CHECK(num_threads() == limit);
  }
}

TEST_CASE("products have the same bits for 1 to 7 threads", "[array][parallel][threads]") {
  const Function product = [](X x) { return matmul(x[0], x[1]); };
  CHECK(same_for_all_threads(product, {random_array({700, 130}, 1), random_array({130, 150}, 2)}));
  CHECK(same_for_all_threads(product,
                             {random_array({24, 65, 33}, 1), random_array({24, 33, 129}, 2)}));
  for (const std::size_t rows : {97u, 391u, 1001u})
    for (const std::size_t columns : {65u, 257u}) {
      const std::size_t inner = 300 - rows % 7;
      CHECK(same_for_all_threads(
          product, {random_array({rows, inner}, 1), random_array({inner, columns}, 2)}));
    }
  const Function layer = [](X x) { return linear(x[0], x[1], x[2]); };
  CHECK(same_for_all_threads(layer, {random_array({12, 64, 128}, 1), random_array({512, 128}, 2),
                                     random_array({512}, 3)}));
}

TEST_CASE("products by every installed library have the same bits for 1 to 7 threads",
          "[array][parallel][threads]") {
  const Function layer = [](X x) { return linear(x[0], x[1]); };
  for (const GemmLibrary library : all_gemm_libraries) {
    if (!is_installed(library)) continue;
    INFO(name_of(library));
    set_gemm_choice(GemmChoice(library));
    for (const std::size_t rows : {96u, 231u, 768u, 1100u})
      for (const auto& [in, out] : {std::pair{128u, 512u}, {512u, 128u}, {130u, 65u}})
        CHECK(
            same_for_all_threads(layer, {random_array({rows, in}, 1), random_array({out, in}, 2)}));
    set_gemm_choice(GemmChoice());
  }
}

TEST_CASE("sums have the same bits for 1 to 7 threads", "[array][parallel][threads]") {
  const std::vector<Array> x{random_array({70, 40, 50}, 1)};
  for (const AxisList& axes : {AxisList{}, AxisList{0}, AxisList{1}, AxisList{2}, AxisList{0, 2}})
    CHECK(same_for_all_threads([&](X in) { return sum(in[0], axes); }, x));
}

TEST_CASE("elementwise operations have the same bits for 1 to 7 threads",
          "[array][parallel][threads]") {
  const Function row = [](X x) { return exp(x[0]) * x[1] + x[1]; };
  CHECK(same_for_all_threads(row, {random_array({500, 130}, 1), random_array({130}, 2)}));
}

TEST_CASE("softmax and cross entropy have the same bits for 1 to 7 threads",
          "[array][parallel][threads]") {
  for (const int axis : {0, 1})
    CHECK(same_for_all_threads([=](X x) { return softmax(x[0], axis); },
                               {random_array({768, 64}, 1)}));
  std::vector<std::int64_t> targets(768);
  for (std::size_t i = 0; i < 768; ++i) targets[i] = static_cast<std::int64_t>(i * 7 % 65);
  CHECK(same_for_all_threads([&](X x) { return cross_entropy(x[0], indices_of({768}, targets)); },
                             {random_array({768, 65}, 1)}));
}

TEST_CASE("layer norm has the same bits for 1 to 7 threads", "[array][parallel][threads]") {
  CHECK(same_for_all_threads(
      [](X x) { return layer_norm(x[0], {96}, x[1], x[2]); },
      {random_array({500, 96}, 1), random_array({96}, 2), random_array({96}, 3)}));
}

TEST_CASE("attention has the same bits for 1 to 7 threads", "[array][parallel][threads]") {
  for (const bool causal : {false, true}) {
    AttentionOptions options;
    options.causal = causal;
    options.num_heads = 4;
    const Shape shape{6, 70, 64};
    CHECK(same_for_all_threads(
        [&](X x) { return scaled_dot_product_attention(x[0], x[1], x[2], options); },
        {random_array(shape, 1), random_array(shape, 2), random_array(shape, 3)}));
  }
}
