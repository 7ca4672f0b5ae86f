// regression.hpp: kernel regression (Nadaraya and Watson, 1964) as dot-product attention.
#pragma once

#include <cmath>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "lesson.hpp"

namespace heed {

// The weighted mean of all y, with the weights exp(-(x - x_i)^2 / (2 h^2)) for each x of `at`.
inline Array kernel_regression(const Array& at, const Array& x, const Array& y, Real h) {
  Array result = zeros({at.size()});
  for (std::size_t t = 0; t < at.size(); ++t) {
    Array distances = (x - at(t)) * (x - at(t));
    const Real smallest = xt::amin(distances)();  // subtracted from all, or each exp may be 0
    Real sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real weight = std::exp((smallest - distances(i)) / (2 * h * h));
      result(t) += weight * y(i);
      sum += weight;
    }
    result(t) /= sum;
  }
  return result;
}

// The same as attention. The score -(x - x_i)^2 / (2 h^2) is (x x_i - x_i^2 / 2) / h^2, except for
// a term without i, which does not change softmax. So the query is (x, 1), the key is
// (x_i / h^2, -x_i^2 / (2 h^2)), and the value is y_i.
inline Array regression_by_attention(const Array& at, const Array& x, const Array& y, Real h) {
  Array queries = xt::stack(xt::xtuple(at, xt::ones_like(at)), 1);           // (T, 2)
  Array keys = xt::stack(xt::xtuple(x / (h * h), -x * x / (2 * h * h)), 1);  // (N, 2)
  Tensor scores = matmul(Tensor(queries), transpose(Tensor(keys), 0, 1));    // (T, N)
  return matmul(softmax(scores, -1), Tensor(y)).value();                     // (T)
}

inline double mean_squared_error(const Array& a, const Array& b) {
  return xt::mean((a - b) * (a - b))();
}

// One sample: 40 points x_i and y_i = sin(x_i) + 0.2 e_i.
struct Sample {
  Array x, y;
};

inline Sample sample(Generator& g) {
  const Array x = g.uniform({40}, 0, 6);
  return {x, xt::sin(x) + Real(0.2) * g.randn({40})};
}

const std::vector<Real> bandwidths = {Real(0.05), Real(0.4), Real(3)};

// The weights of the points x for the query `at`.
inline Array kernel_weights(Real at, const Array& x, Real h) {
  return softmax(Tensor(Array(-(x - at) * (x - at) / (2 * h * h))), 0).value();
}

// Draws the points, sin x, and the estimate for each bandwidth; below, the weights of the points
// for the query x = 2.
inline void draw_regression(const Sample& points) {
  const Array at = xt::linspace<Real>(0, 6, 1201);
  std::string data = gnuplot_block("points", xt::stack(xt::xtuple(points.x, points.y), 1));
  std::string curves =
      "plot sin(x) dt 2 lw 2 lc rgb '#888888' title 'sin x', $points pt 6 lc rgb "
      "'#000000' title '40 points'";
  std::string weights = "plot ";
  for (std::size_t b = 0; b < bandwidths.size(); ++b) {
    const Real h = bandwidths[b];
    const std::string number = std::to_string(b), title = " title 'h = " + decimal(h, 2) + "'";
    const std::string colour = " lc rgb '" + Names{"#56B4E9", "#D55E00", "#009E73"}[b] + "'";
    const Array curve = kernel_regression(at, points.x, points.y, h);
    data += gnuplot_block("curve" + number, xt::stack(xt::xtuple(at, curve), 1)) +
            gnuplot_block("weights" + number,
                          xt::stack(xt::xtuple(points.x, kernel_weights(2, points.x, h)), 1));
    curves += ", $curve" + number + " with lines lw 2" + colour + title;
    weights += (b > 0 ? ", $weights" : "$weights") + number + " with impulses lw 1" + colour +
               " notitle, $weights" + number + " pt 7 ps 0.6" + colour + title;
  }
  picture_by_gnuplot(
      "04_query_key_value", "regression",
      data +
          "set multiplot\nset xrange [0:6]\nset samples 200\nset lmargin 10\n"
          "set rmargin 18\nset key outside right top vertical maxcols 1 Left reverse samplen 2\n"
          "set size 1,0.56\nset origin 0,0.44\nset ylabel 'y: value, output'\n"
          "set title 'Kernel regression: attention over 40 noisy points'\n" +
          curves +
          "\nset size 1,0.46\nset origin 0,0\nset yrange [0:1.1]\nset ytics 0.5\nset xlabel 'x: "
          "key, query'\n"
          "set ylabel 'attention weight'\nset title 'Weights of the query x = 2'\n" +
          weights + "\nunset multiplot");
}

inline void attention_as_regression() {
  section("Attention in statistics: kernel regression");
  say("You may skip this section. Weighted means with computed weights are older than",
      "neural language models. A curve is measured at 40 points x_i, with random errors",
      "e_i (normally distributed, with mean 0 and variance 1): y_i = sin(x_i) + 0.2",
      "e_i. What is its value at another x? KERNEL REGRESSION takes the mean of all y_i",
      "with larger weights for nearer points. The NADARAYA-WATSON ESTIMATOR (Nadaraya,",
      "\"On Estimating Regression\", and Watson, \"Smooth Regression Analysis\", both 1964)",
      "with a GAUSSIAN KERNEL of the BANDWIDTH h gives point i the weight", "",
      "  exp(-(x - x_i)^2 / (2 h^2)) / (the sum of these over all points)", "",
      "This is attention: softmax of the scores -(x - x_i)^2 / (2 h^2), and the value",
      "of point i is y_i. A dot product gives the same weights:", "",
      "  -(x - x_i)^2 / (2 h^2) = -x^2 / (2 h^2) + (x x_i - x_i^2 / 2) / h^2", "",
      "The first term is the same for all points i, so softmax does not depend on it.",
      "The second term is the dot product of the query (x, 1) and the key", "",
      "  (x_i / h^2, -x_i^2 / (2 h^2))", "",
      "Here is the mean squared error against sin x over 121 equally spaced x from 0 to",
      "6, as a mean of 100 samples of 40 points +- its standard error:", "");
  Generator g(5);
  const Array at = xt::linspace<Real>(0, 6, 121), truth = xt::sin(at);
  const Sample first = sample(g);
  std::vector<std::vector<double>> errors(4);  // equal weights, then one list for each bandwidth
  for (int s = 0; s < 100; ++s) {
    const Sample now = sample(g);
    const Array mean = filled({121}, Real(xt::mean(now.y)()));
    errors[0].push_back(mean_squared_error(mean, truth));
    for (std::size_t b = 0; b < 3; ++b)
      errors[b + 1].push_back(
          mean_squared_error(kernel_regression(at, now.x, now.y, bandwidths[b]), truth));
  }
  for (std::size_t row = 0; row < 4; ++row) {
    const Estimate error = estimate(errors[row]);
    say("  " +
        pad_right(row == 0 ? "equal weights" : "h = " + decimal(bandwidths[row - 1], 2), 15) +
        decimal(error.mean, 4) + " +- " + decimal(error.standard_error, 4));
  }
  check("kernel regression by hand = attention, h = 0.4",
        kernel_regression(at, first.x, first.y, Real(0.4)),
        regression_by_attention(at, first.x, first.y, Real(0.4)), 1e-4);
  say("", "With a small h, only few points have a large weight, and the estimate follows",
      "their errors: it has a large variance. With a larger h, points with other values",
      "of the curve have weights too: the estimate has a bias, and approaches that of",
      "equal weights. The middle h has the smallest error.");
  draw_regression(first);
}

}  // namespace heed
