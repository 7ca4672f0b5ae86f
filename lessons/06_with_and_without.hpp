// 06_with_and_without.hpp: compares attention with and without the factor 1 / sqrt(d): norms of
// Jacobians and gradients, and one head that is trained both ways. Then the task of the bank.
#pragma once

#include <algorithm>
#include <cmath>

#include "bank.hpp"
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
  say("Training computes gradients backwards (lesson 09): from dp, the gradient of the",
      "error with respect to the weights, to ds, with respect to the scores, and to dq,",
      "with respect to the query. If ds is near 0, training hardly changes the query.",
      "Take random dp, random queries of d numbers and 8 random keys: 20 times 50",
      "queries, with new keys each time. The table shows the medians of the norms |ds|",
      "and |dq|, and the percentage of queries with |ds| below 0.001:", "",
      "          scores q.k                    scores q.k / sqrt(d)",
      "   d      |ds|  below 0.001      |dq|      |ds|  below 0.001      |dq|");
  for (const std::size_t d : {16U, 64U, 256U, 4096U}) {
    std::string line = pad_left(std::to_string(d), 4);
    for (const double divisor : {1.0, std::sqrt(double(d))}) {
      Array norms = zeros({1000, 2});
      for (std::size_t first = 0; first < 1000; first += 50) {
        const Array q = g.randn({50, d}), k = g.randn({8, d});
        xt::view(norms, xt::range(first, first + 50)) = gradient_norms(q, k, divisor, g);
      }
      const Array ds = xt::view(norms, xt::all(), 0), dq = xt::view(norms, xt::all(), 1);
      const double below = 100 * double(xt::count_nonzero(ds < Real(0.001))()) / 1000;
      line += pad_left(decimal(median(ds), 4), 10) + pad_left(decimal(below, 1) + " %", 13) +
              pad_left(decimal(median(dq), 4), 10);
    }
    say(line);
  }
  say("", "Without the division, |ds| and |dq| fall to almost nothing as d grows. (At d =",
      "16, |dq| is still larger than with it.) With it, they hardly depend on d.");
}

// The initial matrices, the tokens, and the values that one head must learn to copy.
struct Task {
  Tensor X, V, W_Q, W_K, target;
};

// Eight random tokens. Query i must attend to one given key: target row i is the value of this key.
inline Task random_task(std::size_t d, std::uint64_t seed) {
  Generator g(seed);
  Task task;
  task.X = Tensor(g.randn({8, 16})), task.V = Tensor(g.randn({8, 4}));
  const Real width = 0.25;  // 1 / sqrt(16): then the numbers of Q and K have variance 1
  task.W_Q = Tensor(g.randn({16, d}) * width, /*requires_grad=*/true);
  task.W_K = Tensor(g.randn({16, d}) * width, /*requires_grad=*/true);
  const Array values = task.V.value();
  task.target = Tensor(xt::view(values, xt::keep(3, 0, 5, 1, 7, 2, 4, 6), xt::all()));  // (8, 4)
  return task;
}

// The mean squared error of the outputs after so many gradient descent steps.
inline double error_after_training(std::size_t d, double divisor, double learning_rate,
                                   std::uint64_t seed, std::int64_t steps) {
  const auto [X, V, W_Q, W_K, target] = random_task(d, seed);
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

// The error of equal attention weights, as a mean over the seeds 6 to 10.
inline double error_of_equal_weights() {
  double sum = 0;
  for (std::uint64_t seed = 6; seed <= 10; ++seed) {
    const Task task = random_task(16, seed);
    const Tensor error = mean(task.V, {0}, true) - task.target;
    sum += mean(error * error).item();
  }
  return sum / 5;
}

struct Runs {
  double learning_rate = 0;
  std::vector<double> errors;  // one for each seed from 6 to 10
};

// Chooses the learning rate with the lowest mean error on the seeds 1 to 5.
inline Runs runs_at_best_rate(std::size_t d, double divisor, std::int64_t steps) {
  Runs best;
  double lowest = INFINITY;
  for (const double learning_rate : {0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0}) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      sum += error_after_training(d, divisor, learning_rate, seed, steps);
    if (sum < lowest) lowest = sum, best.learning_rate = learning_rate;
  }
  for (std::uint64_t seed = 6; seed <= 10; ++seed)
    best.errors.push_back(error_after_training(d, divisor, best.learning_rate, seed, steps));
  return best;
}

