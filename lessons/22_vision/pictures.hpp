// pictures.hpp: the tables and plots of lesson 22.
#pragma once

#include <algorithm>

#include "gnuplot_picture.hpp"
#include "measures.hpp"

namespace heed {

// gnuplot commands that draw an image (side, side) in grey and, over it, a square for each patch
// with weight: the larger the weight (N), the less transparent.
inline std::string panel(const std::string& name, const Array& image, const Array& weights) {
  const Real largest = xt::amax(weights)();
  std::string squares = "$squares" + name + " << END\n";
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const double opacity = largest > 0 ? 0.75 * weights(n) / largest : 0;
    const auto color =
        std::int64_t(255 * (1 - opacity)) << 24 | 0xE66000;  // alpha, red, green, blue
    squares += std::to_string(n % grid * P + P / 2) + " " + std::to_string(n / grid * P + P / 2) +
               " " + std::to_string(color) + "\n";
  }
  const std::string half = decimal(double(P) / 2, 1);
  return gnuplot_block("image" + name, image) + squares + "END\nplot $image" + name +
         " matrix using ($1+0.5):($2+0.5):3 with image pixels notitle, $squares" + name +
         " using 1:2:(" + half + "):(" + half +
         "):3 with boxxyerror fs solid noborder fc rgb variable notitle\n";
}

// Plots the images with the indices which[0], which[1], ... (columns) with the weights (B, N) of
// patches laid over them (rows).
inline void draw_maps(const std::string& lesson, const Array& images,
                      const std::vector<std::size_t>& which, const std::vector<Array>& rows,
                      const Names& row_titles) {
  std::string script =
      "set terminal svg size 900,870 font 'sans-serif,14' background rgb 'white'\n"
      "set multiplot\nunset key\nunset colorbox\nunset grid\nunset tics\nset border 15\n"
      "set palette defined (0 '#000000', 1 '#FFFFFF')\nset cbrange [-0.9:1.5]\n"
      "set xrange [0:24]\nset yrange [24:0]\n";
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t b = 0; b < which.size(); ++b) {
      const double left = 90 + 200 * double(b), top = 40 + 205 * double(r);  // pixels
      script += "set lmargin at screen " + decimal(left / 900, 4) + "\nset rmargin at screen " +
                decimal((left + 190) / 900, 4) + "\nset tmargin at screen " +
                decimal(1 - top / 870, 4) + "\nset bmargin at screen " +
                decimal(1 - (top + 190) / 870, 4) + "\n";
      script += r == 0 ? "set title '" + shapes[b] + "' offset 0,-0.5\n" : "unset title\n";
      script += b == 0 ? "set ylabel \"" + row_titles[r] + "\" offset 0,0\n" : "unset ylabel\n";
      script += panel(std::to_string(r) + "_" + std::to_string(b), xt::view(images, which[b], 0),
                      xt::view(rows[r], which[b]));
    }
  picture_by_gnuplot(lesson, "maps", script + "unset multiplot");
}

// Draws how an image (side, side) becomes the tokens of a vision transformer, from top to bottom.
inline void draw_patches(const std::string& lesson, const Array& image) {
  std::string boxes = "$boxes << END\n", script;
  const auto box = [&](double x, double y, double half, double value) {
    const auto grey = std::int64_t(255 * std::clamp((value + 0.9) / 2.4, 0.0, 1.0));
    boxes += decimal(x, 3) + " " + decimal(y, 3) + " " + decimal(half, 3) + " " +
             std::to_string(grey * 65793) + "\n";  // equal parts of red, green and blue
  };
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t x = 0; x < side; ++x) {
      box(1.5 + 0.5 * double(x) + 0.3 * double(x / P), 0.5 * double(y) + 0.3 * double(y / P), 0.25,
          image(y, x));
      const double patch = 3.1 + 1.3 * double(y / P * grid + x / P);  // column in the row of tokens
      box(patch + 0.25 * double(x % P), 16.5 + 0.25 * double(y % P), 0.125, image(y, x));
    }
  const auto object = [&](double left, double top, double right, double bottom,
                          const std::string& colour) {
    script += "set object rectangle from " + decimal(left, 2) + "," + decimal(top, 2) + " to " +
              decimal(right, 2) + "," + decimal(bottom, 2) + " fs noborder fc rgb '" + colour +
              "'\n";
  };
  const auto label = [&](double x, double y, const std::string& text) {
    script += "set label \"" + text + "\" at " + decimal(x, 2) + "," + decimal(y, 2) + "\n";
  };
  const auto arrow = [&](double x, double from, double to, const std::string& style) {
    script += "set arrow from " + decimal(x, 2) + "," + decimal(from, 2) + " to " + decimal(x, 2) +
              "," + decimal(to, 2) + " size 0.4,20 filled lc rgb " + style + "\n";
  };
  arrow(8, 14.2, 16, "'#666666' lw 2");
  for (std::size_t n = 0; n < N; ++n) {
    const double x = 3.475 + 1.3 * double(n);
    arrow(x, 17.7, 19.6, "'#999999'");
    object(x - 0.45, 19.8, x + 0.45, 22.2, "#9CC7E6");
    arrow(x, 22.3, 23.4, "'#999999'");
  }
  object(1.4, 19.8, 2.4, 22.2, "#E66000");
  arrow(1.9, 22.3, 23.4, "'#E66000' lw 2");
  object(1.2, 23.6, 49.8, 25.4, "#EEEEEE");
  arrow(1.9, 25.5, 27, "'#E66000' lw 2");
  label(0.6, 18.8, "[CLS]");
  label(1.4, 28, "logits of the 4 shapes: norm and linear layer on the row of [CLS]");
  label(18, 24.5, "two transformer blocks, no mask");
  label(18, 2, "1.  Cut the image into 6 x 6 patches of 4 x 4 pixels.");
  label(18, 5, "2.  Put them into a row: 36 vectors of 16 numbers.");
  label(18, 8, "3.  One linear layer for all patches: 32 numbers each (blue).");
  label(18, 11, "4.  Put [CLS] in front, and add a position encoding to each.");
  picture_by_gnuplot(lesson, "patches",
                     boxes +
                         "END\nunset grid\nunset tics\nunset border\nunset key\n"
                         "set xrange [0:51]\nset yrange [29:-1]\nset lmargin 1\nset rmargin 1\n"
                         "set tmargin 1\nset bmargin 1\n" +
                         script +
                         "plot $boxes using 1:2:3:3:4 with boxxyerror fs solid noborder "
                         "fc rgb variable");
}

