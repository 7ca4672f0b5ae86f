// provenance.hpp: Provenance, which records the contributions to each gradient, and
// contributions().
#pragma once

#include <vector>

#include "heed/autograd/observer.hpp"

namespace HEED_NAMESPACE {

// Records the contributions that a backward pass adds to each gradient, for contributions() and the
// debuggers' command `heed why`. It observes one pass as BackwardOptions::observer, or with
// HEED_TRACE=provenance all passes.
class Provenance : public Observer {
 public:
  void add(const Node& from, std::size_t i, const Array& part) override;
};

// The recorded contributions to the gradient of x, in the order in which backward added them.
// clear_grad() removes them. Throws Error if x is undefined.
std::vector<Contribution> contributions(const Tensor& x,
                                        SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
