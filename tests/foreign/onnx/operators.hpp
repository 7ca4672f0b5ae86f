// operators.hpp: ONNX's operators as calls of heed, and graphs of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "foreign/onnx/file.hpp"

namespace heed_test::onnx {

using Values = std::vector<Value>;
using Operator = Values (*)(const Node& node, const Values& inputs);
using Operators = std::map<std::string, Operator>;

Operators elementwise_operators();
Operators shape_operators();
Operators reduction_operators();
Operators layer_operators();
Operators attention_operators();

// Throws NotExpressible, with the reason, if heed has no operation for a node.
void check_operators(const Graph& graph);

// Computes the outputs of the graph for these inputs. Throws NotExpressible for what an operation
// of heed has no option for.
Values run(const Graph& graph, const Values& inputs);

// The inputs of the node, with absent values for those that it leaves out at the end.
inline const Value& input(const Values& inputs, std::size_t i) {
  static const Value absent{Type::real, {}, {}, true};
  return i < inputs.size() ? inputs[i] : absent;
}
inline bool has(const Values& inputs, std::size_t i) { return !input(inputs, i).is_absent; }

// The axis that a negative one counts from the end.
inline int positive(int axis, std::size_t dim) {
  return axis < 0 ? axis + static_cast<int>(dim) : axis;
}

}  // namespace heed_test::onnx
