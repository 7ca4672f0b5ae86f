// 06 scaling_and_saturation: large scores leave softmax no doubt, and nothing left to learn.
//
// Before this lesson: 05_query_key_value, which divided its scores by a square root.
// After it: 07_causal_mask, the other thing that lesson 05 left unexplained.
// Worth a breakpoint: slope_of. `finish` shows what it returns, a number of the Jacobian.

#include <algorithm>
#include <cmath>

#include "heed/array/reduce.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "lesson.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

// How undecided the shares are, in nats: 0 when one has everything, ln n when all n are equal.
Real entropy(const Array& shares) {
  Real sum = 0;
  for (Real share : shares)
    if (share > 0) sum -= share * std::log(share);
  return sum;
}

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

// The length of an array, its numbers taken as one vector.
Real length(const Array& x) { return Real(std::sqrt(sum_of_squares(x))); }

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
  say("Lesson 05 divided its scores by the square root of the key's length. Why? A",
      "score is a sum of d products. Let the numbers in q and k be independent, with",
      "mean 0 and variance 1. Then each product has variance 1 too, and variances of",
      "independent things add up: the score has variance d (Vaswani et al. 2017). A",
      "thousand random pairs for each d:", "", "   d   variance of q.k   of q.k / sqrt(d)");
  Generator g(6);
  std::vector<Tensor> divided;  // the variances in the last column
  for (std::size_t d = 4; d <= 4096; d *= 4) {
    Tensor q(g.randn({1000, d})), k(g.randn({1000, d}));
    Tensor products = sum(q * k, {1});  // (1000): row by row, q.k
    divided.push_back(variance(products / std::sqrt(double(d))));
    say(pad_left(std::to_string(d), 4) + pad_left(decimal(variance(products).item(), 1), 18) +
        pad_left(decimal(divided.back().item(), 4), 19));
  }
  check("all are 1, give or take 0.1", stack(divided, 0), ones({6}), 0.1);
  say("", "The root of the variance is the usual size of a score: for d = 4096 that is 64.",
      "After the division it is 1, whatever d is. But what is bad about large scores?");

  section("The numbers of a second notebook");
  say("Three other tokens, in a batch of one: (1, 3, 5). Their queries and keys have 16",
      "numbers. The matrices are those of PyTorch's Linear: small random numbers, kept",
      "as (16, 5), so that the product is x times W transposed: `linear`.");
  Generator notebook(89);
  Tensor x(notebook.randn({1, 3, 5}));
  Tensor Q = linear(x, Tensor(notebook.linear_weight(5, 16)));  // (1, 3, 16)
  Tensor K = linear(x, Tensor(notebook.linear_weight(5, 16)));  // (1, 3, 16)
  Tensor scores = matmul(Q, transpose(K, 1, 2));                // (1, 3, 3)
  Tensor scaled = scores / std::sqrt(16.0);
  Tensor weights = softmax(scaled, -1);
  show("x", x, words);
  show("scores", scores, words, words);
  show("scaled", scaled, words, words);
  show("weights", weights, words, words);
  show("sums of the rows of weights", sum(weights, {-1}), {}, words);

  section("Times twelve");
  say("The scores are small, so each row of weights is nearly an average. Now let them",
      "be twelve times as large. A share is e^score over the total of its row. So the",
      "shares are raised to the power of twelve, and divided by their new total:");
  Tensor sharp12 = softmax(scaled * 12, -1);
  show("sharp12", sharp12, words, words);
  Array powers = xt::pow(weights.value(), Real(12));
  Array totals = xt::sum(powers, {2});
  Array shares = powers / xt::view(totals, xt::all(), xt::all(), xt::newaxis());
  check("powers of the shares = softmax of twelve times the scores", shares, sharp12);
  say("", "'cat' now gives itself 0.9918, and the others next to nothing. Such a row is",
      "called one-hot, and its softmax saturated. Here is 'the', at five factors:");
  const Array factors = {1, 3, 12, 48, 192};
  Tensor the = slice(select(scaled, 0, 0), 0, 0, 1);               // (1, 3)
  Tensor five = softmax(unsqueeze(Tensor(factors), 1) * the, -1);  // (5, 1) times (1, 3)
  picture("06_scaling_and_saturation", "sharper", five,
          {"shares of 'the'", {"1", "3", "12", "48", "192"}, words, "factor", "answers"});

  section("How much doubt is left");
  say("The entropy of a row says how undecided it is: minus the sum of p ln p over its",
      "shares p. Three equal shares have ln 3 = 1.0986, a one-hot row has 0.");
  Tensor doubt = -sum(weights * log_softmax(scaled, -1), {-1});         // (1, 3)
  Tensor doubt12 = -sum(sharp12 * log_softmax(scaled * 12, -1), {-1});  // (1, 3)
  show("entropy", concat({doubt, doubt12}, 0), {"weights", "sharp12"}, words);
  Array cat = xt::view(weights.value(), 0, 1), cat12 = xt::view(sharp12.value(), 0, 1);
  check("'cat' by hand = in one line", scalar(entropy(cat)), xt::view(doubt.value(), 0, 1));

  section("How much can be learned");
  say("Training moves a score as far as a slope tells it: how fast does share i follow",
      "score j? By p_i (1 - p_i) for i = j, else by -p_i p_j: what one share gains, the",
      "others lose. All the slopes are a matrix, the Jacobian. heed finds slopes with",
      "`backward`, lesson 08's subject. Here it only has to find the same.");
  show("Jacobian of 'cat' in weights", jacobian(cat), words, words);
  show("Jacobian of 'cat' in sharp12", jacobian(cat12), words, words);
  Array found = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i) {
    Tensor score(xt::view(scaled.value(), 0, 1), /*requires_grad=*/true);  // (3)
    Array only_i = zeros({3});
    only_i(i) = 1;
    backward(softmax(score, -1), only_i);  // the slopes of share i alone
    xt::view(found, i) = score.grad();
  }
  check("in weights, by hand = by backward", jacobian(cat), found);

  section("Doubt and slopes die together");
  say("In sharp12 'cat' has hardly a slope left. The length of the Jacobian, the root",
      "of the sum of its squares, says in one number how much can be learned. Means of",
      "the three rows, for larger and larger scores:");
  Tensor rows = select(scaled, 0, 0);  // (3, 3)
  const Names six = {"0", "1", "3", "12", "48", "192"};
  Array both = zeros({6, 2});
  for (std::size_t n = 0; n < 6; ++n) xt::view(both, n) = doubt_and_slope(rows * std::stod(six[n]));
  show("by factor", both, six, {"entropy", "length of the Jacobian"});
  Series doubts{"entropy (nats)", {}, {}}, slopes{"length of the Jacobian", {}, {}};
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
  say("", "A one is hardly heard. A thousand is hardly heard better than a ten, and should",
      "it be wrong, there is no slope that leads away from it.");

  section("With the root and without");
  say("Back to d = 4096. A thousand random queries meet eight keys. Training sends a",
      "random gradient to their shares: how much of it comes through to the queries?");
  Array q = g.randn({1000, 4096}), k = g.randn({8, 4096}), sent = g.randn({1000, 8});
  for (double divisor : {1, 64}) {
    Tensor queries(q, /*requires_grad=*/true);
    Tensor large = matmul(queries, transpose(Tensor(k), 0, 1)) / divisor;  // (1000, 8)
    backward(softmax(large, -1), sent);
    std::vector<Real> lengths;
    for (int i = 0; i < 1000; ++i) lengths.push_back(length(xt::row(queries.grad(), i)));
    std::sort(lengths.begin(), lengths.end());
    const auto few = std::lower_bound(lengths.begin(), lengths.end(), Real(0.001));
    say("", "scores divided by " + decimal(divisor, 0),
        "  length of a query's gradient (median)   " + decimal(lengths[500], 4),
        "  queries whose gradient is below 0.001   " +
            decimal(double(few - lengths.begin()) / 10, 1) + " %");
  }
  say("", "Without the root most queries cannot learn whom to ask. With it all of them can.",
      "One step of lesson 05 is left to explain, the minus infinity: 07_causal_mask.", "",
      "To see slopes, one by one:",
      "gdb build/release/lessons/06_scaling_and_saturation, and in it: break slope_of,",
      "run, then finish and continue, a few times.");
}
