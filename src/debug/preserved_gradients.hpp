// preserved_gradients.hpp: PreservedGradients, which restores gradients after a gradient check.
#pragma once

#include <vector>

#include "heed/autograd/observer.hpp"

namespace HEED_NAMESPACE {

// Restores, when it is destroyed, the gradients of all leaves that a backward() on this thread has
// changed since it was made. Gradient checks use it: they leave the program's gradients as they
// are.
class PreservedGradients : Observer {
 public:
  PreservedGradients();
  ~PreservedGradients() override;
  PreservedGradients(const PreservedGradients&) = delete;
  PreservedGradients& operator=(const PreservedGradients&) = delete;

 private:
  struct Saved;
  void begin_pass(const NodeList& nodes) override;

  std::vector<Saved> saved_;
  ObserverScope scope_;
};

}  // namespace HEED_NAMESPACE
