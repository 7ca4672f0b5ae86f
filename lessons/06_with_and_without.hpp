// 06_with_and_without.hpp: compares attention with and without the factor 1 / sqrt(d): one head
// that is trained with and without it, and norms of Jacobians and gradients. Then the task of the
// bank.
#pragma once

#include <algorithm>
#include <cmath>

#include "bank.hpp"
#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "lesson.hpp"

namespace heed {

// The mean of x^2: the variance of random numbers with the true mean 0.
inline Estimate mean_of_squares(const Array& x) {
  std::vector<double> squares;
  for (const Real number : x) squares.push_back(double(number) * double(number));
  return estimate(squares);
}

// The Frobenius norm of the Jacobian of softmax(factor * scores): p_i (1 - p_i) on the diagonal and
// -p_i p_j elsewhere. In double, and 1 - p_i is computed as a sum: near a one-hot p the difference
// would lose its digits.
inline double jacobian_norm(const std::vector<double>& scores) {
  const double maximum = *std::max_element(scores.begin(), scores.end());
  double sum = 0, squares = 0;
  for (const double s : scores) sum += std::exp(s - maximum);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double p = std::exp(scores[i] - maximum) / sum;
    double others = 0;  // 1 - p_i
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (j == i) continue;
      const double p_j = std::exp(scores[j] - maximum) / sum;
      others += p_j;
      squares += p * p_j * p * p_j;
    }
    squares += p * others * p * others;
  }
  return std::sqrt(squares);
}

inline double jacobian_norm(const Array& scores, double factor) {
  std::vector<double> scaled;
  for (const Real s : scores) scaled.push_back(factor * double(s));
  return jacobian_norm(scaled);
}

const std::vector<double> norm_factors = {1, 4, 12, 64};

inline Names factor_names() {
  Names names;
  for (const double factor : norm_factors) names.push_back("times " + decimal(factor, 0));
  return names;
}

