// with_and_without.hpp: compares attention with and without the factor 1 / sqrt(d): one head
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

// Draws, for each row of scores (3, 3) and factors from 1 to 256: on the left the Frobenius norm of
// the Jacobian, on the right the factor times this norm.
inline void draw_saturation(const Array& scores, const Names& words) {
  const Names colors = {"#0072B2", "#D55E00", "#009E73"};
  std::string data, plots[2];
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    data += "$curve" + number + " << END\n";
    for (double power = 0; power <= 8; power += 0.125) {
      const double factor = std::exp2(power), norm = jacobian_norm(xt::view(scores, i), factor);
      data += decimal(factor, 4) + " " + decimal(norm, 6) + " " + decimal(factor * norm, 6) + "\n";
    }
    data += "END\n";
    for (std::size_t panel = 0; panel < 2; ++panel)
      plots[panel] += std::string(i > 0 ? ", " : "plot ") + "$curve" + number +
                      " using 1:" + std::to_string(panel + 2) + " with lines lw 2.5 lc rgb '" +
                      colors[i] + "' title \"query '" + words[i] + "'\"";
  }
  picture_by_gnuplot(
      "09_scaling_and_saturation", "saturation",
      data + "set multiplot layout 1,2 title 'Large factors on the scores: the derivatives of" +
          " softmax vanish' font ',17'\nset logscale x 2\nset xrange [1:260]\n" +
          "set xtics (1, 4, 12, 64, 256)\nset xlabel 'factor on the scaled scores'\n" +
          "set arrow from 4,graph 0 to 4,graph 1 nohead dt 2 lc rgb '#666666'\n" +
          "set label 'no division' at 3.7,graph 0.03 right tc rgb '#555555'\n" +
          "set yrange [0:0.5]\nset ylabel 'Frobenius norm of the Jacobian'\n" +
          "set title 'with respect to the multiplied scores'\nset key top right\n" + plots[0] +
          "\nunset key\nset yrange [0:5]\nset ylabel 'factor times norm'\n" +
          "set title 'with respect to the scores before the factor'\n" + plots[1] +
          "\nunset multiplot");
}

// The initial matrices, the tokens, and the values that one head must learn to copy.
struct Task {
  Tensor X, V, W_Q, W_K, target;
};

// Eight random tokens. Query i must attend to one given key: target row i is the value of this key.
// `scale` multiplies the initial W_Q and W_K.
inline Task random_task(std::size_t d, std::uint64_t seed, double scale = 1) {
  Generator g(seed);
  Task task;
  task.X = Tensor(g.randn({8, 16})), task.V = Tensor(g.randn({8, 4}));
  const Real width = Real(0.25 * scale);  // 1 / sqrt(16): the numbers of Q and K have variance 1
  task.W_Q = Tensor(g.randn({16, d}) * width, /*requires_grad=*/true);
  task.W_K = Tensor(g.randn({16, d}) * width, /*requires_grad=*/true);
  const Array values = task.V.value();
  task.target = Tensor(xt::view(values, xt::keep(3, 0, 5, 1, 7, 2, 4, 6), xt::all()));  // (8, 4)
  return task;
}

// The mean squared difference of the outputs and the targets, before and after training.
struct Losses {
  double before = 0, after = 0;
  Series steps = {};  // of each step
};

