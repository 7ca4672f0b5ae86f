// tensor.hpp: Tensor (an array with a gradient) and Node (a tensor's entry in the autograd graph).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/array/exact.hpp"
#include "heed/array/shape.hpp"
#include "heed/array/small_blocks.hpp"
#include "heed/base/bool.hpp"
#include "heed/base/source_location.hpp"

namespace HEED_NAMESPACE {

// One contribution to a gradient, recorded by HEED_TRACE=provenance.
struct Contribution {
  std::string op, name;     // operation and name of the node whose backward added it
  SourceLocation location;  // the call that created the node
  double norm;              // L2 norm of the contribution to the gradient
};

// References to the values of an operation's inputs.
using ArrayList = std::vector<std::reference_wrapper<const Array>>;

struct Node;
// Nodes, such as the inputs of a node.
using NodeList = std::vector<std::shared_ptr<Node>, SmallAllocator<std::shared_ptr<Node>>>;

// A value in the autograd graph. record() creates nodes; user code uses Tensor, a handle to a node.
struct Node {
  explicit Node(Array result = undefined_array());  // a node with this value
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node();  // frees a long chain of nodes in a loop, without recursion

  // Adds the results of the operation's backward to the inputs' gradients. Does nothing for a leaf.
  virtual void apply_backward() {}
  // Frees the data that apply_backward needs, including the references to the inputs.
  virtual void release_variables() {}
  // The result of the operation's forward for other values of the inputs, and the gradients, one
  // for each input, that its backward returns for the upstream gradient `dy`. Gradient checks call
  // them; they leave the graph as it is. A leaf returns its value, and no gradients.
  virtual Array forward_of(const ArrayList&) const { return value; }
  virtual std::vector<Array> backward_of(const Array& /*dy*/) const { return {}; }