// Draws the Frobenius norm of each row of scores (3, 3) for factors from 1 to 256, with labels at
// two factors.
inline void draw_saturation(const Array& scores, const Names& words) {
  std::string data, plots;
  for (std::size_t i = 0; i < 3; ++i) {
    const Array row = xt::view(scores, i);
    const std::string number = std::to_string(i), color = Names{"#0072B2", "#D55E00", "#009E73"}[i];
    data += "$curve" + number + " << END\n";
    for (double power = 0; power <= 8; power += 0.125)
      data += decimal(std::exp2(power), 4) + " " +
              decimal(jacobian_norm(row, std::exp2(power)), 6) + "\n";
    data += "END\n$points" + number + " << END\n";
    for (const double factor : {4.0, 12.0}) {
      const double norm = jacobian_norm(row, factor);
      data += decimal(factor, 0) + " " + decimal(norm, 6) + " " + decimal(norm, 3) + "\n";
    }
    data += "END\n";
    plots += std::string(i > 0 ? ", " : "plot ") + "$curve" + number + " with lines lw 2 lc rgb '" +
             color + "' title \"'" + words[i] + "'\", $points" + number + " pt 7 lc rgb '" + color +
             "' notitle, $points" + number + " using 1:2:3 with labels offset " +
             Names{"3.5,0.5", "3.5,0.5", "-3.5,-0.5"}[i] + " tc rgb '" + color + "' notitle";
  }
  picture_by_gnuplot(
      "06_scaling_and_saturation", "saturation",
      data + "set logscale x 2\nset xrange [0.9:256]\nset yrange [0:0.55]\n" +
          "set xtics (1, 2, 4, 8, 12, 16, 32, 64, 128, 256)\n" +
          "set title 'The derivatives of softmax vanish as the scores grow'\n" +
          "set xlabel 'factor on the scaled scores (4: without the division by sqrt(16))'\n" +
          "set ylabel 'Frobenius norm of the Jacobian'\nset key top right\n" + plots);
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

// The mean squared difference of the outputs and the targets, before and after training.
struct Losses {
  double before = 0, after = 0;
};

inline Losses train(std::size_t d, double divisor, bool adam, double learning_rate,
                    std::uint64_t seed) {
  const auto [X, V, W_Q, W_K, target] = random_task(d, seed);
  optim::Sgd sgd({W_Q, W_K}, {learning_rate});
  optim::AdamW adamw({W_Q, W_K}, {learning_rate, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
  Losses losses;
  const std::int64_t steps = in_brief(200, 60);
  for (std::int64_t step = 0; step <= steps; ++step) {
    Tensor scores = matmul(matmul(X, W_Q), transpose(matmul(X, W_K), 0, 1)) / divisor;  // (8, 8)
    Tensor difference = matmul(softmax(scores, -1), V) - target;                        // (8, 4)
    Tensor loss = mean(difference * difference);
    (step == 0 ? losses.before : losses.after) = loss.item();
    if (step == steps) break;
    optim::zero_grad({W_Q, W_K});
    backward(loss);
    adam ? adamw.step() : sgd.step();
  }
  return losses;
}

// The loss of equal attention weights, as a mean over the seeds 6 to 15.
inline double loss_of_equal_weights() {
  double sum = 0;
  for (std::uint64_t seed = 6; seed <= 15; ++seed) {
    const Task task = random_task(16, seed);
    const Tensor difference = mean(task.V, {0}, true) - task.target;
    sum += mean(difference * difference).item();
  }
  return sum / 10;
}

struct Runs {
  double learning_rate = 0;
  std::vector<double> before, after;  // one loss for each seed from 6 to 15
};

// Chooses the learning rate with the lowest mean loss on the seeds 1 to 5.
inline Runs runs_at_best_rate(std::size_t d, double divisor, bool adam) {
  Runs best;
  double lowest = INFINITY;
  const std::vector<double> rates =
      adam ? std::vector<double>{0.001, 0.003, 0.01, 0.03, 0.1}
           : std::vector<double>{0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10};
  for (const double learning_rate : rates) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      sum += train(d, divisor, adam, learning_rate, seed).after;
    if (sum < lowest) lowest = sum, best.learning_rate = learning_rate;
  }
  for (std::uint64_t seed = 6; seed <= 15; ++seed) {
    const Losses losses = train(d, divisor, adam, best.learning_rate, seed);
    best.before.push_back(losses.before), best.after.push_back(losses.after);
  }
  return best;
}

inline void train_one_head() {
  section("One head, trained with and without the division");
  say("Does this matter in training? One attention operation (a head, lesson 10) gets",
      "eight random tokens. Each query must learn to attend to one given key, so that",
      "the output is the value of this key. The loss is the mean squared difference",
      "between outputs and values. A GRADIENT DESCENT STEP changes each parameter, here",
      "each number of W_Q and W_K: it subtracts the LEARNING RATE, a constant that we",
      "choose, times the derivative of the loss with respect to this parameter.", "",
      "For each line of the table, five runs with different random numbers (seeds 1 to",
      "5) choose the learning rate with the lowest loss after 200 steps: one of eight",
      "from 0.003 to 10, and one of five from 0.001 to 0.1 for Adam (lesson 10), which",
      "adapts the step of each parameter. The table has the mean losses of ten new runs",
      "(seeds 6 to 15), and the mean of their differences +- its standard error:", "");
  std::string rows =
      "                  without division      with division\n"
      "   d  optimizer  before after  rate   before after  rate   difference";
  bool better = true;
  const auto one_row = [&](std::size_t d, bool adam) {
    const Runs without = runs_at_best_rate(d, 1, adam);
    const Runs with = runs_at_best_rate(d, std::sqrt(double(d)), adam);
    std::vector<double> differences;
    for (std::size_t i = 0; i < 10; ++i) differences.push_back(without.after[i] - with.after[i]);
    const Estimate difference = estimate(differences);
    if (d > 16) better = better && difference.mean > 2.26 * difference.standard_error;
    rows += "\n" + pad_left(std::to_string(d), 4) + (adam ? "  Adam     " : "  descent  ");
    for (const Runs& runs : {without, with})
      rows += pad_left(decimal(estimate(runs.before).mean, 2), 8) +
              pad_left(decimal(estimate(runs.after).mean, 2), 6) +
              pad_left(decimal(runs.learning_rate, 3), 7);
    rows +=
        pad_left(decimal(difference.mean, 2), 8) + " +- " + decimal(difference.standard_error, 2);
  };
  for (const std::size_t d : {16U, 64U, 256U}) one_row(d, false);
  one_row(64, true);
  quote(rows);
  claim("for d = 64 and 256, the difference is above 2.26 standard errors", better, "it is not");
  say("", "(The mean of ten runs without a true difference is above 2.26 standard errors in",
      "2.5 % of such experiments: t distribution, 9 degrees of freedom. Lines after a",
      "bar may differ on another machine.) Equal attention weights would give the loss",
      decimal(loss_of_equal_weights(), 2) +
          ". The initial weights have a higher loss (column before): they are random,",
      "and without the division nearly one-hot, mostly at wrong keys.");
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
  section("The gradients with and without the division");
  say("Training computes gradients backwards (lesson 09): from dp, the gradient of the",
      "loss with respect to the weights p, to ds, with respect to the scores, and to",
      "dq, with respect to the query. Take random dp, random queries of d numbers and 8",
      "random keys: 20 times 50 queries, with new keys each time. The table has the",
      "medians (half of the values are smaller) of the norms |ds| and |dq|, and the",
      "percentage of queries with |ds| below 0.001:", "",
      "          without division              with division",
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
  say("", "Without the division, |ds| and |dq| fall to almost nothing as d grows: gradient",
      "descent then hardly changes the query. (At d = 16, |dq| is still larger than",
      "with the division.) With the division, they hardly depend on d.");
}

// The attention weights of the bank's rule in lesson 05, with queries times 0.1.
inline Array smaller_queries(const BankText& text) {
  return bank_query_key_weights(text, 0.1, true);
}

// The scores of 'bank' at position `bank` with the keys up to it, in double: (24 topic + 2
// position) / sqrt(2), times the factor.
inline std::vector<double> bank_scores(const BankText& text, std::size_t bank, double factor) {
  const Array X = bank_with_positions(text);  // (T, 4): water, money, ambiguous, position
  std::vector<double> scores;
  for (std::size_t s = 0; s <= bank; ++s)
    scores.push_back(factor * (24 * double(X(s, 0) + X(s, 1) - X(s, 2)) + 2 * double(X(s, 3))) /
                     std::sqrt(2.0));
  return scores;
}

inline void task_of_the_bank() {
  section("The task of the bank");
  say("In lesson 05 the query of 'bank' was (24, 2), and its weights are nearly",
      "one-hot. Queries times 0.1 make them less sharp, queries times 10 sharper:", "",
      "                       norm of the Jacobian in text 1",
      "queries times    loss  first 'bank'   second 'bank'");
  for (const double factor : {0.1, 1.0, 10.0}) {
    const BankText& text = bank_texts()[0];
    const double loss =
        bank_loss([&](const BankText& t) { return bank_query_key_weights(t, factor, true); });
    say(pad_left(decimal(factor, 1), 13) + pad_left(decimal(loss, 4), 8) +
        pad_left(scientific(jacobian_norm(bank_scores(text, text.banks[0], factor)), 1), 14) +
        pad_left(scientific(jacobian_norm(bank_scores(text, text.banks[1], factor)), 1), 16));
  }
  show_bank_losses(6, smaller_queries);
  say("", "Large scores make the rule sharp and the loss small. But the gradient of a score",
      "contains the Jacobian as a factor. With queries times 10 it is nearly 0: if the",
      "rule were wrong, gradient descent would not change it.");
}

}  // namespace heed