inline double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double number : x) sum += number;
  return sum / double(x.size());
}

// The standard error of the mean of x.
inline double standard_error_of(const std::vector<double>& x) {
  double squares = 0;
  for (const double number : x) squares += (number - mean_of(x)) * (number - mean_of(x));
  return std::sqrt(squares / double(x.size() - 1) / double(x.size()));
}

inline void train_one_head() {
  section("One head, trained both ways");
  say("Does this matter in training? One attention operation (a head, lesson 10) gets",
      "eight random tokens. Each query must learn to attend to one given key, so that",
      "the output is the value of this key. The error is the mean squared difference",
      "between outputs and values, after 200 gradient descent steps for W_Q and W_K.",
      "For each d and each form, five runs with other random numbers (seeds 1 to 5)",
      "choose the best of eight learning rates from 0.003 to 10. The table shows the",
      "mean error of five new runs (seeds 6 to 10), and the mean difference of the two",
      "forms, run by run, +- its standard error (lesson 14):", "");
  std::string rows =
      "       scores q.k      q.k / sqrt(d)\n   d   error   rate   error   rate   difference";
  bool better = true;
  for (const std::size_t d : {16U, 64U, 256U}) {
    const Runs without = runs_at_best_rate(d, 1, in_brief(200, 60));
    const Runs with = runs_at_best_rate(d, std::sqrt(double(d)), in_brief(200, 60));
    std::vector<double> differences;
    for (std::size_t i = 0; i < 5; ++i) differences.push_back(without.errors[i] - with.errors[i]);
    const double difference = mean_of(differences), uncertainty = standard_error_of(differences);
    better = better && (d == 16 || difference > 2 * uncertainty);
    rows += "\n" + pad_left(std::to_string(d), 4) +
            pad_left(decimal(mean_of(without.errors), 2), 8) +
            pad_left(decimal(without.learning_rate, 2), 7) +
            pad_left(decimal(mean_of(with.errors), 2), 8) +
            pad_left(decimal(with.learning_rate, 2), 7) + pad_left(decimal(difference, 2), 8) +
            " +- " + decimal(uncertainty, 2);
  }
  quote(rows);
  claim("for d = 64 and 256, the difference is above 2 standard errors", better, "it does not");
  say("", "(Lines after a bar may differ on another machine.) Equal attention weights would",
      "give the error " + decimal(error_of_equal_weights(), 2) +
          ". At these initial weights, the two forms differ in the size",
      "of their scores: initial W_Q and W_K that are smaller by a factor of d^(1/4) do",
      "the same as the division, up to the learning rate.");
}

// The attention weights of the bank's rule in lesson 05, with queries times 0.1.
inline Array smaller_queries(const BankText& text) {
  return bank_query_key_weights(text, 0.1, true);
}

inline void task_of_the_bank() {
  section("The task of the bank");
  say("In lesson 05 the query of 'bank' was (24, 2), and its weights are nearly",
      "one-hot. Queries times 0.1 make them less sharp, queries times 10 sharper:", "",
      "                       norm of the Jacobian at",
      "queries times    loss  the second 'bank' of text 1");
  for (const double factor : {0.1, 1.0, 10.0}) {
    const Array weights = bank_query_key_weights(bank_texts()[0], factor, true);
    const double loss =
        bank_loss([&](const BankText& text) { return bank_query_key_weights(text, factor, true); });
    say(pad_left(decimal(factor, 1), 13) + pad_left(decimal(loss, 4), 8) + "  " +
        scientific(jacobian_norm(xt::view(weights, bank_texts()[0].banks[1])), 1));
  }
  show_bank_losses(6, smaller_queries);
  say("", "Large scores make the rule sharp and the loss small. But if the rule were wrong,",
      "gradient descent could hardly correct it. (With queries times 10, the norm of",
      "the Jacobian is so small that a float rounds it to 0.)");
}

}  // namespace heed
