// tensor.hpp: Tensor, an array with a gradient, and Node, its entry in the autograd graph.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/array/shape.hpp"

namespace HEED_NAMESPACE {

// The file and line of the call that created a tensor. As the default argument of a function,
// current() is the location of the call (C++20 has std::source_location):
//   Tensor relu(const Tensor& x, SourceLocation location = SourceLocation::current());
struct SourceLocation {
  const char* file = "";
  int line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
    return {file, line};
  }
};

std::string str(SourceLocation location);  // "lessons/05_query_key_value.cpp:41"

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

  Array value = undefined_array();
  Array grad = undefined_array();
  bool has_grad = false;
  bool requires_grad = false;
  std::size_t depth = 0;                      // 0 for leaves, else 1 + the inputs' largest depth
  std::string_view op = "Leaf";               // Softmax, Add, ...
  std::string name;                           // the name given by the user, may be empty
  SourceLocation location;                    // the call that created the node
  std::vector<std::shared_ptr<Node>> inputs;  // an omitted optional argument is null
  std::vector<Contribution> contributions;    // the terms that were added to grad, if recorded
};

using NodeList = std::vector<std::shared_ptr<Node>>;

// The number of nodes that currently exist, for tests of memory leaks.
std::size_t live_nodes();

// A shared handle to a node: copies of a Tensor share its value and gradient. On an undefined
// tensor every member function except defined(), requires_grad() and node() throws Error.
class Tensor {
 public:
  Tensor() = default;  // an undefined tensor, such as an omitted optional argument
  explicit Tensor(Array value, bool requires_grad = false,
                  SourceLocation location = SourceLocation::current());
  explicit Tensor(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  const Array& value() const { return checked().value; }
  Array& mutable_value() { return checked().value; }  // lets optimizers and loaders write the value
  const Shape& shape() const { return checked().value.shape(); }
  std::size_t dim() const { return checked().value.dimension(); }
  std::size_t size(int axis) const;  // axis -1 is the last one; throws Error when out of range
  Real item() const;                 // the only element; throws Error if the size is not 1

  bool defined() const { return node_ != nullptr; }
  bool requires_grad() const { return node_ != nullptr && node_->requires_grad; }
  bool has_grad() const { return checked().has_grad; }
  const Array& grad() const;  // throws Error before the first backward pass
  Array& mutable_grad() { return checked().grad; }
  void clear_grad();

  // Names appear in error messages, graphs and the debugger.
  const std::string& name() const { return checked().name; }
  Tensor& set_name(std::string name) &;  // names the node, which copies of the Tensor share
  Tensor set_name(std::string name) && { return set_name(std::move(name)); }
  std::string_view op() const { return checked().op; }
  SourceLocation location() const { return checked().location; }

  const std::shared_ptr<Node>& node() const { return node_; }

 private:
  Node& checked() const {
    if (node_ == nullptr) throw_undefined();
    return *node_;
  }
  [[noreturn]] static void throw_undefined();

  std::shared_ptr<Node> node_;
};

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
bool grad_enabled();

}  // namespace HEED_NAMESPACE
