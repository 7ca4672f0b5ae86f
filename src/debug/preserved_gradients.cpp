// preserved_gradients.cpp: saves the gradients of leaves, and restores them.

#include "debug/preserved_gradients.hpp"

#include <utility>

namespace HEED_NAMESPACE {

// The gradient of a leaf before a backward pass.
struct PreservedGradients::Saved {
  std::shared_ptr<Node> leaf;
  Array grad;
  bool has_grad;
  std::vector<Contribution> contributions;
};

PreservedGradients::PreservedGradients() : scope_(*this) {}

PreservedGradients::~PreservedGradients() {
  for (auto saved = saved_.rbegin(); saved != saved_.rend(); ++saved) {  // the first state is last
    saved->leaf->grad = std::move(saved->grad);
    saved->leaf->has_grad = saved->has_grad;
    saved->leaf->contributions = std::move(saved->contributions);
  }
}

void PreservedGradients::begin_pass(const NodeList& nodes) {
  for (const auto& node : nodes)
    if (node->depth == 0) saved_.push_back({node, node->grad, node->has_grad, node->contributions});
}

}  // namespace HEED_NAMESPACE
