// pictures.hpp: the table and the plots of lesson 09.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <xtensor/xsort.hpp>

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

// The runs of the learning rate that is best in `choosing`.
template <class Runs>
const Runs& best(const std::vector<Runs>& rates) {
  return *std::min_element(rates.begin(), rates.end(), [](const Runs& a, const Runs& b) {
    return estimate(a.choosing).mean < estimate(b.choosing).mean;
  });
}

// The smallest difference of the best losses of two rows of two tables, in standard errors.
template <class Runs>
double smallest_difference(const std::vector<std::vector<Runs>>& a,
                           const std::vector<std::vector<Runs>>& b) {
  double smallest = INFINITY;
  for (std::size_t i = 0; i < a.size(); ++i)
    smallest = std::min(smallest, difference(best(a[i]).losses, best(b[i]).losses));
  return smallest;
}

// The percentage of queries with a weight above 0.99. Query 0 has one key, and does not count.
inline double saturated_queries(const Tensor& weights) {  // (B, T, T)
  const Array largest =
      xt::amax(xt::view(weights.value(), xt::all(), xt::range(1, weights.value().shape(1))), {2});
  return 100.0 * double(xt::count_nonzero(largest > Real(0.99))()) / double(largest.size());
}

// "11 %": the mean of percentages.
inline std::string percent_text(const std::vector<double>& percentages) {
  return decimal(estimate(percentages).mean, 0) + " %";
}

// The losses of four learning rates, a row for each name, and the percentages of saturated queries
// before and after training with the best rate.
template <class Runs>
std::string table_of_rates(const Names& names, const std::vector<std::vector<Runs>>& rows) {
  std::string text = std::string(64, ' ') + "saturated\n" + std::string(13, ' ') +
                     "  rate 0.003         0.01         0.03          0.1  before  after";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "\n" + pad_right(names[r], 13);
    for (const Runs& runs : rows[r]) text += pad_left(mean_text(runs.losses, 2), 13);
    text += pad_left(percent_text(best(rows[r]).before), 7) +
            pad_left(percent_text(best(rows[r]).after), 7);
  }
  return text;
}

// Plots the training losses of one seed with the best learning rate, a curve for each row, as means
// of five steps. The page of `heed book` gets those of the first and of the last row.
template <class Runs>
void draw_curves(const Names& names, const std::vector<std::vector<Runs>>& rows) {
  std::vector<Series> curves, means;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    curves.push_back(best(rows[r]).curve);
    curves.back().name = names[r];
    means.push_back({names[r], {}, {}});
    const std::vector<double>& y = curves.back().y;
    for (std::size_t i = 0; i + 5 <= y.size(); i += 5)
      means.back().append(double(i) + 2, std::accumulate(&y[i], &y[i] + 5, 0.0) / 5);
  }
  loss_curves("training loss (nats per character)", {curves.front(), curves.back()});
  picture("09_scaling_and_saturation", "training", means,
          CurveOptions{"d = 256: small steps lower the loss, small first scores alone do not",
                       "step", "training loss (nats per character)"});
}

// Prints the variance of random scores, and the mean of the squares of the divided ones.
inline void show_variances(std::size_t d, double variance, const Array& squares) {
  const Estimate scaled = estimate({squares.begin(), squares.end()});
  say(pad_left(std::to_string(d), 4) + pad_left(decimal(variance, 1), 18) +
      pad_left(decimal(scaled.mean, 2), 12) + " +- " + decimal(scaled.standard_error, 2));
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

// Plots the histograms of the scores for d up to 256.
inline void draw_histograms(const std::vector<Series>& histograms) {
  picture("09_scaling_and_saturation", "scores", {histograms.begin(), histograms.begin() + 4},
          CurveOptions{"Without the division, the scores spread as d grows", "score q.k",
                       "proportion of the scores"});
}

// Norms of the gradients of random queries of d numbers, and the proportion of queries whose two
// largest scores differ by less than 1 without the division.
struct QueryGradients {
  std::size_t d;
  std::vector<double> plain = {}, divided = {};  // norms without and with the division
  double close = 0;

  // Records queries with these scores S (20, keys) and these norms (20) of their gradients.
  void add(double divisor, const Array& S, const Array& norms) {
    std::vector<double>& all = divisor == 1 ? plain : divided;
    all.insert(all.end(), norms.begin(), norms.end());
    if (divisor != 1) return;
    const Array sorted = xt::sort(S, 1);
    const std::size_t keys = S.shape(1);
    const Array gaps = xt::col(sorted, int(keys) - 1) - xt::col(sorted, int(keys) - 2);
    close += double(xt::count_nonzero(gaps < 1)()) / 4000;
  }
};

// Prints a row for each d, and sorts the norms.
inline void show_query_gradients(std::vector<QueryGradients>& all) {
  say("\n          median gradient          gap below 1");
  say("   d   without   with division   of all  times sqrt(d)");
  for (QueryGradients& x : all) {
    std::sort(x.plain.begin(), x.plain.end());
    std::sort(x.divided.begin(), x.divided.end());
    say(pad_left(std::to_string(x.d), 4) + pad_left(scientific(x.plain[2000], 1), 10) +
        pad_left(decimal(x.divided[2000], 2), 16) + pad_left(decimal(100 * x.close, 1) + " %", 9) +
        pad_left(decimal(x.close * std::sqrt(double(x.d)), 2), 15));
  }
}

// For each query of the scores (3, 3): the norm of the Jacobian of softmax(factor * scores).
inline Array jacobian_norms(const Array& scores, double factor,
                            Array (*jacobian)(const Array& weights)) {
  const Array weights = softmax(Tensor(scores) * factor, -1).value();
  Array norms = zeros({3});
  for (std::size_t i = 0; i < 3; ++i)
    norms(i) = std::sqrt(xt::sum(xt::square(jacobian(xt::view(weights, i))))());
  return norms;
}

inline void show_norms(const Array& scores, const std::vector<double>& factors, const Names& words,
                       Array (*jacobian)(const Array& weights)) {
  Array norms = zeros({factors.size(), 3});
  Names rows;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    xt::view(norms, f) = jacobian_norms(scores, factors[f], jacobian);
    rows.push_back("times " + decimal(factors[f], 0));
  }
  show(norms, {"norm of the Jacobian", rows, words, 2});
}

// Plots, for each row of scores (3, 3) and factors from 1 to 256, the norm of the Jacobian.
inline void draw_saturation(const Array& scores, const Names& words,
                            Array (*jacobian)(const Array& weights)) {
  const Names colors = {"#0072B2", "#D55E00", "#009E73"};
  std::string data = "$norms << END\n", plots;
  for (double power = 0; power <= 8; power += 0.125) {
    const Array norms = jacobian_norms(scores, std::exp2(power), jacobian);
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

// Plots the percentage of norms below x for d = 16, 64, 256, 1024 and 4096 (each sorted).
inline void draw_gradient_norms(const std::vector<QueryGradients>& all) {
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
  for (std::size_t i = 0; i < all.size(); ++i) {
    curve("plain" + std::to_string(i), all[i].plain, "lw 2.5 lc rgb '" + colors[i] + "'");
    curve("divided" + std::to_string(i), all[i].divided, "lw 2 dt 2 lc rgb '#009E73'");
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
