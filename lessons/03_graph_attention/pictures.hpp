// pictures.hpp: the plots of lesson 03: directed graphs with attention weights, drawn by gnuplot.
#pragma once

#include <algorithm>
#include <cmath>

#include "gnuplot_picture.hpp"

namespace heed {

// A node at the centre (x, y) of its box, with a text of one or more lines.
struct GraphNode {
  double x, y;
  std::string text;
};

struct GraphBox {
  double half_width, half_height;
};

inline std::string point(double x, double y) { return decimal(x, 3) + "," + decimal(y, 3); }

inline std::string weight_label(double x, double y, double weight) {
  return "set label '" + decimal(weight, weight < 0.005 ? 3 : 2) + "' at " + point(x, y) +
         " center boxed front tc rgb '#0072B2'\n";
}

inline std::string line_width(double weight) {
  return " lw " + decimal(std::clamp(6 * weight, 0.8, 6.0), 2);
}

const std::string arrow_head = " filled size first 0.24,28 lw 1 lc rgb '#0072B2'\n";

// An arrow from the box of one node to that of another, shifted to its left by `shift`, with the
// weight as width and as label. Without a label if `label` is false.
inline std::string graph_arrow(const GraphNode& from, const GraphNode& to, const GraphBox& box,
                               double weight, double shift, bool label) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const double ux = (to.x - from.x) / length, uy = (to.y - from.y) / length;
  const double dx = -uy * shift, dy = ux * shift;  // perpendicular to the arrow
  const auto to_border = [&](double sign) {        // from the shifted centre to the border
    const double vx = sign * ux, vy = sign * uy;
    const double tx = vx == 0 ? 1e9 : ((vx > 0 ? 1 : -1) * box.half_width - dx) / vx;
    const double ty = vy == 0 ? 1e9 : ((vy > 0 ? 1 : -1) * box.half_height - dy) / vy;
    return std::min(tx, ty) + 0.05;
  };
  const double start = to_border(1), end = length - to_border(-1);
  const auto at = [&](double t) { return point(from.x + dx + t * ux, from.y + dy + t * uy); };
  // The labels of two opposite arrows must not meet.
  const double middle = start + (shift > 0 ? 0.36 : 0.5) * (end - start);
  return "set arrow from " + at(start) + " to " + at(end - 0.1) + " nohead lc rgb '#0072B2'" +
         line_width(weight) + "\nset arrow from " + at(end - 0.3) + " to " + at(end) + arrow_head +
         (label ? weight_label(from.x + dx + middle * ux, from.y + dy + middle * uy, weight) : "");
}

// An arrow from a node to itself: above its box, or below it if side is -1.
inline std::string graph_loop(const GraphNode& node, const GraphBox& box, double weight, int side) {
  const double radius = 0.34, border = node.y + side * box.half_height;
  return "set object circle at " + point(node.x, border + side * 0.2) + " size first " +
         decimal(radius, 2) + " arc " + (side > 0 ? "[-30:205]" : "[155:390]") +
         " nowedge fs empty fc rgb '#0072B2'" + line_width(weight) + "\nset arrow from " +
         point(node.x - 0.32, border + side * 0.22) + " to " +
         point(node.x - 0.23, border + side * 0.02) + arrow_head +
         weight_label(node.x, border + side * (0.2 + radius), weight);
}

inline std::string graph_node(const GraphNode& node, const GraphBox& box) {
  const double lines = double(std::count(node.text.begin(), node.text.end(), '\n'));
  std::string text = node.text;
  for (std::size_t i; (i = text.find('\n')) != std::string::npos;) text.replace(i, 1, "\\n");
  return "set object rectangle center " + point(node.x, node.y) + " size first " +
         point(2 * box.half_width, 2 * box.half_height) +
         " fc rgb '#F4F4F4' fs solid border lc rgb '#888888' front\nset label \"" + text +
         "\" at " + point(node.x, node.y + 0.15 * lines) + " center front\n";
}

