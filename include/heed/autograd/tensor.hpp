// tensor.hpp: Tensor, an array with a gradient, and Node, its entry in the autograd graph.
#pragma once

#include <array>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/source_location.hpp"

namespace HEED_NAMESPACE {

// One term that was added to a gradient, recorded by HEED_TRACE=provenance.
struct Contribution {
  std::string op, name;     // operation and name of the node whose backward added the term
  SourceLocation location;  // the call that created the node
  double norm;              // L2 norm of the contribution to the gradient
};

// A value in the autograd graph. record() creates nodes; user code uses Tensor, a handle to a node.
struct Node {
  Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node();  // frees a long chain of nodes in a loop, without recursion

  // Adds the results of the operation's backward to the inputs' gradients. Does nothing in a leaf.
  virtual void apply_backward() {}
  // Frees what apply_backward needs, including the references to the inputs.
  virtual void release_variables() {}

  Array value = undefined_array();            // the result of the operation
  Array grad = undefined_array();             // d output / d value; valid if has_grad
  bool has_grad = false;                      // true if backward has stored a gradient
  bool requires_grad = false;                 // whether backward computes a gradient
  std::size_t depth = 0;                      // 0 for leaves, else 1 + the inputs' largest depth
  std::string_view op = "Leaf";               // Softmax, Add, ...
  std::string name;                           // the name given by the user, may be empty
  SourceLocation location;                    // the call that created the node
  std::vector<std::shared_ptr<Node>> inputs;  // an omitted optional argument is null
  std::vector<unsigned> input_versions;       // the inputs' versions when the node was recorded
  unsigned version = 0;                       // number of accesses that may have changed the value
  SourceLocation changed_at;                  // the last of these accesses
  std::vector<Contribution> contributions;    // the terms that were added to grad, if recorded
};

using NodeList = std::vector<std::shared_ptr<Node>>;  // such as the inputs of a node

// The number of nodes that currently exist, for tests of memory leaks.
std::size_t live_nodes();

// A shared handle to a node: copies of a Tensor share its value and gradient. As for a
// std::shared_ptr, `const` protects the handle, not the value: a function that gets a const Tensor&
// can change the value, as in PyTorch, and backward notices it (see mutable_value). On an undefined
// tensor every member function except defined(), requires_grad() and node() throws Error.
//
// Threads may use different graphs at the same time. One graph, or two graphs with a common
// parameter, must not be used by two threads at once: nothing is locked.
class Tensor {
 public:
  Tensor() = default;  // an undefined tensor, such as an omitted optional argument
  // A leaf with this value. backward computes its gradient if requires_grad is true.
  explicit Tensor(Array value, bool requires_grad = false,
                  SourceLocation location = SourceLocation::current());
  // Indices are no Tensor: integers have no gradient. Write Tensor(Array(indices)) for numbers.
  template <class T, class = std::enable_if_t<std::is_same_v<T, Indices>>>
  explicit Tensor(const T& indices, bool requires_grad = false) = delete;
  // A handle to an existing node.
  explicit Tensor(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  // The value, its shape, and its number of axes.
  const Array& value(SourceLocation location = SourceLocation::current()) const;
  const Shape& shape(SourceLocation location = SourceLocation::current()) const;
  std::size_t dim(SourceLocation location = SourceLocation::current()) const;
  // The size of an axis; -1 is the last one. Throws Error when the axis is out of range.
  std::size_t size(int axis, SourceLocation location = SourceLocation::current()) const;
  // The only element. Throws Error if the size is not 1.
  Real item(SourceLocation location = SourceLocation::current()) const;

  // The value for writing, as optimizers and loaders need it. The shape must stay the same. Each
  // call raises the node's version. If an operation has been recorded before the call, its backward
  // would compute a wrong gradient from the new value, so backward() throws Error instead. Call
  // mutable_value() anew for each change: writing later through a kept reference is not noticed.
  // Throws Error if the tensor is the result of a recorded operation.
  Array& mutable_value(SourceLocation location = SourceLocation::current()) const;

  bool defined() const { return node_ != nullptr; }  // false for Tensor()
  bool requires_grad() const { return node_ != nullptr && node_->requires_grad; }  // see Node
  // True if backward has stored a gradient.
  bool has_grad(SourceLocation location = SourceLocation::current()) const;
  // Throws Error before the first backward pass.
  const Array& grad(SourceLocation location = SourceLocation::current()) const;
  Array& mutable_grad(SourceLocation location = SourceLocation::current()) const;
  void clear_grad(SourceLocation location = SourceLocation::current()) const;

  // Computes the gradients of all tensors that this one depends on: see backward() in backward.hpp.
  void backward(SourceLocation location = SourceLocation::current()) const;

  // Names appear in error messages, graphs and the debugger.
  const std::string& name(SourceLocation location = SourceLocation::current()) const {
    return checked(location).name;
  }
  // Names the node, which copies of the Tensor share.
  Tensor& set_name(std::string name, SourceLocation location = SourceLocation::current()) &;
  Tensor set_name(std::string name, SourceLocation location = SourceLocation::current()) && {
    return set_name(std::move(name), location);
  }
  // The name of the operation that made the tensor, "Leaf" for a leaf.
  std::string_view op(SourceLocation location = SourceLocation::current()) const {
    return checked(location).op;
  }
  // The call that made the tensor.
  SourceLocation location(SourceLocation caller = SourceLocation::current()) const {
    return checked(caller).location;
  }

  const std::shared_ptr<Node>& node() const { return node_; }  // null if undefined

 private:
  Node& checked(SourceLocation location) const {
    if (node_ == nullptr) throw_undefined(location);
    return *node_;
  }
  [[noreturn]] static void throw_undefined(SourceLocation location);

  std::shared_ptr<Node> node_;
};

inline const Array& Tensor::value(SourceLocation location) const { return checked(location).value; }
inline const Shape& Tensor::shape(SourceLocation location) const {
  return checked(location).value.shape();
}
inline std::size_t Tensor::dim(SourceLocation location) const {
  return checked(location).value.dimension();
}
inline bool Tensor::has_grad(SourceLocation location) const { return checked(location).has_grad; }

// The value as xtensor prints it, below the name, the shape and the operation:
//   weights (2, 2), Softmax at main.cpp:12
//   {{ 0.5 ,  0.5 },
//    { 0.25,  0.75}}
std::ostream& operator<<(std::ostream& out, const Tensor& x);

// "weights (1, 3, 3)": x's name (or, if x has no name, its role in the operation) and shape.
std::string describe(const Tensor& x, std::string_view role);
std::string name_or(const Tensor& x, std::string_view role);  // x's name, or `role` if x has none

// A tensor with the same value but without a graph.
Tensor detach(const Tensor& x, SourceLocation location = SourceLocation::current());

// While a NoGrad object exists, operations on the same thread record no graph (torch.no_grad).
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool previous_;
};
// Whether operations on this thread record a graph: false while a NoGrad object exists.
bool grad_enabled();

}  // namespace HEED_NAMESPACE
