// 06 scaling_and_saturation: why attention divides its scores by sqrt(d_k).
//
// Before this lesson: 05_query_key_value, which divided the scores by sqrt(d_k).
// After it: 07_causal_mask, which explains the minus infinity of lesson 05.
// Worth a breakpoint: softmax_derivative. `finish` shows the derivative that it returns.

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

// How fast attention weight i grows with score j: weights(i) (1 - weights(i)) if i = j, else
// -weights(i) weights(j).
Real softmax_derivative(const Array& weights, std::size_t i, std::size_t j) {
  return weights(i) * (Real(i == j) - weights(j));
}

// All derivatives: a row for each attention weight, a column for each score.
Array jacobian(const Array& weights) {
  Array J = zeros({weights.size(), weights.size()});
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (std::size_t j = 0; j < weights.size(); ++j) J(i, j) = softmax_derivative(weights, i, j);
  return J;
}

// The root of the sum of all squares.
Real frobenius_norm(const Array& x) { return Real(std::sqrt(sum_of_squares(x))); }

// -sum of p ln p: 0 if one weight is 1, ln n if all n weights are equal.
Real entropy(const Array& weights) {
  Real sum = 0;
  for (Real p : weights)
    if (p > 0) sum -= p * std::log(p);
  return sum;
}

// Means over the rows of softmax(scores): of the entropy, and of the norm of the Jacobian.
Array entropy_and_norm(const Tensor& scores) {
  Array weights = softmax(scores, -1).value(), means = zeros({2});
  for (std::size_t i = 0; i < weights.shape(0); ++i) {
    Array row = xt::view(weights, i);
    means(0) += entropy(row) / Real(weights.shape(0));
    means(1) += frobenius_norm(jacobian(row)) / Real(weights.shape(0));
  }
  return means;
}

// Gradient descent on the error 1 - weights(0), until weights(0) is above 0.9.
int steps_of_gradient_descent(Array scores, Real learning_rate) {
  Array weights = softmax(Tensor(scores), -1).value();
  int steps = 0;
  for (; weights(0) <= Real(0.9); ++steps) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      const Real derivative = -softmax_derivative(weights, 0, j);  // of the error
      scores(j) -= learning_rate * derivative;
    }
    weights = softmax(Tensor(scores), -1).value();
  }
  return steps;
}

void variance_of_a_score(Generator& g) {
  section("The variance of a score");
  say("The VARIANCE of a random number is the mean of its squared distance from its",
      "mean. Its root is the standard deviation, the typical size. A score is a sum of",
      "d products. Let the numbers in q and k be independent, with mean 0 and variance",
      "1. Then each product has variance 1, and the variances add up: the score has",
      "variance d. Measured on 4000 random pairs for each d:", "",
      "   d   variance of q.k   of q.k / sqrt(d)");
  std::vector<Tensor> scaled;  // the variances in the last column
  for (std::size_t d = 4; d <= 4096; d *= 4) {
    Tensor q(g.randn({4000, d})), k(g.randn({4000, d}));
    Tensor scores = sum(q * k, {1});  // (4000): q.k, row by row
    scaled.push_back(variance(scores / std::sqrt(double(d))));
    say(pad_left(std::to_string(d), 4) + pad_left(decimal(variance(scores).item(), 1), 18) +
        pad_left(decimal(scaled.back().item(), 4), 19));
  }
  check("all are 1, to within 0.1", stack(scaled, 0), ones({6}), 0.1);
  say("", "For d = 4096 the standard deviation of a score is 64. After the division it is",
      "1, for every d. The rest of the lesson shows what is bad about large scores.");
}

// Returns the scaled scores of the three tokens, (1, 3, 3).
Tensor small_scores() {
  section("Small scores");
  say("The numbers of this section are those of an article. We call its three tokens",
      "'one dog ran'. They are a batch of one sequence: x (1, 3, 5). Queries and keys",
      "have 16 numbers, so the scores are divided by 4.");
  Generator article(89);
  Tensor x(article.randn({1, 3, 5}));
  Tensor W_Q(nn::init::linear_weight(article, 5, 16));  // (16, 5), as torch.nn.Linear stores it
  Tensor W_K(nn::init::linear_weight(article, 5, 16));
  Tensor Q = linear(x, W_Q), K = linear(x, W_K);  // x times W transposed: (1, 3, 16)
  Tensor scores = matmul(Q, transpose(K, 1, 2));  // (1, 3, 3)
  Tensor scaled = scores / std::sqrt(16.0);
  Tensor weights = softmax(scaled, -1);
  show("x", x, words);
  show("scores", scores, words, words);
  show("scaled scores", scaled, words, words);
  show("attention weights", weights, words, words);
  show("row sums of the attention weights", sum(weights, {-1}), {}, words);
  say("", "These scores differ little, so all attention weights are between 0.25 and 0.45,",
      "and every output is close to the mean of the values.");
  return scaled;
}