  Array value;                     // the result of the operation
  Array grad = undefined_array();  // the gradient d output / d value; valid if has_grad
  std::string_view op = "Leaf";    // the operation: "Softmax", "Add", ...
  std::string name;                // the name given by the user, may be empty
  SourceLocation location;         // the call that created the node
  // A backward pass reads the members from here to `contributions` of every node before it begins.
  bool has_grad = false;                    // true if backward has stored a gradient
  bool requires_grad = false;               // whether backward computes a gradient
  unsigned version = 0;                     // number of mutable_value() calls
  std::size_t depth = 0;                    // 0 for leaves, else 1 + the inputs' largest depth
  std::uint64_t last_search = 0;            // the last topological_order() that found this node
  NodeList inputs;                          // the inputs; null for an omitted optional argument
  xt::svector<unsigned, 4> input_versions;  // the inputs' versions when the node was recorded
  std::vector<Contribution> contributions;  // contributions to grad, if recorded
  SourceLocation changed_at;                // the last call of mutable_value()
  std::unique_ptr<Shape> kept_shape;        // the value's shape, set by the first mutable_value()
};

// Creates a node of type N, which is Node or derived from it.
template <class N, class... Arguments>
std::shared_ptr<N> make_node(Arguments&&... arguments) {
  return std::allocate_shared<N>(SmallAllocator<N>(), std::forward<Arguments>(arguments)...);
}

// Throws Error if the value of a leaf has another shape since mutable_value().
void check_shape_is_kept(std::string_view op, const Node& leaf);

// The number of nodes that currently exist, for tests of memory leaks.
std::size_t live_nodes();

// An index as x[i] takes it: any integer, with the location of the call (see In).
struct IndexIn {
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  IndexIn(Integer i, SourceLocation location = SourceLocation::current())
      : value(static_cast<std::int64_t>(i)), call(location) {}
  std::int64_t value;
  SourceLocation call;
};

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
  explicit Tensor(Array value, Bool requires_grad = false,
                  SourceLocation location = SourceLocation::current());
  // Deleted, because integers have no gradient. Tensor(Array(indices)) converts indices to Real.
  template <class T, class = std::enable_if_t<std::is_same_v<T, Indices>>>
  explicit Tensor(const T& indices, Bool requires_grad = false) = delete;
  // A handle to an existing node; record() calls it for new nodes.
  explicit Tensor(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  // The value, its shape, and its number of axes.
  const Array& value(SourceLocation location = SourceLocation::current()) const;
  const Shape& shape(SourceLocation location = SourceLocation::current()) const;
  std::size_t dim(SourceLocation location = SourceLocation::current()) const;
  // The size of an axis; -1 is the last axis. Throws Error when the axis is out of range.
  std::size_t size(int axis, SourceLocation location = SourceLocation::current()) const;
  // The only element of the value. Throws Error if the number of elements is not 1.
  Real item(SourceLocation location = SourceLocation::current()) const;

  // select(x, 0, i) of shape.hpp: a copy of part i along the first axis. Negative indices count
  // from the end. It is const so that x[i] = y, which could not change x, does not compile.
  const Tensor operator[](IndexIn i) const;

  // The value for writing, as optimizers and loaders need it. The shape must stay the same: the
  // next operation throws Error if it does not, as after w.mutable_value() = 0, which makes it ().
  // Each call raises the node's version. If an operation has been recorded before the call, its
  // backward would compute a wrong gradient from the new value, so backward() throws Error instead.
  // Call mutable_value() for each change: backward() does not notice a change through an old
  // reference. Throws Error if the tensor is the result of a recorded operation.
  Array& mutable_value(SourceLocation location = SourceLocation::current()) const;

  bool defined() const { return node_ != nullptr; }  // false for Tensor()
  bool requires_grad() const { return node_ != nullptr && node_->requires_grad; }  // see Node
  // True if backward has stored a gradient.
  bool has_grad(SourceLocation location = SourceLocation::current()) const;
  // The gradient. If backward has not stored one, grad() throws Error and mutable_grad() stores
  // zeros.
  const Array& grad(SourceLocation location = SourceLocation::current()) const;
  Array& mutable_grad(SourceLocation location = SourceLocation::current()) const;
  void clear_grad(SourceLocation location = SourceLocation::current()) const;

  // Computes the gradients of all tensors that this tensor depends on: see backward.hpp.
  void backward(SourceLocation location = SourceLocation::current()) const;

  // The tensor's name, which appears in error messages, graphs and the debugger.
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

  const std::shared_ptr<Node>& node() const { return node_; }  // null for an undefined tensor

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

// Prints a line with name, shape and operation, and below it the value as xtensor prints it:
//   weights (2, 2), Softmax at main.cpp:12
//   {{ 0.5 ,  0.5 },
//    { 0.25,  0.75}}
std::ostream& operator<<(std::ostream& out, const Tensor& x);

// "weights (1, 3, 3)": x's name (or, if x has no name, its role in the operation) and shape.
std::string describe(const Tensor& x, std::string_view role);
std::string name_or(const Tensor& x, std::string_view role);  // x's name, or `role` if x has none

// Like checked_axis and checked_axes of shape.hpp, but for a tensor. Error messages contain the
// tensor's name if it has one.
std::size_t checked_axis(std::string_view op, const Tensor& x, int axis,
                         std::string_view role = "x");
Axes checked_axes(std::string_view op, const Tensor& x, const AxisList& axes);

// A tensor with the same value but without a graph.
Tensor detach(const Tensor& x, SourceLocation location = SourceLocation::current());

// A Tensor as an operation or a layer takes it: it knows the location of the call, which error
// messages name and the new node records. A Tensor in the place of an In converts to it at the
// call. So an operation is declared as
//   Tensor softmax(In x, int axis);
class In : public Tensor {
 public:
  // Converts a tensor, and records the location of the call.
  In(Tensor x = {}, SourceLocation call = SourceLocation::current())
      : Tensor(std::move(x)), site_(call) {}
  // Copies a tensor, and records the location of another call.
  In(const In& x, SourceLocation call = SourceLocation::current()) : Tensor(x), site_(call) {}

  SourceLocation call() const { return site_.location(); }  // the location of the call

 private:
  CallSite site_;
};

// A list of tensors, such as {a, b}, as an operation takes it (see In).
class InList : public std::vector<Tensor> {
 public:
  // Converts a list of tensors, and records the location of the call.
  InList(std::vector<Tensor> list, SourceLocation call = SourceLocation::current())
      : std::vector<Tensor>(std::move(list)), site_(call) {}
  // Converts a list in braces, and records the location of the call.
  InList(std::initializer_list<Tensor> list, SourceLocation call = SourceLocation::current())
      : std::vector<Tensor>(list), site_(call) {}

  SourceLocation call() const { return site_.location(); }  // the location of the call

 private:
  CallSite site_;
};

// Indices as an operation or a layer takes them (see In and Exact).
class IndicesIn : public Exact<Indices> {
 public:
  // Converts indices, and records the location of the call.
  template <class E>
  IndicesIn(const xt::xexpression<E>& indices, SourceLocation call = SourceLocation::current())
      : Exact<Indices>(indices, call), site_(call) {}

  SourceLocation call() const { return site_.location(); }  // the location of the call

 private:
  CallSite site_;
};

// While a NoGrad object exists, operations on the same thread record no graph (torch.no_grad).
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
};
// Whether operations on this thread record a graph: false while a NoGrad object exists.
bool grad_enabled();

}  // namespace HEED_NAMESPACE

// xtensor's operators and where() would treat a Tensor beside an Array as a scalar, and the
// compiler would prefer them to heed's, which require a conversion to In. They do not accept
// operands for which xfunction_type has no member `type`: here, all lists of operands with a
// Tensor.
namespace xt::detail {
struct has_tensor {};
template <class F, class... E>
struct has_no_tensor {
  using functor_type = F;
  using type = select_xfunction_expression_t<xexpression_tag_t<E...>, F, const_xclosure_t<E>...>;
};
template <class F, class... E>
using checked_operands =
    std::conditional_t<(std::is_base_of_v<HEED_NAMESPACE::Tensor, std::decay_t<E>> || ...),
                       has_tensor, has_no_tensor<F, E...>>;
template <class F, class A, class B>
struct xfunction_type<F, A, B> : checked_operands<F, A, B> {};
template <class F, class A, class B, class C>
struct xfunction_type<F, A, B, C> : checked_operands<F, A, B, C> {};
}  // namespace xt::detail
