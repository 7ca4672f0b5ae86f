// costs.hpp: measures time and bytes of attention, and prints and plots them, for lesson 23.
#pragma once

#include <time.h>  // clock_gettime

#include <algorithm>
#include <cmath>
#include <functional>

#include "gnuplot_picture.hpp"

namespace heed {

using Attend = std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v)>;

// The processor time of this thread in milliseconds. It excludes the time of other programs.
inline double computing_time() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
}

// The shortest of several runs in milliseconds: other programs, which use the same fast memory,
// only make a run longer.
inline double least_milliseconds(const std::function<void()>& run) {
  double least = INFINITY, total = 0;
  for (int i = 0; i < (brief() ? 1 : 4) || total < (brief() ? 4 : 100); ++i) {
    const double start = computing_time();
    run();
    const double time = computing_time() - start;
    least = std::min(least, time), total += time;
  }
  return least;
}

// A kind of attention and its costs at several lengths n. The last length is not used for the fit.
struct Costs {
  std::string name;
  std::vector<double> n = {}, milliseconds = {}, bytes = {};
};

// The costs of attention over n keys of width 64 for n queries, or for one. The bytes are those of
// all arrays at the peak: q, k, v, the output, and everything in between.
inline Costs costs_of(const std::string& name, const std::vector<std::size_t>& lengths,
                      const Attend& attend, bool one_query = false) {
  const NoGrad no_grad;
  Costs costs{name};
  for (const std::size_t n : lengths) {
    const std::size_t before = allocated_bytes();
    Generator g(n);
    const Tensor q(g.randn({1, one_query ? 1 : n, 64})), k(g.randn({1, n, 64})),
        v(g.randn({1, n, 64}));
    reset_peak_bytes();
    costs.n.push_back(double(n));
    costs.milliseconds.push_back(least_milliseconds([&] { attend(q, k, v); }));
    costs.bytes.push_back(double(peak_allocated_bytes() - before));
  }
  return costs;
}

// y = factor n^slope, fitted by least squares to the logarithms of all points but the last.
struct PowerLaw {
  double factor, slope;
  double at(double n) const { return factor * std::pow(n, slope); }
};
inline PowerLaw fitted(const std::vector<double>& n, const std::vector<double>& y) {
  const std::size_t count = n.size() - 1;
  double x_mean = 0, y_mean = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < count; ++i)
    x_mean += std::log(n[i]) / double(count), y_mean += std::log(y[i]) / double(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double dx = std::log(n[i]) - x_mean;
    xx += dx * dx, xy += dx * (std::log(y[i]) - y_mean);
  }
  return {std::exp(y_mean - xy / xx * x_mean), xy / xx};
}

// Prints time and memory at each length that the fit uses.
inline std::string lengths_table(const Costs& costs) {
  std::string text = "     n       ms      MB";
  for (std::size_t i = 0; i + 1 < costs.n.size(); ++i)
    text += "\n" + pad_left(grouped(costs.n[i]), 6) +
            pad_left(decimal(costs.milliseconds[i], 2), 9) +
            pad_left(decimal(costs.bytes[i] / 1e6, 1), 8);
  return text;
}

inline std::string milliseconds(double time) { return decimal(time, time < 1 ? 3 : 2); }

// The table of these kinds: the slopes, the time at the longest length of the fit, what the fit
// predicts for the last length, and what was measured there.
inline std::string table_of(const std::vector<Costs>& kinds) {
  const std::vector<double>& n = kinds[0].n;
  const std::string fitted_last = grouped(n[n.size() - 2]), last = grouped(n.back());
  std::string text = "                         slope of   n = " + fitted_last + "    n = " + last +
                     "\n                      time  memory        ms   fit ms      ms       MB";
  for (const Costs& costs : kinds) {
    const PowerLaw time = fitted(costs.n, costs.milliseconds), bytes = fitted(costs.n, costs.bytes);
    text += "\n" + pad_right(costs.name, 20) + pad_left(decimal(time.slope, 2), 6) +
            pad_left(decimal(bytes.slope, 2), 8) +
            pad_left(milliseconds(costs.milliseconds[n.size() - 2]), 10) +
            pad_left(milliseconds(time.at(costs.n.back())), 9) +
            pad_left(milliseconds(costs.milliseconds.back()), 8) +
            pad_left(decimal(costs.bytes.back() / 1e6, 1), 9);
  }
  return text;
}

// An operation of plain attention: its time, FLOPs, and the matrices (n, n) of floats that it reads
// and writes.
struct Operation {
  std::string name;
  std::function<void()> run;
  double flops, matrices;
};
// `whole` is the time of all operations in one call, in milliseconds.
inline std::string table_of(const std::vector<Operation>& operations, double n, double whole) {
  double sum = 0, flops = 0;
  std::vector<double> times;
  for (const Operation& o : operations) {
    times.push_back(least_milliseconds(o.run));
    sum += times.back(), flops += o.flops;
  }
  const auto line = [](const std::string& name, double time) {
    return "\n" + pad_right(name, 18) + pad_left(decimal(time, 2), 7);
  };
  std::string text = "                       ms   % of time   % of FLOPs   traffic in MB";
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& o = operations[i];
    text += line(o.name, times[i]) + pad_left(decimal(100 * times[i] / sum, 0), 12) +
            pad_left(decimal(100 * o.flops / flops, 1), 13) +
            pad_left(decimal(o.matrices * n * n * sizeof(Real) / 1e6, 0), 16);
  }
  return text + line("sum", sum) + line("all in one call", whole);
}

