// labels.cpp: nodes, elements and norms as text.

#include "debug/labels.hpp"

#include <cmath>

#include "array/lines.hpp"

namespace HEED_NAMESPACE {

std::string short_label(const Node& node) {
  return (node.name.empty() ? std::string(node.op) : node.name) + " " + str(node.value.shape());
}

std::string origin(std::string_view op, const std::string& name, const Shape& shape,
                   SourceLocation location) {
  return std::string(op) + (name.empty() ? " " : " '" + name + "' ") + str(shape) + " made at " +
         str(location);
}

std::string origin(const Node& node) {
  return origin(node.op, node.name, node.value.shape(), node.location);
}

std::string index_text(const Shape& shape, std::size_t element) {
  Shape index = shape;
  for (std::size_t axis = index.size(); axis-- > 0; element /= shape[axis])
    index[axis] = element % shape[axis];
  return str(index);
}

double l2_norm(const Array& x) { return std::sqrt(dot_of(x.data(), x.data(), x.size())); }

}  // namespace HEED_NAMESPACE
