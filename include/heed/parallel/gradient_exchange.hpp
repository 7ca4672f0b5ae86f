// gradient_exchange.hpp: sums gradients over the processes of a run, while the backward pass
// computes further gradients.
#pragma once

#include <memory>
#include <vector>

#include "heed/autograd/tensor.hpp"
#include "heed/parallel/communicator.hpp"

namespace HEED_NAMESPACE {

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

// Sums gradients over processes. Parameters are sent in buckets, in the reverse order of their
// creation, which is about the order in which a backward pass completes their gradients. With
// `overlap`, a thread of its own sends each bucket when all its gradients are ready. Each element
// is summed by the tree of tree_sum.hpp, so the buckets do not change the bits.
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

  void begin();                   // starts a step; its previous step must be finished
  void ready(std::size_t index);  // the gradient of parameter `index` has its final local value
  // Waits until all sums are known and multiplies them by `scale`. Throws PeerLost, and Error if a
  // parameter was not ready.
  void finish(Real scale);

  // Collective: every rank gets the value of each parameter from owners[i], the rank that has
  // updated it.
  void share_values(const std::vector<std::size_t>& owners);

  const ExchangeStatistics& statistics() const;  // valid between finish() and begin()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace HEED_NAMESPACE
