// labels.hpp: nodes, elements and norms as text, for traces and error messages.
#pragma once

#include <string>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// A node's name and shape, "V (3, 4)", or its operation and shape if unnamed, "MatMul (3, 4)".
std::string short_label(const Node& node);

// "MatMul 'V' (3, 4) made at lessons/04_query_key_value/lesson.cpp:41"; the name may be empty.
std::string origin(std::string_view op, const std::string& name, const Shape& shape,
                   SourceLocation location);
std::string origin(const Node& node);

// The index of an element in an array of a shape, "(0, 2)", from its position in memory.
std::string index_text(const Shape& shape, std::size_t element);

double l2_norm(const Array& x);  // accumulated in double

}  // namespace HEED_NAMESPACE
