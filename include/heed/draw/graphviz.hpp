// graphviz.hpp: weight matrices as directed graphs in Graphviz's DOT language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

// The text as a quoted string of the DOT language. Control characters are replaced by escape
// sequences, and a single space by "␣".
std::string graphviz_string(std::string_view text);

// The directed graph of a weight matrix (N, N), such as attention weights: an edge from node j (the
// key) to node i (the query) where weights(i, j) > 0. The edge's width and label show the weight.
// Edges with weights below 0.005 are dashed and unlabelled. Throws Error if weights is not square
// or there are not N names.
std::string weighted_graph(const Array& weights, const std::vector<std::string>& names);

}  // namespace HEED_NAMESPACE