// Returns the attention weights for scores twelve times as large.
Tensor scores_times_twelve(const Tensor& scaled) {
  section("Scores times twelve");
  say("Now multiply the scaled scores by 12. Each weight is exp(score), divided by the",
      "sum of its row. So the new weights are the old weights to the power of 12,",
      "divided by their sum:");
  Tensor weights12 = softmax(scaled * 12, -1);
  show("attention weights, scores times 12", weights12, words, words);
  Array powers = xt::pow(softmax(scaled, -1).value(), Real(12)), sums = xt::sum(powers, {2});
  Array by_hand = powers / xt::view(sums, xt::all(), xt::all(), xt::newaxis());
  check("powers of the weights = softmax of scores times 12", by_hand, weights12);
  say("", "The weight of 'dog' for itself grows from 0.4472 to 0.9918. A vector with a",
      "single 1 and zeros elsewhere is ONE-HOT. As the factor grows, the weights",
      "approach a one-hot vector, if one score is the largest. Near it, a change of the",
      "scores hardly changes the weights: this is SATURATION. The weights of 'one' for",
      "five factors:");
  const Array factors = {1, 3, 12, 48, 192};
  Tensor one = slice(select(scaled, 0, 0), 0, 0, 1);                  // (1, 3)
  Tensor weights = softmax(unsqueeze(Tensor(factors), 1) * one, -1);  // (5, 3)
  picture("06_scaling_and_saturation", "sharper", weights,
          {"attention weights of the query 'one'",
           {"1", "3", "12", "48", "192"},
           words,
           "factor on the scores",
           "key position"});
  return weights12;
}

void derivatives_of_softmax(const Tensor& scaled, const Tensor& weights12) {
  section("The derivatives of softmax");
  say("Training changes each score a little, in the direction that improves the result.",
      "How much does attention weight i change if score j grows by 0.001? Divided by",
      "0.001, this is nearly the derivative. With p_i for weight i it is", "",
      "  p_i (1 - p_i)   for its own score",
      "  -p_i p_j        for another score (lesson 09 derives both)", "",
      "The nine derivatives of a row form a matrix, its Jacobian:");
  Array dog_scores = xt::view(scaled.value(), 0, 1);
  Array dog = softmax(Tensor(dog_scores), -1).value(), dog12 = xt::view(weights12.value(), 0, 1);
  show("Jacobian of 'dog'", jacobian(dog), words, words);
  Array differences = zeros({3, 3});
  for (std::size_t j = 0; j < 3; ++j) {
    Array changed = dog_scores;
    changed(j) += Real(0.001);
    xt::view(differences, xt::all(), j) =
        (softmax(Tensor(changed), -1).value() - dog) / Real(0.001);
  }
  check("formula = change for +0.001, to within 0.001", jacobian(dog), differences, 0.001);
  show("Jacobian of 'dog', scores times 12", jacobian(dog12), words, words);
  say("", "With scores times 12, no derivative is above 0.0081.");
}

void gradient_descent_steps(const Tensor& scaled) {
  section("Gradient descent learns slowly there");
  say("A GRADIENT DESCENT STEP subtracts from each number the derivative of the error",
      "by that number, times a constant, the LEARNING RATE. Let 'dog' learn to attend",
      "to 'one': the error is 1 - p_one. How many steps until p_one is above 0.9, at",
      "learning rate 1?", "", "scores times   p_one before   its derivative   steps");
  const Real learning_rate = 1;
  for (const double factor : {1, 3, 12}) {
    Array scores = xt::view(scaled.value(), 0, 1) * Real(factor);
    Array weights = softmax(Tensor(scores), -1).value();
    say(pad_left(decimal(factor, 0), 12) + pad_left(decimal(weights(0), 4), 15) +
        pad_left(decimal(softmax_derivative(weights, 0, 0), 4), 17) +
        pad_left(std::to_string(steps_of_gradient_descent(scores, learning_rate)), 8));
  }
  say("", "The larger the scores, the smaller the derivative and the more steps: a",
      "saturated softmax learns slowly.");
}

void entropy_and_derivatives(const Tensor& scaled) {
  section("Entropy and derivatives");
  say("Two numbers describe a row of weights. The entropy, -sum of p ln p, is ln 3 =",
      "1.0986 for three equal weights and 0 for a one-hot row (lesson 14). The norm of",
      "the Jacobian, the root of the sum of its squares, measures how much the weights",
      "react to the scores. The means of the three rows, as the scores grow:");
  Tensor rows = select(scaled, 0, 0);  // (3, 3): the only sequence of the batch
  const Names six = {"0", "1", "3", "12", "48", "192"};
  Array both = zeros({6, 2});
  for (std::size_t n = 0; n < 6; ++n)
    xt::view(both, n) = entropy_and_norm(rows * std::stod(six[n]));
  show("by factor on the scores", both, six, {"entropy", "norm of the Jacobian"});
  Tensor by_row = -sum(softmax(scaled, -1) * log_softmax(scaled, -1), {-1});  // (1, 3)
  check("entropy by hand = in one line", scalar(both(1, 0)), mean(by_row));
  Series entropies{"entropy", {}, {}}, norms{"norm of the Jacobian", {}, {}};
  for (double power = -3; power <= 8; power += 0.125) {
    Array means = entropy_and_norm(rows * std::exp2(power));
    entropies.append(power, means(0)), norms.append(power, means(1));
  }
  CurveOptions curve;
  curve.title = "Entropy and derivatives of softmax vanish together";
  curve.x_title = "log2 of the factor on the scores";
  curve.y_title = "mean of three rows";
  picture("06_scaling_and_saturation", "saturation", {entropies, norms}, curve);
}

