// exchange_test.cpp: the order of sums over shards and processes, and the exchange of gradients.

#include "heed/parallel/exchange.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "catch.hpp"
#include "heed/array/random.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"
#include "message_of.hpp"
#include "parallel/threads_as_ranks.hpp"

using namespace heed;
using heed::test::message_of;
using heed_test::run_ranks;

namespace {

// Arrays of which sums in different orders have different bits.
std::vector<Array> random_shards(std::size_t shards, std::size_t n) {
  Generator generator(5);
  std::vector<Array> result;
  for (std::size_t i = 0; i < shards; ++i) result.push_back(generator.normal({n}, 0, 1));
  return result;
}

bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

// ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), written down as the definition says.
Array tree_of(const std::vector<Array>& x, std::size_t begin, std::size_t count) {
  if (count == 1) return x[begin];
  const Array left = tree_of(x, begin, count / 2), right = tree_of(x, begin + count / 2, count / 2);
  return left + right;
}

Array sum_of(const std::vector<Array>& x, std::size_t begin, std::size_t count) {
  TreeSum sum;
  for (std::size_t i = begin; i + 1 < begin + count; ++i) sum.push(x[i]);
  return sum.finish(x[begin + count - 1]);
}

// Gives the parameter the gradient `dx`.
void backward_of(const Tensor& x, const Array& dx) { backward(x * Tensor(ones(x.shape())), dx); }

}  // namespace

TEST_CASE("a TreeSum adds in the order of the tree, again and again", "[parallel][processes]") {
  for (const std::size_t shards : {1, 2, 4, 8, 16}) {
    const std::vector<Array> x = random_shards(shards, 100);
    TreeSum sum;
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i + 1 < shards; ++i) sum.push(x[i]);
      CHECK(same_bits(sum.finish(x.back()), tree_of(x, 0, shards)));
    }
  }
  CHECK(tree_sum({1e16, 1, -1e16, 1}) == 0);  // (1e16 + 1) + (-1e16 + 1); in turn it would be 1
  CHECK(tree_sum({3}) == 3);
}

TEST_CASE("the sum over processes has the bits of the tree for any number of processes and size",
          "[parallel][processes]") {
  for (const std::size_t n : {1, 7, 1000, 1025, 70001}) {
    const std::vector<Array> x = random_shards(8, n);
    const Array expected = tree_of(x, 0, 8);
    for (const std::size_t processes : {1, 2, 4, 8}) {
      std::vector<int> equal(processes);
      run_ranks(processes, [&](Communicator& c) {
        const std::size_t own = 8 / processes;
        Array sum = sum_of(x, c.rank() * own, own);
        std::vector<Real> scratch(n);
        sum_over_processes(c, sum.data(), n, scratch.data());
        equal[c.rank()] = same_bits(sum, expected);
      });
      INFO(processes << " processes, " << n << " elements");
      CHECK(equal == std::vector<int>(processes, 1));
    }
  }
}

TEST_CASE("halving and doubling sends 2 (P - 1) / P of the elements", "[parallel][processes]") {
  const std::size_t n = 80000;
  for (const std::size_t processes : {2, 4, 8}) {
    std::vector<std::size_t> bytes(processes);
    run_ranks(processes, [&](Communicator& c) {
      std::vector<Real> x(n), scratch(n);
      bytes[c.rank()] = sum_over_processes(c, x.data(), n, scratch.data());
    });
    CHECK(bytes ==
          std::vector<std::size_t>(processes, 2 * (processes - 1) * n / processes * sizeof(Real)));
  }
}

TEST_CASE("a ring adds in another order, so its bits are others", "[parallel][processes]") {
  const std::vector<Array> x = random_shards(4, 1000);
  const Array tree = tree_of(x, 0, 4), ring = x[1] + x[2] + x[3] + x[0];
  CHECK_FALSE(same_bits(tree, ring));
}

TEST_CASE("the buckets and the overlap change no bit of the gradients", "[parallel][processes]") {
  const std::vector<std::size_t> sizes = {3000, 1, 500, 40000, 7, 900};
  const std::size_t processes = 4;
  std::vector<std::vector<Array>> shards(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) shards[i] = random_shards(processes, sizes[i]);
  for (const bool overlap : {false, true})
    for (const std::size_t bucket_bytes :
         {std::size_t{1}, std::size_t{3000}, std::size_t{1} << 30}) {
      std::vector<int> right(processes, 1);
      run_ranks(processes, [&](Communicator& c) {
        std::vector<Tensor> parameters;
        for (const std::size_t n : sizes) parameters.emplace_back(zeros({n}), true);
        GradientExchange exchange(parameters, c, {bucket_bytes, overlap});
        for (int step = 0; step < 3; ++step) {
          exchange.begin();
          for (const std::size_t i : {5, 3, 4, 0, 1, 2}) {  // not the order of the buckets
            backward_of(parameters[i], shards[i][c.rank()]);
            exchange.ready(i);
          }
          exchange.finish(Real{0.25});
          for (std::size_t i = 0; i < sizes.size(); ++i) {
            Array expected = tree_of(shards[i], 0, processes);
            for (Real& value : expected) value *= Real{0.25};
            if (!same_bits(parameters[i].grad(), expected)) right[c.rank()] = 0;
            parameters[i].clear_grad();
          }
        }
      });
      INFO("overlap " << overlap << ", buckets of " << bucket_bytes << " bytes");
      CHECK(right == std::vector<int>(processes, 1));
    }
}