inline double smallest(const std::vector<double>& x) {
  return *std::min_element(x.begin(), x.end());
}
inline double largest_difference(const Tensor& a, const Tensor& b) {
  const Array difference = xt::abs(a.value() - b.value());
  return xt::amax(difference)();
}

// The accuracy of each model (rows) after the replacement of 0 to 8 patches, in one order.
struct DeletionCurve {
  std::string name, colour;
  std::vector<std::vector<double>> accuracies = {};

  std::vector<double> after(std::size_t i) const {  // replaced_patches[i]
    std::vector<double> all;
    for (const std::vector<double>& curve : accuracies) all.push_back(curve[i]);
    return all;
  }
};

// "0.78 +- 0.06": the mean over the seeds and its standard error, if there are several seeds.
inline std::string mean_and_error(const std::vector<double>& values) {
  const Estimate e = estimate(values);
  return decimal(e.mean, 2) + (values.size() < 2 ? "" : " +- " + decimal(e.standard_error, 2));
}

inline std::string line_of(const std::string& name, std::size_t parameters,
                           const std::vector<double>& all, const std::vector<double>& unseen) {
  return pad_right(name, 22) + pad_left(grouped(double(parameters)), 10) + "   " +
         pad_right(mean_and_error(all), 16) + mean_and_error(unseen);
}

// For each model, the difference of two curves after 4 replaced patches.
inline std::vector<double> differences(const DeletionCurve& a, const DeletionCurve& b) {
  std::vector<double> all = a.after(3);
  for (std::size_t m = 0; m < all.size(); ++m) all[m] -= b.after(3)[m];
  return all;
}

inline std::string table_of_curves(const std::vector<DeletionCurve>& curves) {
  std::string text = "patches replaced             0     1     2     4     8   4: minus row 1";
  for (const DeletionCurve& curve : curves) {
    text += "\n" + pad_right(curve.name, 24);
    for (std::size_t i = 0; i < replaced_patches.size(); ++i)
      text += pad_left(decimal(estimate(curve.after(i)).mean, 2), 6);
    if (&curve == &curves[0]) continue;
    const Estimate e = estimate(differences(curve, curves[0]));
    text += "   " + decimal(e.mean, 3) + " +- " + decimal(e.standard_error, 3);
  }
  return text;
}

inline void draw_deletion(const std::string& lesson, const std::vector<DeletionCurve>& curves) {
  std::string script, plots;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    Array points = zeros({replaced_patches.size(), 3});
    for (std::size_t i = 0; i < replaced_patches.size(); ++i) {
      const Estimate e = estimate(curves[c].after(i));
      points(i, 0) = Real(replaced_patches[i]), points(i, 1) = Real(e.mean);
      points(i, 2) = Real(curves[c].accuracies.size() < 2 ? 0 : e.standard_error);
    }
    script += gnuplot_block("c" + std::to_string(c), points);
    plots += (c == 0 ? "plot $c" : ", $c") + std::to_string(c) +
             " using 1:2:3 with yerrorlines lw 2 ps 0.9 pt 7 lc rgb '" + curves[c].colour +
             "' title '" + curves[c].name + "'";
  }
  picture_by_gnuplot(lesson, "deletion",
                     script +
                         "set title 'patches replaced by noise (mean of the seeds, standard "
                         "error)'\nset xlabel 'patches'\nset ylabel 'accuracy'\n"
                         "set yrange [0.15:1.03]\nset xrange [-0.2:8.3]\n"
                         "set key outside bottom center horizontal maxcols 4 width -2\n" +
                         plots + ", 0.25 with lines dt 2 lc rgb '#888888' title 'guessing'");
}

}  // namespace heed
