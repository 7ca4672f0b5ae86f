// graph.hpp: the autograd graph of a tensor as text and in Graphviz's DOT language.
#pragma once

#include <string>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// The graph as text: one line per node with number, operation, name, shape, inputs and location.
// Each node comes after its inputs. For example:
//   #2  MatMul  scores  (3, 3)  from #0 #1  lessons/04_query_key_value/lesson.cpp:41
std::string graph_text(const Tensor& output, SourceLocation location = SourceLocation::current());

// The graph in the DOT language, which `dot -Tsvg graph.dot -o graph.svg` converts to an SVG file.
std::string graph_dot(const Tensor& output, SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