void the_factor_of_lesson_05() {
  section("The factor of lesson 05");
  say("In lesson 05 the query of 'sat' looked for a noun with the factor 10. Compare 1",
      "and 1000:", "", "  factor   weight of 'cat'   norm of the Jacobian");
  for (double factor : {1, 10, 1000}) {
    Array scores = {Real(factor / std::sqrt(3.0)), 0, 0};
    Array weights = softmax(Tensor(scores), -1).value();
    say(pad_left(decimal(factor, 0), 8) + pad_left(decimal(weights(0), 4), 18) +
        pad_left(decimal(frobenius_norm(jacobian(weights)), 4), 23));
  }
  say("", "With factor 1 the weight of 'cat' is below one half. With 1000 it is larger than",
      "with 10 by 0.0062 only, and the derivatives are 0: exp(-577) is too small for a",
      "float. If the rule were wrong, gradient descent could not correct it.");
}

// The norms of the Jacobians of all rows of softmax(scores), sorted.
std::vector<Real> sorted_norms(const Tensor& scores) {
  const Array weights = softmax(scores, -1).value();
  std::vector<Real> norms;
  for (std::size_t i = 0; i < weights.shape(0); ++i)
    norms.push_back(frobenius_norm(jacobian(xt::row(weights, std::ptrdiff_t(i)))));
  std::sort(norms.begin(), norms.end());
  return norms;
}

void result(Generator& g) {
  section("Result: with and without 1 / sqrt(d)");
  say("Finally 1000 random queries of d numbers, with 8 random keys each time. The",
      "median of the norms of their Jacobians, and the percentage of norms below 0.001:", "",
      "        scores q.k            scores q.k / sqrt(d)",
      "   d    median  below 0.001   median  below 0.001");
  const std::size_t keys = 8;
  for (const std::size_t d : {4096U, 256U, 64U, 16U}) {
    Tensor scores = matmul(Tensor(g.randn({1000, d})), Tensor(g.randn({d, keys})));  // (1000, 8)
    std::string line = pad_left(std::to_string(d), 4);
    for (const double divisor : {1.0, std::sqrt(double(d))}) {
      const std::vector<Real> norms = sorted_norms(scores / divisor);
      const auto small = std::lower_bound(norms.begin(), norms.end(), Real(0.001)) - norms.begin();
      line += pad_left(decimal(norms[500], 4), 10) + pad_left(decimal(double(small) / 10, 1), 11) +
              " %";
    }
    say(line);
  }
  say("", "Without the division, the derivatives shrink as d grows: for d = 4096 most",
      "queries have a norm below 0.001 and learn slowly. With it, the norms hardly",
      "depend on d. One step of lesson 05 is left to explain, the mask: 07_causal_mask.", "",
      "To see derivatives one by one:",
      "gdb build/release/lessons/06_scaling_and_saturation, and in it: break",
      "softmax_derivative, run, then finish and continue, a few times.");
}

int main() {
  opening({"to measure why attention divides its scores by sqrt(d_k)",
           "Var(q.k) = d_k        q, k (d_k), independent, mean 0, variance 1\n"
           "p = softmax(s), both (S):\n"
           "dp_i / ds_j = p_i (1 - p_i) if i = j, else -p_i p_j",
           "scaling: Vaswani et al., \"Attention Is All You Need\" (2017),\n"
           "section 3.2.1, footnote 4",
           "scale in torch.nn.functional.scaled_dot_product_attention"});
  Generator g(6);
  variance_of_a_score(g);
  const Tensor scaled = small_scores();
  const Tensor weights12 = scores_times_twelve(scaled);
  derivatives_of_softmax(scaled, weights12);
  gradient_descent_steps(scaled);
  entropy_and_derivatives(scaled);
  the_factor_of_lesson_05();
  result(g);
  questions(
      "In variance_of_a_score, divide by double(d) instead of its root. How large is\n"
      "the variance for d = 64?",
      "Set learning_rate = 10 in gradient_descent_steps. How many steps does the\n"
      "saturated row need now?",
      "Set keys = 64 in the last section. Does softmax over more keys saturate less?");
}
