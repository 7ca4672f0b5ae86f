// 06_with_and_without.hpp: compares attention with and without the factor 1 / sqrt(d): norms of
// Jacobians and gradients, and one head that is trained both ways.
#pragma once

#include <algorithm>
#include <cmath>

#include "lesson.hpp"

namespace heed {

// The norm of the Jacobian J_ij = p_i (i == j) - p_i p_j of softmax: the root of the sum of J_ij^2.
inline Real jacobian_norm(const Array& p) {
  const Real squares = xt::sum(p * p)(), cubes = xt::sum(p * p * p)();
  return std::sqrt(std::max(Real(0), squares - 2 * cubes + squares * squares));
}

// The mean of the norms of the rows of softmax(scores), as the scores (N, S) are multiplied.
inline Series mean_norms(const std::string& name, const Tensor& scores,
                         const std::vector<double>& log2_factors) {
  Series norms{name, {}, {}};
  for (const double power : log2_factors) {
    const Array weights = softmax(scores * std::exp2(power), -1).value();
    double sum = 0;
    for (std::size_t i = 0; i < weights.shape(0); ++i)
      sum += double(jacobian_norm(xt::view(weights, i)));
    norms.append(power, sum / double(weights.shape(0)));
  }
  return norms;
}

inline void draw_saturation(const Tensor& scores) {
  std::vector<double> powers;
  for (double power = -3; power <= 8; power += 0.125) powers.push_back(power);
  std::vector<Series> curves = {mean_norms("norm of the Jacobian", scores, powers)};
  for (const std::string factor : {"1", "12", "48"}) {
    curves.push_back(mean_norms("scores times " + factor, scores, {std::log2(std::stod(factor))}));
    curves.back().points = true;
  }
  CurveOptions options;
  options.title = "The derivatives of softmax vanish as the scores grow";
  options.x_title = "log2 of the factor on the scores";
  options.y_title = "norm of the Jacobian, mean of three rows";
  picture("06_scaling_and_saturation", "saturation", curves, options);
}

// Random upstream gradients dp (N, 8) of the weights softmax(q k^T / divisor) lead to the gradients
// ds of the scores and dq of the queries. Their norms, row by row: (N, 2).
inline Array gradient_norms(const Array& q, const Array& k, double divisor, Generator& g) {
  const Array scores = xt::linalg::dot(q, xt::transpose(k)) / Real(divisor);  // (N, 8)
  const Array p = softmax(Tensor(scores), -1).value(), dp = g.randn({p.shape(0), p.shape(1)});
  const Array mean = xt::sum(p * dp, {1}, xt::keep_dims);
  const Array ds = p * (dp - mean);  // the Jacobian of softmax times dp, row by row
  const Array dq = xt::linalg::dot(ds, k) / Real(divisor);  // (N, d)
  return xt::sqrt(xt::stack(xt::xtuple(xt::sum(ds * ds, {1}), xt::sum(dq * dq, {1})), 1));
}

inline Real median(Array x) {
  std::nth_element(x.begin(), x.begin() + std::ptrdiff_t(x.size() / 2), x.end());
  return x.data()[x.size() / 2];
}

inline void random_queries(Generator& g) {
  section("With and without 1 / sqrt(d)");
  say("Now 1000 random queries of d numbers, 8 random keys, and random gradients dp of",
      "the weights. ds is the gradient of the scores, dq of the query (lesson 09).",
      "Medians of their norms, and the percentage of queries with |ds| below 0.001:", "",
      "          scores q.k                    scores q.k / sqrt(d)",
      "   d      |ds|  below 0.001      |dq|      |ds|  below 0.001      |dq|");
  for (const std::size_t d : {16U, 64U, 256U, 4096U}) {
    const Array q = g.randn({1000, d}), k = g.randn({8, d});
    std::string line = pad_left(std::to_string(d), 4);
    for (const double divisor : {1.0, std::sqrt(double(d))}) {
      const Array norms = gradient_norms(q, k, divisor, g);
      const Array ds = xt::view(norms, xt::all(), 0), dq = xt::view(norms, xt::all(), 1);
      const double below = 100 * double(xt::count_nonzero(ds < Real(0.001))()) / 1000;
      line += pad_left(decimal(median(ds), 4), 10) + pad_left(decimal(below, 1) + " %", 13) +
              pad_left(decimal(median(dq), 4), 10);
    }
    say(line);
  }
  say("", "Without the division, |ds| and |dq| fall to almost nothing as d grows. With it,",
      "they hardly depend on d.");
}

// One head with keys of d numbers on eight tokens. Each query must attend to one given key: the
// output must be the value of this key. Returns the mean squared error after `steps` steps.
inline double error_after_training(std::size_t d, double divisor, double learning_rate,
                                   std::uint64_t seed, std::int64_t steps) {
  Generator g(seed);
  const Tensor X(g.randn({8, 16})), V(g.randn({8, 4}));
  const Real width = 0.25;  // 1 / sqrt(16): then the numbers of Q and K have variance 1
  Tensor W_Q(g.randn({16, d}) * width, /*requires_grad=*/true);
  Tensor W_K(g.randn({16, d}) * width, /*requires_grad=*/true);
  const Array values = V.value();
  const Tensor target(xt::view(values, xt::keep(3, 0, 5, 1, 7, 2, 4, 6), xt::all()));  // (8, 4)
  optim::Sgd optimizer({W_Q, W_K}, {learning_rate});
  double last = 0;
  for (std::int64_t step = 0; step <= steps; ++step) {
    Tensor scores = matmul(matmul(X, W_Q), transpose(matmul(X, W_K), 0, 1)) / divisor;  // (8, 8)
    Tensor error = matmul(softmax(scores, -1), V) - target;                             // (8, 4)
    Tensor loss = mean(error * error);
    last = loss.item();
    optim::zero_grad({W_Q, W_K});
    backward(loss);
    optimizer.step();
  }
  return last;
}

struct Result {
  double mean = 0, standard_error = 0, learning_rate = 0;
};

// The mean error of five runs at the best of six learning rates.
inline Result best_result(std::size_t d, double divisor, std::int64_t steps) {
  Result best{INFINITY, 0, 0};
  for (const double learning_rate : {0.01, 0.03, 0.1, 0.3, 1.0, 3.0}) {
    std::vector<double> errors;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      errors.push_back(error_after_training(d, divisor, learning_rate, seed, steps));
    double mean = 0, squares = 0;
    for (const double error : errors) mean += error / 5;
    for (const double error : errors) squares += (error - mean) * (error - mean);
    if (mean < best.mean) best = {mean, std::sqrt(squares / 4 / 5), learning_rate};
  }
  return best;
}

inline void train_one_head() {
  section("One head, trained both ways");
  say("Does this slow down training? One head is trained on eight random tokens by 200",
      "gradient descent steps, for each d at the best of six learning rates. The mean",
      "squared error, as a mean of five seeds with its standard error:", "",
      "   d   scores q.k       scores q.k / sqrt(d)");
  bool better = true;
  for (const std::size_t d : {16U, 64U, 256U}) {
    const Result without = best_result(d, 1, in_brief(200, 60));
    const Result with = best_result(d, std::sqrt(double(d)), in_brief(200, 60));
    better = better && with.mean + with.standard_error < without.mean - without.standard_error;
    say(pad_left(std::to_string(d), 4) + "   " + trained(without.mean) + " +- " +
        trained(without.standard_error) + "   " + trained(with.mean) + " +- " +
        trained(with.standard_error));
  }
  claim("with the division, the error is lower for every d", better, "it is not");
  say("", "Without the division the head learns more slowly, even at its best rate.");
}

}  // namespace heed
