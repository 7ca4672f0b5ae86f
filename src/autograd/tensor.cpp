// tensor.cpp: tensors and the nodes of the autograd graph.

#include "heed/autograd/tensor.hpp"

#include <atomic>
#include <iterator>
#include <ostream>
#include <utility>

#if __has_include(<xtensor/io/xio.hpp>)  // xtensor 0.26 and later
#include <xtensor/io/xio.hpp>
#else
#include <xtensor/xio.hpp>
#endif

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

static std::atomic<std::size_t> num_nodes{0};
static thread_local std::size_t num_no_grads = 0;  // NoGrad objects of this thread

std::size_t live_nodes() { return num_nodes; }

Node::Node(Array result) : value(std::move(result)) { ++num_nodes; }

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

Tensor::Tensor(Array value, Bool requires_grad, SourceLocation location)
    : node_(make_node<Node>(std::move(value))) {
  node_->requires_grad = requires_grad;
  node_->location = location;
}

void Tensor::throw_undefined(SourceLocation location) {
  const CallSite site(location);
  throw_error("the tensor is undefined; construct it with a value first");
}

std::size_t Tensor::size(int axis, SourceLocation location) const {
  const CallSite site(location);
  if (dim() == 0) throw_error("size: ", describe(*this, "x"), " has no axes");
  return shape()[checked_axis("size", *this, axis)];
}

Real Tensor::item(SourceLocation location) const {
  const CallSite site(location);
  if (value().size() != 1) throw_error("item: needs exactly one element: ", describe(*this, "x"));
  return value().data()[0];
}

void check_shape_is_kept(std::string_view op, const Node& leaf) {
  if (leaf.kept_shape == nullptr || *leaf.kept_shape == leaf.value.shape()) return;
  throw_error(op, ": ", leaf.name.empty() ? "a tensor" : printable(leaf.name), " ",
              str(*leaf.kept_shape), " has the shape ", str(leaf.value.shape()), " since ",
              "mutable_value() at ", str(leaf.changed_at),
              "; assign an array of its shape, or call ", "fill");
}

Array& Tensor::mutable_value(SourceLocation location) const {
  const CallSite site(location);
  Node& node = checked(location);
  if (node.depth > 0)
    throw_error("mutable_value: ", describe(*this, "x"), " is the result of ", node.op, " made at ",
                str(node.location), "; change a detached copy");
  check_shape_is_kept("mutable_value", node);
  if (node.kept_shape == nullptr) node.kept_shape = std::make_unique<Shape>(node.value.shape());
  ++node.version;
  node.changed_at = location;
  return node.value;
}

const Array& Tensor::grad(SourceLocation location) const {
  const CallSite site(location);
  if (!has_grad())
    throw_error(
        "grad: ", describe(*this, "x"), " has no gradient yet",
        requires_grad() ? "; call backward first" : "; it was made with requires_grad = false");
  return checked(location).grad;
}

Array& Tensor::mutable_grad(SourceLocation location) const {
  Node& node = checked(location);
  if (!node.has_grad) node.grad = zeros(node.value.shape());
  node.has_grad = true;
  return node.grad;
}

void Tensor::clear_grad(SourceLocation location) const {
  Node& node = checked(location);
  node.grad = undefined_array();
  node.has_grad = false;
  node.contributions.clear();
}

Tensor& Tensor::set_name(std::string name, SourceLocation location) & {
  checked(location).name = std::move(name);
  return *this;
}

std::string describe(const Tensor& x, std::string_view role) {
  if (!x.defined()) return std::string(role) + " (not given)";
  return name_or(x, role) + " " + str(x.shape());
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  out << describe(x, "tensor");
  if (!x.defined()) return out;
  if (x.node()->depth > 0)
    out << ", " << x.op() << " at " << str(x.location());
  else if (x.requires_grad())
    out << ", requires_grad";
  return out << '\n' << x.value();
}

std::string name_or(const Tensor& x, std::string_view role) {
  return x.name().empty() ? std::string(role) : printable(x.name());
}

std::size_t checked_axis(std::string_view op, const Tensor& x, int axis, std::string_view role) {
  const auto at = axis_in(x.shape(), axis);
  return at ? *at : checked_axis(op, x.shape(), axis, name_or(x, role));  // makes a name, throws
}

Axes checked_axes(std::string_view op, const Tensor& x, const AxisList& axes) {
  return checked_axes(op, x.shape(), axes, name_or(x, "x"));
}

Tensor detach(const Tensor& x, SourceLocation location) {
  return Tensor(x.value(location), false, location).set_name(x.name());
}

NoGrad::NoGrad() { ++num_no_grads; }
NoGrad::~NoGrad() { --num_no_grads; }
bool grad_enabled() { return num_no_grads == 0; }

}  // namespace HEED_NAMESPACE