inline Losses train(std::size_t d, double divisor, bool adam, double learning_rate,
                    std::uint64_t seed, double scale = 1) {
  const auto [X, V, W_Q, W_K, target] = random_task(d, seed, scale);
  optim::Sgd sgd({W_Q, W_K}, {learning_rate});
  optim::AdamW adamw({W_Q, W_K}, {learning_rate, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
  Losses losses;
  const std::int64_t steps = in_brief(200, 60);
  for (std::int64_t step = 0; step <= steps; ++step) {
    Tensor scores = matmul(matmul(X, W_Q), transpose(matmul(X, W_K), 0, 1)) / divisor;  // (8, 8)
    Tensor difference = matmul(softmax(scores, -1), V) - target;                        // (8, 4)
    Tensor loss = mean(difference * difference);
    (step == 0 ? losses.before : losses.after) = loss.item();
    losses.steps.append(double(step), loss.item());
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
  Series steps = {};                  // the losses of each step, seed 6
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
    if (seed == 6) best.steps = losses.steps;
  }
  return best;
}

inline void train_one_head() {
  section("One head, trained with and without the division");
  say("Does this matter in training? One attention operation (a head, lesson 07) gets",
      "eight random tokens. Each query must learn to attend to one given key, so that",
      "the output is the value of this key, its target. The loss is the mean squared",
      "difference between the numbers of the outputs and of their targets. A GRADIENT",
      "DESCENT STEP changes each parameter, here each number of W_Q and W_K: it",
      "subtracts the LEARNING RATE, a constant that we choose, times the derivative of",
      "the loss with respect to this parameter. (Adam, lesson 07, adapts the size of",
      "the step to each parameter.) For each line of the table:", "",
      "  1. Five runs (seeds 1 to 5) choose the learning rate with the lowest loss",
      "     after 200 steps: of eight from 0.003 to 10, for Adam of five from 0.001 to",
      "     0.1.",
      "  2. Ten new runs (seeds 6 to 15) give the mean losses, and the mean of the ten",
      "     differences after training, +- its standard error.", "");
  std::string rows =
      "                  without division      with division\n"
      "   d  optimizer  before after  rate   before after  rate   difference";
  bool better = true;
  std::vector<Series> curves;  // of d = 256
  const auto one_row = [&](std::size_t d, bool adam) {
    const Runs without = runs_at_best_rate(d, 1, adam);
    const Runs with = runs_at_best_rate(d, std::sqrt(double(d)), adam);
    if (d == 256) curves = {without.steps, with.steps};
    std::vector<double> differences;
    for (std::size_t i = 0; i < 10; ++i) differences.push_back(without.after[i] - with.after[i]);
    const Estimate difference = estimate(differences);
    better = better && difference.mean > 2.26 * difference.standard_error;
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
  curves[0].name = "d = 256, without division", curves[1].name = "d = 256, with division";
  loss_curves("mean squared difference, seed 6", curves);
  claim("each difference is above 2.26 standard errors", better, "it is not");
  say("", "(If there were no true difference, a line would pass in about 2.5 % of such",
      "experiments, by the t distribution. Lines after a bar may differ on another", "machine.)",
      "",
      "Equal attention weights would give the loss " + decimal(loss_of_equal_weights(), 2) +
          ". The initial loss (before) is",
      "higher: the largest initial weights are mostly at wrong keys.", "",
      "Why not draw smaller W_Q and W_K instead of dividing? One may. With W / d^(1/4)",
      "for both, the scores are those with the division. The derivatives with respect",
      "to W / d^(1/4) are d^(1/4) times as large. So gradient descent makes the same",
      "steps if its learning rate is divided by sqrt(d). The published code of T5",
      "(Raffel et al. 2020) does not divide: it draws W_Q smaller by the factor 1 /",
      "sqrt(d). With the division, the same initial weights serve for every d.");
  check("loss with division = with initial W / 4 and rate / 16, d = 256",
        scalar(Real(train(256, 16, false, 1, 6).after)),
        scalar(Real(train(256, 1, false, 1.0 / 16, 6, 0.25).after)), 0);
}

// The norms (N) of the gradients of the queries q (N, d), from random gradients g_p (N, 8) of the
// attention weights p = softmax(q k^T / divisor).
inline Array query_gradient_norms(const Array& q, const Array& k, double divisor, Generator& g) {
  const Array scores = xt::linalg::dot(q, xt::transpose(k)) / Real(divisor);  // (N, 8)
  const Array p = softmax(Tensor(scores), -1).value(), g_p = g.randn({p.shape(0), p.shape(1)});
  const Array mean = xt::sum(p * g_p, {1}, xt::keep_dims);
  const Array g_s = p * (g_p - mean);  // the Jacobian of softmax times g_p, row by row
  const Array g_q = xt::linalg::dot(g_s, k) / Real(divisor);  // (N, d)
  return xt::sqrt(xt::sum(g_q * g_q, {1}));
}

// Draws the percentage of norms below x. The rows of `sorted` (8, 1000): d = 16, 64, 256 and 4096,
// each without and with the division.
inline void draw_gradient_norms(const Array& sorted) {
  const Names colors = {"#56B4E9", "#0072B2", "#CC79A7", "#D55E00"};
  std::string data, plots;
  for (std::size_t i = 0; i < 8; ++i) {
    data += "$norms" + std::to_string(i) + " << END\n";
    for (std::size_t n = 0; n < 1000; n += 5)
      data += scientific(std::max(double(sorted(i, n)), 1e-12), 4) + " " +
              decimal(double(n) / 10, 1) + "\n";
    data += "END\n";
    plots += std::string(i > 0 ? ", " : "plot ") + "$norms" + std::to_string(i) +
             " with lines lw " +
             (i % 2 == 0 ? "2.5 lc rgb '" + colors[i / 2] + "'" : "2 dt 2 lc rgb '#009E73'");
  }
  picture_by_gnuplot(
      "09_scaling_and_saturation", "gradients",
      data + "set title 'Without the division by sqrt(d), most gradients of queries vanish as d" +
          " grows' font ',17'\nset logscale x\nset xrange [1e-7:100]\nset format x '10^{%T}'\n" +
          "set yrange [0:100]\nset ytics format '%g %%'\nset mxtics 1\nunset key\n" +
          "set xlabel 'x: norm of the gradient of a query'\n" +
          "set ylabel 'queries with a norm below x'\n" +
          "set label 'd = 4096' at 4e-6,72 tc rgb '#D55E00'\n" +
          "set label 'd = 256' at 4e-6,22 tc rgb '#CC79A7'\n" +
          "set label 'd = 64' at 3e-5,9 tc rgb '#0072B2'\n" +
          "set label 'd = 16' at 8e-4,6 tc rgb '#56B4E9'\n" +
          "set label \"dashed: with the\\ndivision, all four d\" at 0.8,22 tc rgb '#009E73'\n" +
          plots);
}

inline void random_queries(Generator& g) {
  section("The gradients with and without the division");
  say("Training computes gradients of the loss backwards (lesson 06): from g_p, with",
      "respect to the attention weights of a query, to g_s, with respect to its scores",
      "(g_s is the Jacobian times g_p), to g_q, with respect to the query itself. Take",
      "random g_p, random queries of d numbers and 8 random keys: 20 sets of keys, each",
      "with 50 queries. The table shows the norm |g_q|: its median (half of the norms",
      "are smaller), the mean, the rms (root of the mean square), and how many norms",
      "are below 0.001:", "", "                  without division                    with division",
      "   d   median  mean   rms  below 0.001     median  mean   rms  below 0.001");
  const std::vector<std::size_t> sizes = {16, 64, 256, 4096};
  Array sorted = zeros({8, 1000});
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t d = sizes[i / 2];
    const double divisor = i % 2 == 0 ? 1 : std::sqrt(double(d));
    for (std::size_t first = 0; first < 1000; first += 50) {
      const Array q = g.randn({50, d}), k = g.randn({8, d});
      xt::view(sorted, i, xt::range(first, first + 50)) = query_gradient_norms(q, k, divisor, g);
    }
    std::sort(&sorted(i, 0), &sorted(i, 0) + 1000);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    const Array norms = xt::view(sorted, i);
    const double below = 100 * double(xt::count_nonzero(norms < Real(0.001))()) / 1000;
    std::cout << (i % 2 == 0 ? pad_left(std::to_string(sizes[i / 2]), 4) : "  ")
              << pad_left(scientific(double(norms(500)), 1), 9)
              << pad_left(decimal(xt::mean(norms)(), 2), 6)
              << pad_left(decimal(std::sqrt(mean_of_squares(norms).mean), 2), 6)
              << pad_left(decimal(below, 1) + " %", 13) << (i % 2 == 0 ? "" : "\n");
  }
  say("", "Without the division the mean changes little, but the median falls to almost",
      "nothing: most queries get almost no gradient, and a few get a very large one.",
      "The reason: g_s is small unless the two largest scores nearly agree. Their gap",
      "grows like sqrt(d), so it is below 1 for a proportion of queries that falls like",
      "1/sqrt(d). For these |g_q| is large, about sqrt(d), since each key has a norm of",
      "about sqrt(d). If the few large gradients permit only small steps, the other",
      "queries hardly learn. This may also explain the higher losses at d = 16 and 64,",
      "where the median is not yet small. With the division, they hardly depend on d:");
  draw_gradient_norms(sorted);
}

// The attention weights of the bank's rule in lesson 04, with queries times 0.1.
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
  say("In lesson 04 the query of 'bank' was (24, 2), and its weights are nearly",
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
  show_bank_losses(9, smaller_queries);
  say("", "Large scores make the rule sharp and the loss small. But the derivatives of the",
      "loss with respect to the scores are the Jacobian times those with respect to the",
      "weights. With queries times 10 the Jacobian is nearly 0: if the rule were wrong,",
      "gradient descent would hardly change it.");
}

}  // namespace heed
