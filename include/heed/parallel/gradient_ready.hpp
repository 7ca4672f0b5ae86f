// gradient_ready.hpp: GradientReady, which reports the gradients that a backward pass has
// completed.
#pragma once

#include <functional>
#include <unordered_map>

#include "heed/autograd/observer.hpp"

namespace HEED_NAMESPACE {

// Observes one backward pass, as BackwardOptions::observer. Calls ready(leaf) once for each leaf
// that requires a gradient, as soon as no later operation of the pass adds to its gradient.
// Data-parallel training sends gradients that are ready while the pass continues (Li et al. 2020,
// "PyTorch Distributed", section 3.2.3). An exception of `ready` ends the pass.
class GradientReady : public Observer {
 public:
  // Calls ready for each leaf.
  explicit GradientReady(std::function<void(Node& leaf)> ready) : ready_(std::move(ready)) {}
  void begin_pass(const NodeList& nodes) override;
  void visited(const Node& node) override;

 private:
  std::function<void(Node&)> ready_;
  // For each leaf, the number of operations whose backward has yet to add to its gradient.
  std::unordered_map<const Node*, std::size_t> pending_;
};

}  // namespace HEED_NAMESPACE
