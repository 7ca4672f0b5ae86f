// tensor.cpp: nodes come and go, and say who they are.

#include "heed/autograd/tensor.hpp"

#include <atomic>
#include <iterator>
#include <utility>

#include "heed/base/error.hpp"

namespace heed {
namespace {

std::atomic<std::size_t> alive{0};
thread_local bool linking = true;

std::shared_ptr<Node> make_leaf(Array value, bool requires_grad, SourceLocation location) {
  auto node = std::make_shared<Node>();
  node->value = std::move(value);
  node->requires_grad = requires_grad;
  node->location = location;
  return node;
}

}  // namespace

std::string str(SourceLocation location) {
  return std::string(location.file) + ":" + std::to_string(location.line);
}

std::size_t live_nodes() { return alive; }

Node::Node() { ++alive; }

// The last handle to the end of a chain would free the chain by recursion, one stack frame a node.
// Instead the inputs are collected here and freed one by one, each already without inputs.
Node::~Node() {
  --alive;
  std::vector<std::shared_ptr<Node>> doomed = std::move(inputs);
  while (!doomed.empty()) {
    const std::shared_ptr<Node> node = std::move(doomed.back());
    doomed.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    doomed.insert(doomed.end(), std::make_move_iterator(node->inputs.begin()),
                  std::make_move_iterator(node->inputs.end()));
    node->inputs.clear();
  }
}

Tensor::Tensor(Array value, bool requires_grad, SourceLocation location)
    : node_(make_leaf(std::move(value), requires_grad, location)) {}

void Tensor::throw_undefined() {
  throw_error("a tensor that was not given has no value; make one first");
}

std::size_t Tensor::size(int axis) const {
  if (dim() == 0) throw_error("size: ", describe(*this, "x"), " has no axes");
  return shape()[checked_axis("size", shape(), axis, name().empty() ? "x" : name())];
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

const Tensor& Tensor::named(std::string name) const {
  checked().name = std::move(name);
  return *this;
}

std::string describe(const Tensor& x, std::string_view role) {
  if (!x.defined()) return std::string(role) + " (not given)";
  const std::string& name = x.name();
  return (name.empty() ? std::string(role) : name) + " " + str(x.shape());
}

Tensor detach(const Tensor& x, SourceLocation location) {
  return Tensor(x.value(), false, location).named(x.name());
}

NoGrad::NoGrad() : before_(linking) { linking = false; }
NoGrad::~NoGrad() { linking = before_; }
bool grad_enabled() { return linking; }

}  // namespace heed
