// run.cpp: runs a graph of ONNX's operators, node by node.

#include "foreign/onnx/operators.hpp"

namespace heed_test::onnx {
namespace {

const Operators& operators() {
  static const Operators all = [] {
    Operators joined;
    for (const Operators& part : {elementwise_operators(), shape_operators(), reduction_operators(),
                                  layer_operators(), attention_operators()})
      joined.insert(part.begin(), part.end());
    return joined;
  }();
  return all;
}

Operator operator_of(const Node& node) {
  const auto found = operators().find(node.op);
  if (found == operators().end()) throw NotExpressible(node.op);
  for (const auto& [name, attribute] : node.attributes)
    if (attribute.has_graph) throw NotExpressible(node.op + " with a graph in it");
  return found->second;
}

}  // namespace

void check_operators(const Graph& graph) {
  for (const Node& node : graph.nodes) operator_of(node);
}

Values run(const Graph& graph, const Values& inputs) {
  std::map<std::string, Value> values = graph.constants;
  for (std::size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i)
    values[graph.inputs[i]] = inputs[i];
  for (const Node& node : graph.nodes) {
    Values given;
    for (const std::string& name : node.inputs)
      given.push_back(name.empty() ? Value{Type::real, {}, {}, true} : values.at(name));
    const Values results = operator_of(node)(node, given);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (i >= results.size() && !node.outputs[i].empty())
        throw NotExpressible(node.op + " with " + std::to_string(node.outputs.size()) + " outputs");
      if (i < results.size()) values[node.outputs[i]] = results[i];
    }
  }
  Values outputs;
  for (const std::string& name : graph.outputs) outputs.push_back(values.at(name));
  return outputs;
}

}  // namespace heed_test::onnx
