// plane.hpp: the picture of lesson 01: embeddings and causal means in the plane of water and
// money.
#pragma once

#include "bank.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// A gnuplot command that writes the text at the point (x, y).
inline std::string text_at(double x, double y, const std::string& text,
                           const std::string& options = "") {
  return "set label \"" + text + "\" at " + decimal(x, 3) + "," + decimal(y, 3) + " " + options +
         "\n";
}

// Draws the embeddings of the words and the weighted sum at each 'bank'. Both second 'bank's have
// the same one.
inline void draw_plane(const BankWeights& weights_of) {
  Array first = zeros({2, 2}), second = zeros({2, 2});  // one row for each text
  for (std::size_t i = 0; i < 2; ++i) {
    const BankText& text = bank_texts()[i];
    const Array c = xt::linalg::dot(weights_of(text), text.X);  // (12, 2)
    xt::view(first, i) = xt::view(c, text.banks[0]);
    xt::view(second, i) = xt::view(c, text.banks[1]);
  }
  const std::string grey = "tc rgb '#555555'", blue = "tc rgb '#0072B2'", red = "tc rgb '#D55E00'";
  picture_by_gnuplot(
      "01_averaging", "plane",
      gnuplot_block("words", {{1, 0}, {0, 1}, {Real(0.5), Real(0.5)}, {0, 0}}) +
          gnuplot_block("first", first) + gnuplot_block("second", second) +
          "set title \"The causal mean at each 'bank' (dots), and the embeddings (squares)\"\n"
          "set size ratio -1\nset xrange [-0.1:1.25]\nset yrange [-0.1:1.1]\nunset key\nunset "
          "grid\n"
          "set xlabel 'component 0: water'\nset ylabel 'component 1: money'\n"
          "set object 1 polygon from -0.1,-0.1 to 1.1,1.1 to 1.25,1.1 to 1.25,-0.1 to -0.1,-0.1"
          " fc rgb '#E3F0F8' fs solid noborder behind\n"
          "set object 2 polygon from -0.1,-0.1 to 1.1,1.1 to -0.1,1.1 to -0.1,-0.1"
          " fc rgb '#FCEBDD' fs solid noborder behind\n" +
          text_at(0.86, 0.90, "p(floods) = 0.5", "rotate by 45 center " + grey) +
          text_at(0.95, 0.60, "p(floods) = 0.9", "rotate by 45 center " + grey) +
          text_at(0.59, 0.95, "p(lends) = 0.9", "rotate by 45 center " + grey) +
          text_at(1.0, 0.06, "river", "center " + grey) +
          text_at(0.0, 1.05, "money", "center " + grey) +
          text_at(0.47, 0.53, "bank", "right " + grey) +
          text_at(-0.02, -0.05, "the, and, a, floods, lends", "left " + grey) +
          text_at(0.34, 0.10, "first 'bank', after 'river'", "left " + blue) +
          text_at(-0.07, 0.42, "first 'bank',\\nafter 'money'", "left " + red) +
          text_at(0.22, 0.18, "second 'bank', in both texts: a guess", "left") +
          "plot x with lines lw 2 lc rgb '#888888',"
          " [0.52:*] x - log(9) / 8 with lines dt 2 lc rgb '#888888',"
          " [0.3:*] x + log(9) / 8 with lines dt 2 lc rgb '#888888',"
          " $words pt 5 ps 1.1 lc rgb '#555555',"
          " $first every ::0::0 pt 7 ps 1.4 lc rgb '#0072B2',"
          " $first every ::1::1 pt 7 ps 1.4 lc rgb '#D55E00',"
          " $second pt 7 ps 1.4 lc rgb '#000000'");
}

}  // namespace heed
