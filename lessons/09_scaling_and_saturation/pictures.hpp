// pictures.hpp: the table and the pictures of lesson 09.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"

namespace heed {

// "2.35 +- 0.02": the mean and its standard error.
inline std::string mean_text(const std::vector<double>& x, int decimals) {
  const Estimate e = estimate(x);
  return decimal(e.mean, decimals) + " +- " + decimal(e.standard_error, decimals);
}

// The difference of the means of a and b, in standard errors.
inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  const Estimate x = estimate(a), y = estimate(b);
  return (x.mean - y.mean) / std::hypot(x.standard_error, y.standard_error);
}

// A table of the runs for d = 16, 64 and 256.
template <class Runs>
std::string table_of_runs(const std::vector<Runs>& runs) {
  std::string text = "  d  held-out loss   learning rate  saturated before training";
  const char* sizes[] = {" 16", " 64", "256"};
  for (std::size_t i = 0; i < 3; ++i)
    text += "\n" + std::string(sizes[i]) + pad_left(mean_text(runs[i].losses, 2), 15) +
            pad_left(decimal(runs[i].learning_rate, 3), 16) +
            pad_left(decimal(estimate(runs[i].saturated).mean, 0) + " %", 27);
  return text;
}

// The proportions of the numbers in bins of width 2 from -50 to 50.
inline Series histogram(const std::string& name, const Array& numbers) {
  Series series{name, {}, {}};
  for (double x = -50; x <= 50; x += 2) {
    const auto in_bin = xt::count_nonzero(numbers >= Real(x - 1) && numbers < Real(x + 1))();
    series.append(x, double(in_bin) / double(numbers.size()));
  }
  return series;
}

// Draws, for each row of scores (3, 3) and factors from 1 to 256, the norm of the Jacobian.
inline void draw_saturation(const Array& scores, const Names& words,
                            const std::function<Array(const Array&, double)>& norms_of) {
  const Names colors = {"#0072B2", "#D55E00", "#009E73"};
  std::string data = "$norms << END\n", plots;
  for (double power = 0; power <= 8; power += 0.125) {
    const Array norms = norms_of(scores, std::exp2(power));
    data += decimal(std::exp2(power), 4);
    for (const Real norm : norms) data += " " + decimal(norm, 6);
    data += "\n";
  }
  for (std::size_t i = 0; i < 3; ++i)
    plots += std::string(i > 0 ? ", " : "plot ") + "$norms using 1:" + std::to_string(i + 2) +
             " with lines lw 2.5 lc rgb '" + colors[i] + "' title \"query '" + words[i] + "'\"";
  picture_by_gnuplot(
      "09_scaling_and_saturation", "saturation",
      data + "END\nset title 'Large factors on the scores: the derivatives of softmax vanish'" +
          " font ',17'\nset logscale x 2\nset xrange [1:260]\nset xtics (1, 4, 12, 64, 256)\n" +
          "set xlabel 'factor on the scaled scores'\nset yrange [0:0.5]\n" +
          "set ylabel 'norm of the Jacobian'\nset key top right\n" +
          "set arrow from 4,graph 0 to 4,graph 1 nohead dt 2 lc rgb '#666666'\n" +
          "set label 'no division' at 3.8,graph 0.04 right tc rgb '#555555'\n" + plots);
}

// Draws the percentage of norms below x for d = 16, 64, 256, 1024 and 4096 (each sorted).
inline void draw_gradient_norms(const std::vector<std::vector<double>>& plain,
                                const std::vector<std::vector<double>>& divided) {
  const Names colors = {"#56B4E9", "#0072B2", "#CC79A7", "#E69F00", "#D55E00"};
  std::string data, plots;
  const auto curve = [&](const std::string& name, const std::vector<double>& norms,
                         const std::string& style) {
    data += "$" + name + " << END\n";
    for (std::size_t n = 0; n < norms.size(); n += 20)
      data += scientific(std::max(norms[n], 1e-12), 4) + " " +
              decimal(100.0 * double(n) / double(norms.size()), 1) + "\n";
    data += "END\n";
    plots += (plots.empty() ? "plot $" : ", $") + name + " with lines " + style;
  };
  for (std::size_t i = 0; i < plain.size(); ++i) {
    curve("plain" + std::to_string(i), plain[i], "lw 2.5 lc rgb '" + colors[i] + "'");
    curve("divided" + std::to_string(i), divided[i], "lw 2 dt 2 lc rgb '#009E73'");
  }
  picture_by_gnuplot(
      "09_scaling_and_saturation", "gradients",
      data + "set title 'Without the division, most gradients of queries vanish as d grows'" +
          " font ',17'\nset logscale x\nset xrange [1e-7:100]\nset format x '10^{%T}'\n" +
          "set yrange [0:100]\nset ytics format '%g %%'\nset mxtics 1\nunset key\n" +
          "set xlabel 'x: norm of the gradient of a query'\n" +
          "set ylabel 'queries with a norm below x'\n" +
          "set label 'd = 4096' at 4e-6,74 tc rgb '#D55E00'\n" +
          "set label 'd = 1024' at 4e-6,52 tc rgb '#E69F00'\n" +
          "set label 'd = 256' at 4e-6,27 tc rgb '#CC79A7'\n" +
          "set label 'd = 64' at 3e-5,9 tc rgb '#0072B2'\n" +
          "set label 'd = 16' at 8e-4,6 tc rgb '#56B4E9'\n" +
          "set label \"dashed: with the\\ndivision, all d\" at 0.8,22 tc rgb '#009E73'\n" + plots);
}

}  // namespace heed