// The nodes, and an arrow from node j to node i where weights(i, j) > 0.
inline std::string graph(const std::vector<GraphNode>& nodes, const GraphBox& box,
                         const Array& weights, bool labels) {
  std::string script;
  for (std::size_t i = 0; i < nodes.size(); ++i) script += graph_node(nodes[i], box);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      const double weight = double(weights(i, j));
      if (weight <= 0) continue;
      script += i == j ? graph_loop(nodes[i], box, weight, nodes[i].y > 0 ? 1 : -1)
                       : graph_arrow(nodes[j], nodes[i], box, weight, weights(j, i) > 0 ? 0.17 : 0,
                                     labels);
    }
  return script;
}

inline void draw_graph(const std::string& name, const std::string& title, const std::string& graph,
                       double right, double top) {
  picture_by_gnuplot("03_graph_attention", name,
                     "set title '" + title +
                         "'\nunset border\nunset tics\nunset grid\nunset key\nset size ratio -1\n"
                         "set style textbox opaque noborder fillcolor rgb 'white' margins 0.8,0.6\n"
                         "set xrange [-1.2:" +
                         decimal(right, 1) + "]\nset yrange [-1.1:" + decimal(top, 1) + "]\n" +
                         graph + "plot -10 notitle");
}

// Two numbers as text: "(4, 0)".
inline std::string pair_text(const Array& x, std::size_t row, int decimals) {
  return "(" + decimal(x(row, 0), decimals) + ", " + decimal(x(row, 1), decimals) + ")";
}

// The five nodes of the feast, each with its name and the given lines.
inline std::vector<GraphNode> feast_nodes(const Names& people, const Names& lines) {
  const double x[] = {0, 1.6, 4, 8, 5.2}, y[] = {4.4, 1.7, 4.4, 4.4, 0};
  std::vector<GraphNode> nodes;
  for (std::size_t i = 0; i < 5; ++i) nodes.push_back({x[i], y[i], people[i] + "\n" + lines[i]});
  return nodes;
}

// Plots the arrows of the feast, and the key and the query of each node. The arrows to the guest
// are wider.
inline void draw_feast(const Names& people, const Array& arrows, const Array& K, const Array& Q) {
  Array widths = Real(0.2) * arrows;
  xt::view(widths, 4) *= Real(3);
  Names lines;
  for (std::size_t i = 0; i < 5; ++i)
    lines.push_back("key " + pair_text(K, i, 0) + "\nquery " + pair_text(Q, i, 0));
  const GraphBox box{1.0, 0.65};
  draw_graph("feast",
             "The feast: an arrow from j to i means that i may attend to j (numbers: food, music)",
             graph(feast_nodes(people, lines), box, widths, false), 9.2, 5.4);
}

// Plots the attention weights of the feast, with the value and the output of each node.
inline void draw_feast_weights(const Names& people, const Array& weights, const Array& V,
                               const Array& output) {
  Names lines;
  for (std::size_t i = 0; i < 5; ++i)
    lines.push_back("value " + pair_text(V, i, 0) + "\noutput " + pair_text(output, i, 2));
  const GraphBox box{1.15, 0.65};
  draw_graph("feast_graph", "Attention weights of the feast (also as widths), values and outputs",
             graph(feast_nodes(people, lines), box, weights, true), 9.2, 5.4);
}

// Plots the weights (3, 3) of two graphs with the same nodes side by side.
inline void draw_two_graphs(const Array& left, const Array& right, const Names& words) {
  const GraphBox box{0.5, 0.3};
  std::string both;
  for (const double x : {0.0, 6.2}) {
    const std::vector<GraphNode> nodes = {
        {x, 3.4, words[0]}, {x + 3.6, 3.4, words[1]}, {x + 1.8, 0, words[2]}};
    both += graph(nodes, box, x == 0 ? left : right, true) + "set label '" +
            (x == 0 ? "complete graph" : "causal graph: no arrow from a later token") + "' at " +
            point(x + 1.8, 5.3) + " center\n";
  }
  draw_graph("complete_and_causal_graph",
             "Attention weights, also as widths: an arrow points from the key to the query", both,
             11.0, 5.6);
}

}  // namespace heed
