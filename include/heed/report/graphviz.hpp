// graphviz.hpp: draws directed graphs with Graphviz's program dot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/plot_program.hpp"

namespace HEED_NAMESPACE {

// Writes a graph in the DOT language as folder/name.dot and draws it as folder/name.svg. If dot is
// missing or a file cannot be written, the returned Plot says so. Throws Error when `name` is empty
// or has a slash.
Plot draw_with_graphviz(const std::string& folder, const std::string& name,
                        const std::string& dot_text);

// The text as a quoted string of the DOT language. Control characters are replaced by escape
// sequences, and a single space by "␣".
std::string graphviz_string(std::string_view text);

// The graph of a weight matrix (N, N), such as attention weights: an edge from node j (the key) to
// node i (the query) where weights(i, j) > 0. The edge's width and label show the weight. Throws
// Error when weights is not square or there are not N names.
std::string weighted_graph(const Array& weights, const std::vector<std::string>& names);

}  // namespace HEED_NAMESPACE