// Plots time and bytes against n, side by side, with logarithmic axes.
inline void draw_costs(const std::string& lesson, const std::vector<Costs>& kinds) {
  const Names colors = {"#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00"};
  std::string data, panels[2];
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    Array points = zeros({kinds[i].n.size(), 3});
    for (std::size_t j = 0; j < points.shape(0); ++j)
      xt::row(points, int(j)) =
          Array{Real(kinds[i].n[j]), Real(kinds[i].milliseconds[j]), Real(kinds[i].bytes[j] / 1e6)};
    data += gnuplot_block("kind" + std::to_string(i), points);
    for (std::size_t p = 0; p < 2; ++p)
      panels[p] += (i == 0 ? "plot $kind" : ", $kind") + std::to_string(i) +
                   " using 1:" + std::to_string(2 + p) +
                   " with linespoints pt 7 ps 0.6 lw 2 lc rgb '" + colors[i] + "' title '" +
                   kinds[i].name + "'";
  }
  picture_by_gnuplot(lesson, "costs",
                     data + "set logscale x 2\nset logscale y 10\nset format y '%g'\n" +
                         "set xtics ('256' 256, '1024' 1024, '8192' 8192)\n" +
                         "set xrange [200:11000]\nset xlabel 'n, the number of keys'\n" +
                         "set key at screen 0.76, 0.8 left top Left reverse samplen 1.5\n" +
                         "set multiplot layout 1,2 margins 0.12,0.74,0.17,0.92 spacing 0.13\n" +
                         "set ylabel 'milliseconds'\nset yrange [0.001:10000]\n" + panels[0] +
                         "\nset ylabel 'MB'\nset yrange [0.1:10000]\nunset key\n" + panels[1] +
                         "\nunset multiplot");
}

// Draws the tiles of online softmax: 4 blocks of queries, 6 blocks of keys. The third block of
// queries is at its fourth tile.
inline void draw_tiles(const std::string& lesson) {
  std::string script =
      "unset border\nunset tics\nunset grid\nunset key\nset xrange [-3.2:12]\nset yrange "
      "[-1.6:6.6]\n";
  int object = 0;
  const auto box = [&](double x, double y, double w, double h, const std::string& color,
                       const std::string& text = "") {
    script += "set object " + std::to_string(++object) + " rect from " + decimal(x, 2) + "," +
              decimal(y, 2) + " to " + decimal(x + w, 2) + "," + decimal(y + h, 2) + " fc rgb '" +
              color + "' fs solid border lc rgb '#666666'\n";
    if (!text.empty())
      script += "set label '" + text + "' at " + decimal(x + w / 2, 2) + "," +
                decimal(y + h / 2, 2) + " center front\n";
  };
  const auto label = [&](double x, double y, const std::string& text) {
    script += "set label '" + text + "' at " + decimal(x, 2) + "," + decimal(y, 2) + " center\n";
  };
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 6; ++column) {
      const bool now = row == 2 && column == 3, past = row < 2 || (row == 2 && column < 3);
      box(column, 3 - row, 1, 1,
          now    ? "#E69F00"
          : past ? "#DDDDDD"
                 : "#FFFFFF",
          now ? "S tile" : "");
    }
  for (int row = 0; row < 4; ++row) box(-1.4, 3 - row, 1, 1, row == 2 ? "#56B4E9" : "#FFFFFF", "Q");
  for (int column = 0; column < 6; ++column)
    box(column, 4.4, 1, 0.9, column == 3 ? "#56B4E9" : "#FFFFFF", "K, V");
  for (int row = 0; row < 4; ++row) box(10.4, 3 - row, 1, 1, row < 2 ? "#009E73" : "#FFFFFF", "O");
  box(6.9, 1, 2.4, 1, "#F0E442", "m, l, o");
  script +=
      "set arrow from 4.05,1.5 to 6.85,1.5 front lw 2\n"
      "set arrow from 9.35,1.5 to 10.35,1.5 front lw 2 dt 2\n";
  label(3, 5.7, "blocks of keys and values, from left to right");
  label(-0.9, 5.0, "blocks");
  label(-0.9, 4.6, "of queries");
  label(8.1, 2.3, "added to");
  label(8.1, 0.7, "after the last");
  label(8.1, 0.35, "tile: O = o / l");
  label(10.9, 4.3, "output");
  label(4.5, -0.5,
        "blue, orange, yellow: in fast memory now;  grey: used and overwritten;  green: done");
  label(4.5, -1, "The whole matrix of scores, (n, n), is never stored.");
  picture_by_gnuplot(lesson, "tiles", script + "plot NaN notitle");
}

}  // namespace heed
