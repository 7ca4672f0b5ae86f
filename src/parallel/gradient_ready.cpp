// gradient_ready.cpp: GradientReady, which reports each gradient as soon as it is complete.

#include "heed/parallel/gradient_ready.hpp"

namespace HEED_NAMESPACE {

template <class Visit>
static void each_leaf(const Node& node, const Visit& visit) {
  for (const auto& input : node.inputs)
    if (input != nullptr && input->requires_grad && input->depth == 0) visit(*input);
}

void GradientReady::begin_pass(const NodeList& nodes) {
  pending_.clear();
  for (const auto& node : nodes) each_leaf(*node, [&](Node& leaf) { ++pending_[&leaf]; });
}

void GradientReady::visited(const Node& node) {
  each_leaf(node, [&](Node& leaf) {
    if (--pending_.at(&leaf) == 0) ready_(leaf);
  });
}

}  // namespace HEED_NAMESPACE