namespace {

// Passes exchanges on, and remembers whether there was one.
class Watched : public Communicator {
 public:
  explicit Watched(Communicator& communicator) : communicator_(communicator) {}
  std::size_t rank() const override { return communicator_.rank(); }
  std::size_t size() const override { return communicator_.size(); }
  std::size_t local_size() const override { return communicator_.local_size(); }
  void exchange(std::size_t partner, const void* sent, std::size_t sent_bytes, void* received,
                std::size_t received_bytes) override {
    communicator_.exchange(partner, sent, sent_bytes, received, received_bytes);
    has_exchanged = true;
  }
  void abandon() override { communicator_.abandon(); }

  // Waits for an exchange, at most for this number of milliseconds.
  bool exchanges_within(int milliseconds) const {
    for (; milliseconds > 0 && !has_exchanged; --milliseconds)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return has_exchanged;
  }
  std::atomic<bool> has_exchanged{false};

 private:
  Communicator& communicator_;
};

}  // namespace

TEST_CASE("by default, 1 MB of gradients is sent before the last gradient is ready",
          "[parallel][processes]") {
  const std::size_t megabyte = (std::size_t{1} << 20) / sizeof(Real);
  for (const bool overlap : {true, false}) {
    std::vector<int> right(2);
    run_ranks(2, [&](Communicator& plain) {
      Watched c(plain);
      std::vector<Tensor> parameters;
      for (const std::size_t n : {std::size_t{5}, std::size_t{1}, megabyte - 1}) {
        parameters.emplace_back(zeros({n}), true);
        backward_of(parameters.back(), ones({n}));
      }
      ExchangeOptions options;
      if (!overlap) options.overlap = false;
      GradientExchange exchange(parameters, c, options);
      exchange.begin();
      exchange.ready(2);
      const bool sent_less = c.exchanges_within(20);
      exchange.ready(1);
      const bool sent_megabyte = c.exchanges_within(overlap ? 10'000 : 20);
      exchange.ready(0);
      exchange.finish(1);
      right[c.rank()] = !sent_less && sent_megabyte == overlap && c.has_exchanged;
    });
    INFO("overlap " << overlap);
    CHECK(right == std::vector<int>(2, 1));
  }
}

TEST_CASE("a gradient that is sent twice or not at all is an error", "[parallel][processes]") {
  const auto error_of = [](bool twice) {
    return message_of([&] {
      run_ranks(2, [&](Communicator& c) {
        std::vector<Tensor> parameters{Tensor(zeros({3}), true).set_name("a"),
                                       Tensor(zeros({3}), true).set_name("b")};
        for (const Tensor& p : parameters) backward_of(p, ones({3}));
        GradientExchange exchange(parameters, c, {});
        exchange.begin();
        exchange.ready(1);
        if (twice) exchange.ready(1);
        exchange.finish(1);
      });
    });
  };
  CHECK(error_of(true) == "GradientExchange: b was ready before; call begin");
  CHECK(error_of(false) == "GradientExchange: a has no gradient in this step");
}

TEST_CASE("every rank gets the values of each parameter from its owner", "[parallel][processes]") {
  const std::vector<std::size_t> owners = {1, 3, 0, 1, 2};
  std::vector<int> right(4);
  run_ranks(4, [&](Communicator& c) {
    std::vector<Tensor> parameters;
    for (std::size_t i = 0; i < owners.size(); ++i)
      parameters.emplace_back(zeros({i + 2}) + static_cast<Real>(c.rank() + 10 * i));
    GradientExchange exchange(parameters, c, {});
    exchange.share_values(owners);
    right[c.rank()] = 1;
    for (std::size_t i = 0; i < owners.size(); ++i)
      if (!same_bits(parameters[i].value(), zeros({i + 2}) + static_cast<Real>(owners[i] + 10 * i)))
        right[c.rank()] = 0;
  });
  CHECK(right == std::vector<int>(4, 1));
}
