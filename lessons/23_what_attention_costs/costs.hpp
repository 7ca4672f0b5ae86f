// costs.hpp: measures the time and the bytes of attention for several lengths n, and fits the
// exponents of n, for lesson 23.
#pragma once

#include <time.h>  // clock_gettime

#include <algorithm>
#include <cmath>
#include <functional>

#include "gnuplot_picture.hpp"
#include "linear_attention.hpp"

namespace heed {

// A way to compute attention, and what it costs at each length.
struct Costs {
  std::string name;
  std::vector<double> n = {}, milliseconds = {}, bytes = {};
};

using Attend = std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v)>;

// The processor time of this thread in milliseconds. It excludes the time of other programs.
inline double computing_time() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
}

// Attention of `queries` queries over n keys of width 64. The time is the smallest of several
// repetitions, because other programs (which use the same caches) only make it longer. The bytes
// are those of all arrays at the peak: q, k, v, the output, and everything in between.
inline void measure(Costs& costs, std::size_t queries, std::size_t n, const Attend& attend) {
  const std::size_t before = allocated_bytes();
  Generator g(n);
  const Tensor q(g.randn({1, queries, 64})), k(g.randn({1, n, 64})), v(g.randn({1, n, 64}));
  reset_peak_bytes();
  double least = INFINITY, total = 0;
  for (int i = 0; i < 1 || total < (brief() ? 4 : 40); ++i) {
    const double start = computing_time();
    attend(q, k, v);
    const double time = computing_time() - start;
    least = std::min(least, time), total += time;
  }
  const auto known = std::find(costs.n.begin(), costs.n.end(), double(n));
  if (known != costs.n.end()) {
    double& time = costs.milliseconds[std::size_t(known - costs.n.begin())];
    time = std::min(time, least);
    return;
  }
  costs.n.push_back(double(n)), costs.milliseconds.push_back(least);
  costs.bytes.push_back(double(peak_allocated_bytes() - before));
}

// Causal attention with `past` keys in a cache, or with a sliding window.
inline AttentionOptions causal(std::size_t past = 0, std::size_t window = 0) {
  AttentionOptions options;
  options.causal = true, options.past = past, options.window = window;
  return options;
}

// Measures each kind of attention that the lesson compares at several lengths.
inline void measure_round(std::vector<Costs>& all) {
  const auto longest = std::size_t(in_brief(2048, 1024));
  for (std::size_t n = 256; n <= longest; n *= 2) {
    measure(all[0], n, n, [](const Tensor& q, const Tensor& k, const Tensor& v) {
      return attention_with_weights(q, k, v, causal()).output;
    });
    measure(all[1], n, n, [](const Tensor& q, const Tensor& k, const Tensor& v) {
      return scaled_dot_product_attention(q, k, v, causal());
    });
    measure(all[2], n, n, [](const Tensor& q, const Tensor& k, const Tensor& v) {
      return scaled_dot_product_attention(q, k, v, causal(0, 128));
    });
    measure(all[3], n, n, [](const Tensor& q, const Tensor& k, const Tensor& v) {
      return linear_attention(q, k, v);
    });
  }
  for (std::size_t n = 1024; n <= 8 * longest; n *= 2)
    measure(all[4], 1, n, [n](const Tensor& q, const Tensor& k, const Tensor& v) {
      return scaled_dot_product_attention(q, k, v, causal(n - 1));
    });
}

// The costs of the kinds of attention, measured in five rounds: another program may disturb a
// round.
inline std::vector<Costs> measured_costs() {
  const NoGrad no_grad;
  std::vector<Costs> all = {
      {"plain"}, {"fused"}, {"fused, window 128"}, {"linear, no mask"}, {"one token, KV cache"}};
  for (int round = 0; round < 5; ++round) measure_round(all);
  return all;
}

// y = constant n^slope, fitted by least squares to the logarithms, and R^2, the fraction of the
// variance of ln y that the fit explains.
struct PowerLaw {
  double slope, r_squared;
};
inline PowerLaw fitted(const std::vector<double>& n, const std::vector<double>& y) {
  const double count = double(n.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < n.size(); ++i)
    mean_x += std::log(n[i]) / count, mean_y += std::log(y[i]) / count;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double dx = std::log(n[i]) - mean_x, dy = std::log(y[i]) - mean_y;
    xx += dx * dx, xy += dx * dy, yy += dy * dy;
  }
  return {xy / xx, xy * xy / (xx * yy)};
}
inline double byte_slope(const Costs& costs) { return fitted(costs.n, costs.bytes).slope; }

// The fitted slopes, R^2, and time and bytes at the largest n.
inline std::string table_of(const std::vector<Costs>& all) {
  std::string text =
      "                        time          bytes          at largest"
      "\n                       slope    R^2  slope    R^2          n       ms     kB";
  for (const Costs& costs : all) {
    const PowerLaw time = fitted(costs.n, costs.milliseconds), bytes = fitted(costs.n, costs.bytes);
    text += "\n" + pad_right(costs.name, 22) + pad_left(decimal(time.slope, 2), 6) +
            pad_left(decimal(time.r_squared, 3), 7) + pad_left(decimal(bytes.slope, 2), 7) +
            pad_left(decimal(bytes.r_squared, 3), 7) + pad_left(grouped(costs.n.back()), 11) +
            pad_left(decimal(costs.milliseconds.back(), 3), 9) +
            pad_left(grouped(costs.bytes.back() / 1024), 7);
  }
  return text;
}

// Time and bytes against n, side by side, with logarithmic axes.
inline void draw_costs(const std::string& lesson, const std::vector<Costs>& all) {
  const Names colors = {"#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7"};
  std::string data, panels[2];
  for (std::size_t i = 0; i < all.size(); ++i) {
    Array points = zeros({all[i].n.size(), 3});
    for (std::size_t j = 0; j < points.shape(0); ++j) {
      points(j, 0) = Real(all[i].n[j]), points(j, 1) = Real(all[i].milliseconds[j]);
      points(j, 2) = Real(all[i].bytes[j] / 1024);
    }
    data += gnuplot_block("kind" + std::to_string(i), points);
    for (std::size_t p = 0; p < 2; ++p)
      panels[p] += (i == 0 ? "plot $kind" : ", $kind") + std::to_string(i) +
                   " using 1:" + std::to_string(2 + p) +
                   " with linespoints pt 7 ps 0.6 lw 2 lc rgb '" + colors[i] + "' title '" +
                   all[i].name + "'";
  }
  picture_by_gnuplot(
      lesson, "costs",
      data + "set logscale x 2\nset logscale y 10\nset format y '%g'\n" +
          "set xtics ('256' 256, '1024' 1024, '4096' 4096, '16384' 16384)\n" +
          "set xrange [200:22000]\nset xlabel 'n, the number of keys (log scale)'\n" +
          "set key at screen 0.76, 0.8 left top Left reverse samplen 1.5\n" +
          "set multiplot layout 1,2 margins 0.12,0.74,0.17,0.88 spacing 0.13 title " +
          "'Plain attention: time and memory grow with the square of n'\n" +
          "set ylabel 'milliseconds (log scale)'\n" + panels[0] +
          "\nset ylabel 'kB (log scale)'\nunset key\n" + panels[1] + "\nunset multiplot");
}

}  // namespace heed
