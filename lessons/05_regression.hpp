// 05_regression.hpp: kernel regression (Nadaraya and Watson, 1964) as dot-product attention.
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

// The weighted mean of all y, with the weights exp(-(x - x_i)^2 / (2 h^2)) for each x of `at`.
inline Array kernel_regression(const Array& at, const Array& x, const Array& y, Real h) {
  Array result = zeros({at.size()});
  for (std::size_t t = 0; t < at.size(); ++t) {
    Real sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real weight = std::exp(-(at(t) - x(i)) * (at(t) - x(i)) / (2 * h * h));
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
  Array keys = xt::stack(xt::xtuple(x / (h * h), -x * x / (2 * h * h)), 1);  // (S, 2)
  Tensor scores = matmul(Tensor(queries), transpose(Tensor(keys), 0, 1));    // (T, S)
  return matmul(softmax(scores, -1), Tensor(y)).value();                     // (T)
}

inline double mean_squared_error(const Array& a, const Array& b) {
  return xt::mean((a - b) * (a - b))();
}

inline void draw_regression(const Array& at, const std::vector<Array>& curves) {
  std::vector<Series> series = {{"sin x", {}, {}}, {"h = 0.05", {}, {}}, {"h = 0.4", {}, {}}};
  for (std::size_t c = 0; c < series.size(); ++c)
    for (std::size_t t = 0; t < at.size(); ++t) series[c].append(at(t), curves[c](t));
  CurveOptions options;
  options.title = "Kernel regression from 40 noisy points";
  options.x_title = "x (query)";
  options.y_title = "y";
  picture("05_query_key_value", "regression", series, options);
}

inline void attention_as_regression() {
  section("Attention before words: regression");
  say("You may skip this section. It shows that weighted means with computed weights",
      "are older than language models. A curve is measured at 40 points x_i, with",
      "normally distributed errors e_i: y_i = sin(x_i) + 0.2 e_i. What is its value at",
      "another x? KERNEL REGRESSION (Nadaraya, \"On Estimating Regression\", and Watson,",
      "\"Smooth Regression Analysis\", both 1964) is the mean of all y_i with larger",
      "weights for nearer points. The weight of point i is", "",
      "  exp(-(x - x_i)^2 / (2 h^2)), divided by the sum of these over all points", "",
      "This is attention: the query contains x, the key x_i, and the value is y_i. The",
      "score is a negative squared distance, -(x - x_i)^2 / (2 h^2), but softmax of a",
      "dot product gives the same weights. A smaller h makes the scores differ more:",
      "far points get almost no weight.", "",
      "mean squared error against sin x (one sample of 40 points)");
  Generator g(5);
  const Array x = g.uniform({40}, 0, 6);
  const Array y = xt::sin(x) + Real(0.2) * g.randn({40});
  const Array at = xt::linspace<Real>(0, 6, 121), truth = xt::sin(at);
  const Array mean = filled({121}, Real(xt::mean(y)()));
  say("  equal weights  " + decimal(mean_squared_error(mean, truth), 4));
  std::vector<Array> curves = {truth};
  for (const Real h : {Real(0.05), Real(0.4), Real(3)}) {
    curves.push_back(kernel_regression(at, x, y, h));
    say("  h = " + pad_right(decimal(h, 2), 11) +
        decimal(mean_squared_error(curves.back(), truth), 4));
  }
  check("kernel regression by hand = attention, h = 0.4", curves[2],
        regression_by_attention(at, x, y, Real(0.4)), 1e-4);
  say("", "A small h follows the noise, a large h gives nearly equal weights.");
  draw_regression(at, curves);
}

}  // namespace heed
