// 06 scaling_and_saturation: large scores leave softmax no doubt, and nothing left to learn.
//
// Before this lesson: 05_query_key_value, which divided its scores by a square root.
// After it: 07_causal_mask, the other thing that lesson 05 left unexplained.
// Worth a breakpoint: slope_of. `finish` shows what it returns, a number of the Jacobian.

#include <algorithm>
#include <cmath>

#include "heed/array/reduce.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "lesson.hpp"

using namespace heed;

const Names words = {"one", "dog", "ran"};

// How fast share i grows when score j does.
Real slope_of(const Array& shares, std::size_t i, std::size_t j) {
  return shares(i) * (Real(i == j) - shares(j));
}

// All slopes, a row for each share and a column for each score.
Array jacobian(const Array& shares) {
  Array J = zeros({shares.size(), shares.size()});
  for (std::size_t i = 0; i < shares.size(); ++i)
    for (std::size_t j = 0; j < shares.size(); ++j) J(i, j) = slope_of(shares, i, j);
  return J;
}

// The root of the sum of all squares.
Real length(const Array& x) { return Real(std::sqrt(sum_of_squares(x))); }

// How undecided the shares are: 0 when one has everything, ln n when all n are equal.
Real entropy(const Array& shares) {
  Real sum = 0;
  for (Real share : shares)
    if (share > 0) sum -= share * std::log(share);
  return sum;
}

// Of the rows of softmax(scores): the mean entropy, and the mean length of the Jacobian.
Array doubt_and_slope(const Tensor& scores) {
  Array shares = softmax(scores, -1).value(), means = zeros({2});
  for (std::size_t i = 0; i < shares.shape(0); ++i) {
    Array row = xt::view(shares, i);
    means(0) += entropy(row) / Real(shares.shape(0));
    means(1) += length(jacobian(row)) / Real(shares.shape(0));
  }
  return means;
}

