// file.hpp: reads models and tensors of ONNX's test suite, which are messages of Protocol Buffers.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/onnx/value.hpp"

namespace heed_test::onnx {

// An attribute has one of these.
struct Attribute {
  double number = 0;  // f or i
  std::string text;
  std::vector<double> numbers;
  Value tensor;
  bool has_graph = false;
};

struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs;  // names; "" for an optional one that is left out
  std::map<std::string, Attribute> attributes;

  bool has(const std::string& name) const { return attributes.count(name) != 0; }
  double number(const std::string& name, double otherwise) const;
  int integer(const std::string& name, int otherwise) const;
  std::string text(const std::string& name, const std::string& otherwise) const;
  std::vector<int> integers(const std::string& name) const;  // {} if there is no such attribute
};

struct Graph {
  std::vector<Node> nodes;
  std::map<std::string, Value> constants;
  std::vector<std::string> inputs, outputs;
};

// Reads a file of the suite. Throws NotExpressible for types of elements that Type does not have,
// and std::runtime_error for a damaged file.
Graph read_model(const std::filesystem::path& path);
Value read_tensor(const std::filesystem::path& path);

}  // namespace heed_test::onnx
