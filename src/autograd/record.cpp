// record.cpp: the part of linking and of passing gradients on that no operation's type changes.

#include "heed/autograd/record.hpp"

#include <algorithm>
#include <cmath>

#include "autograd/trace/backward_trace.hpp"
#include "heed/array/lines.hpp"
#include "heed/array/reduce.hpp"
#include "heed/base/error.hpp"

namespace heed {

static thread_local bool keeps_provenance = false;

ProvenanceGuard::ProvenanceGuard(bool keep) : before_(keeps_provenance) { keeps_provenance = keep; }
ProvenanceGuard::~ProvenanceGuard() { keeps_provenance = before_; }

static double norm(const Array& x) { return std::sqrt(dot_of(x.data(), x.data(), x.size())); }

void accumulate(const Node& from, std::size_t i, Array part) {
  if (from.inputs[i] == nullptr || !from.inputs[i]->requires_grad) return;
  Node& input = *from.inputs[i];
  if (part.shape() != input.value.shape())
    throw_error(from.op, ": backward gave a gradient of shape ", str(part.shape()), " for input ",
                i, " of shape ", str(input.value.shape()));
  trace_part(from, i, part);
  if (keeps_provenance)
    input.contributions.push_back({std::string(from.op), from.name, from.location, norm(part)});
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

Tensor finish(std::shared_ptr<Node> node, Array value, std::string_view op, SourceLocation location,
              std::vector<std::shared_ptr<Node>> inputs) {
  node->value = std::move(value);
  node->op = op;
  node->location = location;
  node->requires_grad = !inputs.empty();
  for (const auto& input : inputs)
    if (input != nullptr) node->depth = std::max(node->depth, input->depth + 1);
  node->inputs = std::move(inputs);
  return Tensor(std::move(node));
}

}  // namespace heed