int main() {
  section("Long vectors, large scores");
  say("Lesson 05 divided its scores by the square root of d, which is how many numbers",
      "a key has. Why? A score is a sum of d products. Let the numbers in q and k be",
      "independent, with mean 0 and variance 1. Then each product has variance 1 too,",
      "and variances of independent things add up: the score has variance d (Vaswani",
      "et al. 2017). Four thousand random pairs for each d:", "",
      "   d   variance of q.k   of q.k / sqrt(d)");
  Generator g(6);
  std::vector<Tensor> divided;  // the variances in the last column
  for (std::size_t d = 4; d <= 4096; d *= 4) {
    Tensor q(g.randn({4000, d})), k(g.randn({4000, d}));
    Tensor products = sum(q * k, {1});  // (4000): row by row, q.k
    divided.push_back(variance(products / std::sqrt(double(d))));
    say(pad_left(std::to_string(d), 4) + pad_left(decimal(variance(products).item(), 1), 18) +
        pad_left(decimal(divided.back().item(), 4), 19));
  }
  check("all are 1, give or take 0.1", stack(divided, 0), ones({6}), 0.1);
  say("", "The root of the variance is the usual size of a score: for d = 4096 that is 64.",
      "After the division it is 1, whatever d is. But what is bad about large scores?");

  section("Three tokens with small scores");
  say("Take small ones first. Another PyTorch notebook on the web has three tokens; let",
      "us call them 'one dog ran'. They are a batch of one, (1, 3, 5): several sentences",
      "would lie one behind the other. Queries and keys have 16 numbers here, so the",
      "scores are divided by 4.");
  Generator notebook(89);
  Tensor x(notebook.randn({1, 3, 5}));
  Tensor Q = linear(
      x, Tensor(nn::init::linear_weight(notebook, 5, 16)));  // (1, 3, 16): x times W transposed,
  Tensor K =
      linear(x, Tensor(nn::init::linear_weight(notebook, 5, 16)));  // for PyTorch keeps it (16, 5)
  Tensor scores = matmul(Q, transpose(K, 1, 2));                    // (1, 3, 3)
  Tensor scaled = scores / std::sqrt(16.0);
  Tensor weights = softmax(scaled, -1);
  show("x", x, words);
  show("scores", scores, words, words);
  show("scaled", scaled, words, words);
  show("weights", weights, words, words);
  show("sums of the rows of weights", sum(weights, {-1}), {}, words);
  say("", "Scores this small hardly choose: each row of weights is nearly the plain mean.");

  section("Times twelve");
  say("Now let the scaled scores be twelve times as large. A share is e^score over the",
      "total of its row. So the shares are raised to the power of twelve, and divided",
      "by their new total:");
  Tensor sharp12 = softmax(scaled * 12, -1);
  show("sharp12", sharp12, words, words);
  Array powers = xt::pow(weights.value(), Real(12)), totals = xt::sum(powers, {2});
  Array shares = powers / xt::view(totals, xt::all(), xt::all(), xt::newaxis());
  check("powers of the shares = softmax of scaled * 12", shares, sharp12);
  say("", "'dog' now gives itself 0.9918, and the others next to nothing. Such a row is",
      "called one-hot, and its softmax saturated. Here is 'one', at five factors:");
  const Array factors = {1, 3, 12, 48, 192};
  Tensor rows = select(scaled, 0, 0);  // (3, 3): the batch's only sentence
  Tensor five = softmax(unsqueeze(Tensor(factors), 1) * slice(rows, 0, 0, 1), -1);  // (5, 3)
  picture("06_scaling_and_saturation", "sharper", five,
          {"shares of 'one'", {"1", "3", "12", "48", "192"}, words, "factor", "answers"});

  section("What can still be learned");
  say("Training moves each score a little, to where the result gets better. For that",
      "the shares must follow their scores. Raise score j by 0.001: by how much does",
      "share i grow, for each unit of that? This is its slope. With p_i for share i, it",
      "is p_i (1 - p_i) along the share's own score, -p_i p_j along another one: what",
      "one gains, the others lose. (Why: lesson 09.) The nine slopes of a row are a",
      "matrix, called its Jacobian:");
  Array dog = xt::view(weights.value(), 0, 1), dog12 = xt::view(sharp12.value(), 0, 1);
  show("Jacobian of 'dog' in weights", jacobian(dog), words, words);
  Array grown = zeros({3, 3});
  for (std::size_t j = 0; j < 3; ++j) {
    Array score = xt::row(rows.value(), 1);
    score(j) += Real(0.001);
    xt::view(grown, xt::all(), j) = (softmax(Tensor(score), -1).value() - dog) / Real(0.001);
  }
  check("formula = raised by 0.001, give or take 0.001", jacobian(dog), grown, 0.001);
  show("Jacobian of 'dog' in sharp12", jacobian(dog12), words, words);
  say("", "In sharp12 hardly a slope is left. Should 'dog' be wrong, it cannot learn it.");

  section("Doubt and slopes die together");
  say("One number for each row, please. For its slopes, the length of the Jacobian: the",
      "root of the sum of its squares. For its doubt, the entropy: the sum of -p ln p",
      "over its shares p. Three equal shares have ln 3 = 1.0986, a one-hot row has 0.",
      "Means of the three rows, for larger and larger scores:");
  const Names six = {"0", "1", "3", "12", "48", "192"};
  Array both = zeros({6, 2});
  for (std::size_t n = 0; n < 6; ++n) xt::view(both, n) = doubt_and_slope(rows * std::stod(six[n]));
  show("by factor", both, six, {"entropy", "length of the Jacobian"});
  Tensor by_row = -sum(weights * log_softmax(scaled, -1), {-1});  // (1, 3)
  check("entropy by hand = in one line", scalar(both(1, 0)), mean(by_row));
  Series doubts{"entropy", {}, {}}, slopes{"length of the Jacobian", {}, {}};
  for (int factor = 0; factor <= 64; ++factor) {
    Array means = doubt_and_slope(rows * factor);
    doubts.append(factor, means(0)), slopes.append(factor, means(1));
  }
  CurveOptions curve;
  curve.title = "Larger scores: no doubt, no slopes", curve.x_title = "factor on the scores";
  curve.y_title = "mean of three rows";
  picture("06_scaling_and_saturation", "saturation", {doubts, slopes}, curve);

  section("Why a ten?");
  say("In lesson 05 'sat' asked for a noun with a ten. With a one, or a thousand?", "",
      "asked with   share of 'cat'   length of the Jacobian");
  for (double ask : {1, 10, 1000}) {
    Array score = {Real(ask / std::sqrt(3.0)), 0, 0};
    Array share = softmax(Tensor(score), -1).value();
    say(pad_left(decimal(ask, 0), 10) + pad_left(decimal(share(0), 4), 17) +
        pad_left(decimal(length(jacobian(share)), 4), 25));
  }
  say("", "A one gets less than half. A thousand gets hardly more than a ten, and should it",
      "be wrong, there is no slope that leads away from it.");

  section("With the root and without");
  say("Back to long vectors, d = 4096. A thousand random queries meet eight keys each.",
      "How long are the Jacobians of their shares?");
  Tensor large = matmul(Tensor(g.randn({1000, 4096})), Tensor(g.randn({4096, 8})));  // (1000, 8)
  for (double divisor : {1, 64}) {
    Array of_all = softmax(large / divisor, -1).value();
    std::vector<Real> lengths;
    for (int i = 0; i < 1000; ++i) lengths.push_back(length(jacobian(xt::row(of_all, i))));
    std::sort(lengths.begin(), lengths.end());
    const auto few = std::lower_bound(lengths.begin(), lengths.end(), Real(0.001));
    say("", "scores divided by " + decimal(divisor, 0),
        "  length of the Jacobian (median)   " + decimal(lengths[500], 4),
        "  below 0.001                       " + decimal(double(few - lengths.begin()) / 10, 1) +
            " %");
  }
  say("", "Without the root most queries cannot learn whom to ask. With it all of them can.",
      "One step of lesson 05 is left to explain, the minus infinity: 07_causal_mask.", "",
      "To see slopes, one by one:",
      "gdb build/release/lessons/06_scaling_and_saturation, and in it: break slope_of,",
      "run, then finish and continue, a few times.");
}
