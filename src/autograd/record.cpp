// record.cpp: the part of linking and of passing gradients on that no operation's type changes.

#include "heed/autograd/record.hpp"

#include <algorithm>

#include "heed/array/error.hpp"
#include "heed/array/reduce.hpp"

namespace heed {

void accumulate(const Node& from, std::size_t i, Array part) {
  if (from.inputs[i] == nullptr || !from.inputs[i]->requires_grad) return;
  Node& input = *from.inputs[i];
  if (part.shape() != input.value.shape())
    refuse(from.op, ": backward gave a gradient of shape ", str(part.shape()), " for input ", i,
           " of shape ", str(input.value.shape()));
  if (input.has_grad) {
    add_to(input.grad, part);
  } else {
    input.grad = std::move(part);
    input.has_grad = true;
  }
}

bool links(const std::vector<std::shared_ptr<Node>>& inputs) {
  return grad_enabled() && std::any_of(inputs.begin(), inputs.end(), [](const auto& input) {
           return input != nullptr && input->requires_grad;
         });
}

Tensor finish(std::shared_ptr<Node> node, Array value, std::string_view op, Where where,
              std::vector<std::shared_ptr<Node>> inputs) {
  node->value = std::move(value);
  node->op = op;
  node->where = where;
  node->requires_grad = !inputs.empty();
  for (const auto& input : inputs)
    if (input != nullptr) node->depth = std::max(node->depth, input->depth + 1);
  node->inputs = std::move(inputs);
  return Tensor(std::move(node));
}

}  // namespace heed
