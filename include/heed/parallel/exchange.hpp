// exchange.hpp: sums gradients over the shards and processes of a run, in the order of one binary
// tree, so that the bits of a sum do not depend on the number of processes.
//
// A run has S shards, a power of two. The tree adds shards 0 and 1, 2 and 3, ...; then these sums
// in pairs, and so on, log2 S times. Each of P processes (a power of two, at most S) owns S / P
// consecutive shards, which are a subtree. In the exchange between processes, the partner in step k
// is rank XOR 2^k: these steps are the upper levels of the same tree.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "heed/autograd/tensor.hpp"
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

 private:
  std::vector<Array> levels_;  // levels_[k] is the sum of 2^k shards if bit k of count_ is set
  std::size_t count_ = 0;
};

// The sum of a power of two of values, by the same tree.
double tree_sum(std::vector<double> values);

// Collective: replaces x[0] to x[n - 1] by their sums over all ranks, by the upper levels of the
// tree. The array is halved in each step, then gathered (recursive halving and doubling: Thakur,
// Rabenseifner and Gropp 2005, "Optimization of Collective Communication Operations in MPICH",
// section 4.5): 2 (P - 1) / P n elements are sent. `scratch` has space for n elements. Returns the
// number of bytes sent.
std::size_t sum_over_processes(Communicator& communicator, Real* x, std::size_t n, Real* scratch);

// Options of a GradientExchange. They change the time of a step, and no bit of its result.
struct ExchangeOptions {
  std::size_t bucket_bytes = std::size_t{1} << 20;  // gradients are sent in buckets of this size
  bool overlap = true;                              // send while the backward pass continues
};

// What the exchange has done since the start of the run.
struct ExchangeStatistics {
  double bytes_sent = 0;        // bytes of gradients and weights sent by this process
  double exchange_seconds = 0;  // time spent exchanging and adding
  double waiting_seconds = 0;   // time for which the training thread waited for the exchange
};

// Sums gradients over processes, while the backward pass computes further gradients. Parameters are
// sent in buckets, in the reverse order of their creation, which is about the order in which a
// backward pass completes their gradients. With `overlap`, a thread of its own sends each bucket
// when all its gradients are ready. The buckets do not change the order of any sum.
//
//   begin();  ready(i) for each parameter i, once, in any order;  finish(1.0 / shards);
class GradientExchange {
 public:
  // The communicator must outlive this object and have more than one process.
  GradientExchange(std::vector<Tensor> parameters, Communicator& communicator,
                   const ExchangeOptions& options);
  // Stops the thread. If a step is not finished, calls Communicator::abandon().
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  void begin();                   // starts a step; the previous step must be finished
  void ready(std::size_t index);  // the gradient of parameter `index` has its final local value
  // Waits until all sums are known and multiplies them by `scale`. Throws PeerLost, and Error if a
  // parameter was not ready.
  void finish(Real scale);

  // Collective: every rank gets the value of each parameter from owners[i], the rank that has
  // updated it.
  void share_values(const std::vector<std::size_t>& owners);

  // What was exchanged so far. Call it between steps.
  const ExchangeStatistics& statistics() const { return statistics_; }

 private:
  // Where the gradient of a parameter is in the buffer.
  struct Segment {
    std::size_t begin, bucket;
    bool ready = false;
  };
  // Consecutive segments of the buffer, which are sent together.
  struct Bucket {
    std::size_t begin, size = 0;
    std::size_t parameters = 0, missing = 0;  // number of parameters; number not yet ready
  };

  void make_buckets();
  void send(const Bucket& bucket);
  void run_thread();
  void wait_for_sums();

  std::vector<Tensor> parameters_;
  Communicator& communicator_;
  const ExchangeOptions options_;
  std::vector<Segment> segments_;  // one segment for each parameter
  std::vector<Bucket> buckets_;
  std::vector<Real> buffer_, scratch_;
  ExchangeStatistics statistics_;
  bool in_step_ = false;

  // The members below are shared with the thread and guarded by the mutex.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t complete_ = 0;  // the first complete_ buckets may be sent
  std::size_t sent_ = 0;      // the first sent_ buckets are summed
  bool stop_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace HEED_NAMESPACE
