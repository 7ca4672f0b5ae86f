// tensor.hpp: Tensor, an array that remembers how it was made.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/array/shape.hpp"
#include "heed/autograd/source_location.hpp"

namespace heed {

// One `+=` into a gradient: the node it came from, and how much it was.
struct Contribution {
  std::string op, name;     // of the node that sent it
  SourceLocation location;  // the call that made that node
  double norm;              // the length of what was added, as one vector
};

// One value in the graph. Operations make nodes through record(); readers meet them as Tensor.
struct Node {
  Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node();  // frees long chains in a loop: a million nodes need no deep stack

  // Sends this node's gradient on to its inputs. Leaves have nobody to send to.
  virtual void apply_backward() {}
  // Drops what was kept for apply_backward, inputs included.
  virtual void release() {}

  Array value = undefined_array();
  Array grad = undefined_array();
  bool has_grad = false;
  bool requires_grad = false;
  bool released = false;                      // backward has been here and freed the links
  bool visited = false;                       // used by walks over the graph, false between them
  std::size_t depth = 0;                      // 1 + the deepest input's; leaves have 0
  std::string_view op = "Leaf";               // Softmax, Add, ...
  std::string name;                           // given by the reader, may be empty
  SourceLocation location;                    // the call that made it
  std::vector<std::shared_ptr<Node>> inputs;  // null where an optional argument was left out
  std::vector<Contribution> contributions;    // to grad, in order, when backward was asked for them
};

// How many nodes are alive in the program, for tests that look for leaks.
std::size_t live_nodes();

// A shared handle to a node: copies are the same value, with the same gradient. Everything but
// defined() throws Error on a tensor that is nothing.
class Tensor {
 public:
  Tensor() = default;  // nothing: an argument that was not given
  explicit Tensor(Array value, bool requires_grad = false,
                  SourceLocation location = SourceLocation::current());
  explicit Tensor(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  const Array& value() const { return checked().value; }
  Array& mutable_value() { return checked().value; }  // optimizers and loaders write here
  const Shape& shape() const { return checked().value.shape(); }
  std::size_t dim() const { return checked().value.dimension(); }
  std::size_t size(int axis) const;  // -1 is the last axis; throws Error when out of range
  Real item() const;                 // the only element; throws Error when there are more

  bool defined() const { return node_ != nullptr; }
  bool requires_grad() const { return node_ != nullptr && node_->requires_grad; }
  bool has_grad() const { return checked().has_grad; }
  const Array& grad() const;  // throws Error before a backward pass has come by
  Array& mutable_grad() { return checked().grad; }
  void clear_grad();

  // Names appear in error messages, graphs and the debugger.
  const std::string& name() const { return checked().name; }
  const Tensor& named(std::string name) const;
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

// "weights (1, 3, 3)", or with `role` for a tensor without a name: "a (2, 3)".
std::string describe(const Tensor& x, std::string_view role);

// The same value, cut off from the graph.
Tensor detach(const Tensor& x, SourceLocation location = SourceLocation::current());

// While one is alive, nothing that is computed is linked into a graph: evaluation, sampling.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool grad_enabled();

}  // namespace heed
