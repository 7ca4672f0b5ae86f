// tensor.cpp: tensors and the nodes of the autograd graph.

#include "heed/autograd/tensor.hpp"

#include <atomic>
#include <iterator>
#include <utility>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

static std::atomic<std::size_t> num_nodes{0};
static thread_local bool recording = true;

std::string str(SourceLocation location) {
  return std::string(location.file) + ":" + std::to_string(location.line);
}

std::size_t live_nodes() { return num_nodes; }

Node::Node() { ++num_nodes; }

// If each destructor freed its node's inputs, freeing a long chain of nodes would recurse deeply.
// Instead, ~Node moves the inputs of every node to one list before it frees the node.
Node::~Node() {
  --num_nodes;
  NodeList unreferenced = std::move(inputs);
  while (!unreferenced.empty()) {
    const std::shared_ptr<Node> node = std::move(unreferenced.back());
    unreferenced.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    unreferenced.insert(unreferenced.end(), std::make_move_iterator(node->inputs.begin()),
                        std::make_move_iterator(node->inputs.end()));
    node->inputs.clear();
  }
}

Tensor::Tensor(Array value, bool requires_grad, SourceLocation location)
    : node_(std::make_shared<Node>()) {
  node_->value = std::move(value);
  node_->requires_grad = requires_grad;
  node_->location = location;
}

void Tensor::throw_undefined() {
  throw_error("the tensor is undefined; construct it with a value first");
}

std::size_t Tensor::size(int axis) const {
  if (dim() == 0) throw_error("size: ", describe(*this, "x"), " has no axes");
  return shape()[checked_axis("size", shape(), axis, name_or(*this, "x"))];
}

Real Tensor::item() const {
  if (value().size() != 1) throw_error("item: needs exactly one element: ", describe(*this, "x"));
  return value().data()[0];
}

const Array& Tensor::grad() const {
  if (!has_grad())
    throw_error(
        "grad: ", describe(*this, "x"), " has no gradient yet",
        requires_grad() ? "; call backward first" : "; it was made with requires_grad = false");
  return checked().grad;
}

void Tensor::clear_grad() {
  checked().grad = undefined_array();
  checked().has_grad = false;
  checked().contributions.clear();
}

Tensor& Tensor::set_name(std::string name) & {
  checked().name = std::move(name);
  return *this;
}

std::string describe(const Tensor& x, std::string_view role) {
  if (!x.defined()) return std::string(role) + " (not given)";
  return name_or(x, role) + " " + str(x.shape());
}

std::string name_or(const Tensor& x, std::string_view role) {
  return x.name().empty() ? std::string(role) : x.name();
}

Tensor detach(const Tensor& x, SourceLocation location) {
  return Tensor(x.value(), false, location).set_name(x.name());
}

NoGrad::NoGrad() : previous_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = previous_; }
bool grad_enabled() { return recording; }

}  // namespace HEED_NAMESPACE
