// pictures.hpp: the pictures of lesson 04: the matrices of attention as cells, and the data flow.
#pragma once

#include <cmath>
#include <string>

#include "bank.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// Plots the two rows of the attention weights (N, N) that belong to the 'bank's of the text.
inline void draw_bank_weights(const BankText& text, const Array& weights) {
  const Array masked = xt::where(xt::tril(ones(weights.shape())) > 0, weights, -INFINITY);
  picture("04_query_key_value", "bank",
          Array(xt::view(masked, xt::keep(text.banks[0], text.banks[1]), xt::all())),
          {"attention weights of both 'bank's (grey: masked)",
           {"first 'bank'", "second 'bank'"},
           text.words,
           "query position",
           "key position",
           0,
           1});
}

// Each arrow is labelled with the shape of the array that flows along it.
const std::string data_flow = R"dot(digraph {
  ranksep=0.35
  fontname="sans-serif"
  labelloc=t
  label="Scaled dot-product attention: operations and shapes\n "
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [color="#0072B2", arrowsize=0.6, fontname="sans-serif", fontsize=11]
  Q [label="Q = X W_Q"]
  K [label="K = X W_K"]
  V [label="V = X W_V"]
  scores [label="scores\nS = Q K^T / sqrt(4)"]
  mask [label="mask: -inf for\nlater keys"]
  weights [label="attention weights\nA = softmax of each row"]
  output [label="output\nO = A V"]
  end [shape=none, label=""]
  X -> { Q K V } [label=" (3, 5)"]
  { Q K } -> scores [label=" (3, 4)"]
  scores -> mask [label=" (3, 3)"]
  mask -> weights [label=" (3, 3)"]
  weights -> output [label=" (3, 3)"]
  V -> output [label=" (3, 4)"]
  output -> end [label=" (3, 4)"]
}
)dot";

// A matrix as a grid of cells with two decimals, its title above and the names of its rows to the
// left. (x, y) is its upper left corner. Row 2 is coloured if `marked`.
inline std::string cells(double x, double y, const std::string& title, const Array& m, bool marked,
                         const Names& rows = {}) {
  const double width = 1, height = 0.7;
  std::string script = "set label '" + title + "' at " + decimal(x, 2) + "," +
                       decimal(y + 0.45, 2) + " left tc rgb '#0072B2'\n";
  for (std::size_t i = 0; i < m.shape(0); ++i) {
    const double middle = y - (double(i) + 0.5) * height;
    if (!rows.empty())
      script += "set label '" + rows[i] + "' at " + decimal(x - 0.2, 2) + "," + decimal(middle, 2) +
                " right\n";
    for (std::size_t j = 0; j < m.shape(1); ++j) {
      const std::string at = decimal(x + (double(j) + 0.5) * width, 2) + "," + decimal(middle, 2);
      script += "set object rectangle center " + at + " size first 1,0.7 fc rgb '" +
                (marked && i == 2 ? "#FAD7A8" : "#F7F7F7") +
                "' fs solid border lc rgb '#AAAAAA'\nset label '" + decimal(m(i, j), 2) + "' at " +
                at + " center front\n";
    }
  }
  return script;
}

inline std::string symbol(double x, double y, const std::string& text) {
  return "set label '" + text + "' at " + decimal(x, 2) + "," + decimal(y, 2) + " center\n";
}

// Draws S = Q K^T / 2, A = softmax of S with a mask, and O = A V, with row 2 of each coloured.
inline void draw_shapes(const Names& words, const Array& Q, const Array& K, const Array& V,
                        const Array& S, const Array& A, const Array& O) {
  picture_by_gnuplot(
      "04_query_key_value", "shapes",
      "set title \"One query, 'sat', in colour: a row of scores, a row of weights, a row of the "
      "output\"\n"
      "unset border\nunset tics\nunset grid\nunset key\nset size ratio -1\n"
      "set xrange [0:16.4]\nset yrange [1.4:10.4]\n" +
          cells(1.2, 9.2, "Q (T, d_k)", Q, true, words) + symbol(5.7, 8.15, "times") +
          cells(6.6, 9.2, "K^T (d_k, T)", xt::transpose(K), false) +
          symbol(10.85, 8.15, "/ sqrt(d_k)  =") + cells(12.1, 9.2, "S (T, T): scores", S, true) +
          "set arrow from 13.6,6.9 to 13.6,5.55 nohead lc rgb '#0072B2' lw 1.5\n"
          "set arrow from 13.6,5.55 to 2.7,5.55 nohead lc rgb '#0072B2' lw 1.5\n"
          "set arrow from 2.7,5.55 to 2.7,5.0 filled lc rgb '#0072B2' lw 1.5\n"
          "set label 'mask later keys, then softmax of each row' at 8.1,5.8 center "
          "tc rgb '#0072B2'\n" +
          cells(1.2, 4.2, "A (T, T): weights", A, true, words) + symbol(5.0, 3.15, "times") +
          cells(5.9, 4.2, "V (T, d_v)", V, false) + symbol(10.8, 3.15, "=") +
          cells(11.7, 4.2, "O (T, d_v): output", O, true) + "plot -10 notitle");
}

}  // namespace heed
