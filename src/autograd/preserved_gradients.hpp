// preserved_gradients.hpp: PreservedGradients, which keeps gradient checks from changing gradients.
#pragma once

#include <vector>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// Restores, when it is destroyed, the gradients of all leaves that a backward() on this thread has
// changed since it was made. Gradient checks use it: they leave the program's gradients as they
// are.
class PreservedGradients {
 public:
  PreservedGradients();
  ~PreservedGradients();
  PreservedGradients(const PreservedGradients&) = delete;
  PreservedGradients& operator=(const PreservedGradients&) = delete;
  static void save(const NodeList& nodes);  // called by backward() before it changes gradients

 private:
  struct Saved;
  std::vector<Saved> saved_;
  PreservedGradients* outer_;
};

}  // namespace HEED_NAMESPACE
