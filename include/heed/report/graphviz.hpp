// graphviz.hpp: drawing graphs of nodes and arrows with Graphviz's dot, in the manner of
// gnuplot.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/plot_program.hpp"

namespace heed {

// Writes a graph in Graphviz's language as folder/name.dot and draws it as folder/name.svg; `dot
// -Tsvg` on it by hand draws the same. ok when the picture has been drawn; a missing program or a
// file that cannot be written is told in the result. `name` may hold any characters but a slash
// (Error), and cannot be empty.
Plot draw_with_graphviz(const std::string& folder, const std::string& name,
                        const std::string& dot_text);

// For writing graphs: a string in Graphviz's double quotes, drawn as it stands (control characters
// are spelled out, a lone space is "␣").
std::string graphviz_string(std::string_view text);

// The graph of weights (N, N), whose row i says how much node i takes from each node: an arrow from
// j to i where weights(i, j) is above zero, its width and number the weight. Throws Error when
// weights is not square, or there are not N names.
std::string weighted_graph(const Array& weights, const std::vector<std::string>& names);

}  // namespace heed
