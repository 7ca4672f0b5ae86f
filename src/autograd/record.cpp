// record.cpp: records results in the autograd graph and accumulates gradients.

#include "heed/autograd/record.hpp"

#include <algorithm>

#include "array/reduce.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

void accumulate(const Node& from, std::size_t i, Array part) {
  if (from.inputs[i] == nullptr || !from.inputs[i]->requires_grad) return;
  Node& input = *from.inputs[i];
  if (part.shape() != input.value.shape())
    throw_error(from.op, ": backward gave a gradient of shape ", str(part.shape()), " for input ",
                i, " of shape ", str(input.value.shape()));
  if (input.has_grad && input.grad.shape() != part.shape())
    throw_error(from.op, ": the gradient of input ", i, " has the shape ", str(input.grad.shape()),
                " of an earlier value; clear it with zero_grad first");
  observe(&Observer::add, from, i, part);
  if (input.has_grad) {
    add_to(input.grad, part);
  } else {
    input.grad = std::move(part);
    input.has_grad = true;
  }
}

void check_number_of_gradients(const Node& node, std::size_t returned) {
  if (returned != node.inputs.size())
    throw_error(node.op, ": backward gave ", returned, " gradients for ", node.inputs.size(),
                " inputs; return one for each input");
}

void check_inputs(std::string_view op, const NodeList& inputs) {
  if (!inputs.empty() && inputs[0] == nullptr)
    throw_error(op, ": the first input is an undefined tensor; construct it with a value first");
  for (const auto& input : inputs)
    if (input != nullptr && input->version != 0) check_shape_is_kept(op, *input);
}

bool needs_grad(const NodeList& inputs) {
  return grad_enabled() && std::any_of(inputs.begin(), inputs.end(), [](const auto& input) {
           return input != nullptr && input->requires_grad;
         });
}

Tensor finish(std::shared_ptr<Node> node, std::string_view op, SourceLocation location,
              NodeList inputs) {
  node->op = op;
  node->location = location;
  node->requires_grad = !inputs.empty();
  for (const auto& input : inputs) {
    node->input_versions.push_back(input == nullptr ? 0 : input->version);
    if (input != nullptr) node->depth = std::max(node->depth, input->depth + 1);
  }
  node->inputs = std::move(inputs);
  return Tensor(std::move(node));
}

}  // namespace HEED_NAMESPACE
