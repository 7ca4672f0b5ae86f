// 09 scaling_and_saturation: why attention divides its scores by sqrt(d_k).
//
// Before this lesson: 04_query_key_value, which divided the scores by sqrt(d_k).
// After it: 08_causal_mask, which explains the minus infinity of lesson 04.
// Worth a breakpoint: softmax_derivative. `finish` shows the derivative that it returns.

#include <cmath>

#include "with_and_without.hpp"

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

void variance_of_a_score(Generator& g) {
  section("The variance of a score");
  say("Why does attention divide its scores by sqrt(d_k)? (From here on, d is short for",
      "d_k.) Vaswani et al. suspect: without the division the scores of a row differ so",
      "much that softmax hardly reacts to changes. This lesson tests it: how much do",
      "scores differ, how does softmax react, and how well does a head learn?", "",
      "The VARIANCE of a random number x with the mean m is the mean of (x - m)^2. Its",
      "root, the standard deviation, is the typical distance of x from m. A score is a",
      "sum of d products q_i k_i. Assume that all q_i and k_i are independent, with",
      "mean 0 and variance 1. (In a trained model they are not.) The mean of a product",
      "of independent numbers is the product of their means. So q_i k_i has mean 0, and",
      "(q_i k_i)^2 = q_i^2 k_i^2 has mean 1. In the square of the whole sum, the mixed",
      "terms q_i k_i q_j k_j have mean 0. The d squares remain: a score has variance d.",
      "Two scores of a query, q.k and q.k', differ by q.(k - k'), with variance 2 d.",
      "Here are variances of 4000 random scores for each d. The number after +- is the",
      "standard error: the typical distance of the measured from the true variance.", "",
      "   d   variance of q.k   of q.k / sqrt(d)");
  bool near = true;
  for (std::size_t d = 4; d <= 4096; d *= 4) {
    Tensor q(g.randn({4000, d})), k(g.randn({4000, d}));
    Tensor scores = sum(q * k, {1});  // (4000): q.k, row by row
    const Tensor scaled = scores / std::sqrt(double(d));
    const Estimate measured = mean_of_squares(scaled.value());
    near = near && std::abs(measured.mean - 1) < 4 * measured.standard_error;
    say(pad_left(std::to_string(d), 4) + pad_left(decimal(variance(scores).item(), 1), 18) +
        pad_left(decimal(measured.mean, 2), 12) + " +- " + decimal(measured.standard_error, 2));
  }
  claim("all are 1, within 4 standard errors", near, "a larger difference");
  say("", "For d = 4096 the standard deviation of a score is 64. After the division it is",
      "1, for every d. Differences of two scores are sqrt(2) times as large.");
}

// Returns the scaled scores of the three tokens, (1, 3, 3).
Tensor small_scores() {
  section("Small scores");
  say("Three tokens, 'one', 'dog' and 'ran', have random embeddings x. (PyTorch draws",
      "the same numbers after torch.manual_seed(89).) A program often computes several",
      "sequences at once, a BATCH. Here it has one: x (1, 3, 5), and [0] is its index.",
      "Queries and keys have 16 numbers, so the scores are divided by 4.");
  Generator g(89);
  Tensor x(g.randn({1, 3, 5}));
  Tensor W_Q(nn::init::linear_weight(g, 5, 16));  // (16, 5), as torch.nn.Linear stores it
  Tensor W_K(nn::init::linear_weight(g, 5, 16));
  Tensor Q = linear(x, W_Q), K = linear(x, W_K);  // x times W transposed: (1, 3, 16)
  Tensor scores = matmul(Q, transpose(K, 1, 2));  // (1, 3, 3)
  Tensor scaled = scores / std::sqrt(16.0);
  Tensor weights = softmax(scaled, -1);
  show("x", x, words);
  show("scores", scores, words, words);
  show("scaled scores", scaled, words, words);
  show("attention weights", weights, words, words);
  show("row sums of the attention weights", sum(weights, {-1}), {}, words);
  say("", "All attention weights are between 0.25 and 0.45: the scores differ little. Why?",
      "torch.nn.Linear draws W_Q and W_K uniformly from -1 / sqrt(5) to 1 / sqrt(5).",
      "Uniform numbers from -a to a have variance a^2 / 3, here 1/15. A number of Q or",
      "K is a sum of 5 products. If the numbers of x have variance 1, it has variance",
      "5/15. So the scaled score of two different tokens has only variance 1/9.");
  Tensor many(Generator(1).randn({1000, 5}));
  Tensor W(nn::init::linear_weight(g, 5, 1000));
  check("variance of 1000 times 1000 such numbers = 1/3", variance(linear(many, W)),
        scalar(Real(1) / 3), 0.01);
  return scaled;
}

// Returns the attention weights for scores twelve times as large.
Tensor scores_times_twelve(const Tensor& scaled) {
  section("Scores times twelve");
  say("How do the weights change if the scores grow? Multiply the scaled scores by 12.",
      "As exp(12 s) = exp(s)^12, the new weights are the old weights to the power of",
      "12, divided by the sum of their row:");
  Tensor weights12 = softmax(scaled * 12, -1);
  show("attention weights, scores times 12", weights12, words, words);
  Array powers = xt::pow(softmax(scaled, -1).value(), Real(12)), sums = xt::sum(powers, {2});
  Array by_hand = powers / xt::view(sums, xt::all(), xt::all(), xt::newaxis());
  check("powers of the weights = softmax of scores times 12", by_hand, weights12);
  say("", "The weight of 'dog' for itself grows from 0.4472 to 0.9918. A vector with a",
      "single 1 and zeros elsewhere is ONE-HOT. As the factor grows, the weights",
      "approach a one-hot vector if exactly one score is the largest. Near it, a change",
      "of the scores hardly changes the weights: this is SATURATION.");
  return weights12;
}

void derivatives_of_softmax(const Tensor& scaled, const Tensor& weights12) {
  section("The derivatives of softmax");
  say("Training changes the parameters, here W_Q and W_K, and so the scores and the",
      "weights. So it must know how each score changes each attention weight. The",
      "DERIVATIVE of weight p_i with respect to score s_j is the change of p_i for a",
      "tiny change of s_j, divided by that change. Lesson 06 derives:", "",
      "  dp_i / ds_j = p_i (1 - p_i)   for its own score, j = i",
      "  dp_i / ds_j = -p_i p_j        for another score", "",
      "The derivatives of one p_i with respect to all scores are its GRADIENT. The",
      "gradients of all weights are the rows of a matrix, the JACOBIAN. Here it is the",
      "matrix diag(p) - p p^T: p on the diagonal, minus the outer product of p with p.",
      "It is symmetric, and its rows sum to 0: p_i - p_i (p_1 + p_2 + ...) = 0, because",
      "the weights sum to 1. The first check adds 0.001 to each score in turn:");
  Array dog_scores = xt::view(scaled.value(), 0, 1);
  Array dog = softmax(Tensor(dog_scores), -1).value();
  show("Jacobian of 'dog'", jacobian(dog), words, words);
  Array differences = zeros({3, 3});
  for (std::size_t j = 0; j < 3; ++j) {
    Array changed = dog_scores;
    changed(j) += Real(0.001);
    xt::view(differences, xt::all(), j) =
        (softmax(Tensor(changed), -1).value() - dog) / Real(0.001);
  }
  check("formula = change for +0.001, divided by 0.001", jacobian(dog), differences, 0.001);
  check("formula = diag(p) - p p^T", jacobian(dog),
        Array(xt::diag(dog) - xt::linalg::outer(dog, dog)));
  const auto jacobian12 = [&](std::size_t i) {
    return jacobian(xt::view(weights12.value(), 0, i));
  };
  show("Jacobian of 'dog', scores times 12", jacobian12(1), words, words);
  say("", "The largest derivative with scores times 12 is");
  for (std::size_t i = 0; i < 3; ++i)
    say("  " + decimal(xt::amax(jacobian12(i))(), 4) + " for the query '" + words[i] + "'");
  say("", "So only 'dog' is saturated: its largest score is far above the others. The",
      "FROBENIUS NORM of a matrix is the root of the sum of the squared elements. Here",
      "is the norm of each Jacobian for scores times a factor. (Factor 4 gives the",
      "scores without the division by sqrt(16).)");
  Array norms = zeros({norm_factors.size(), 3}), factors = norms;
  for (std::size_t f = 0; f < norm_factors.size(); ++f)
    for (std::size_t i = 0; i < 3; ++i) {
      factors(f, i) = Real(norm_factors[f]);
      norms(f, i) = Real(jacobian_norm(xt::view(scaled.value(), 0, i), norm_factors[f]));
    }
  show("Frobenius norm", norms, factor_names(), words);
  check("by the Jacobian = jacobian_norm, 'dog', scores times 12",
        scalar(std::sqrt(xt::sum(jacobian12(1) * jacobian12(1))())), scalar(norms(2, 1)));
  say("", "As the factor f grows, each norm falls to 0. For exactly one score of each row",
      "is the largest, and a score that is lower by c has at most the weight exp(-f c).",
      "So c decides when the norm falls. (If two scores are equal and the largest,",
      "their weights approach 0.5, and so does the norm.)", "",
      "These are derivatives with respect to the multiplied scores. With respect to the",
      "scores before the multiplication, they are f times as large: if s grows by h,",
      "the product f s grows by f h. So they first grow with f. But exp(-f c) falls",
      "faster than f grows:");
  show("factor times norm", factors * norms, factor_names(), words);
  const Array scores = select(scaled, 0, 0).value(), factor = ones({1, 1}) * Real(12);
  sliders("saturation", words, {{"factor", factor}, {"scores", scores}});
  draw_saturation(scores, words);
}

int main() {
  opening({"to measure why attention divides its scores by sqrt(d_k)",
           "Var(q.k) = d_k        q, k (d_k), independent, mean 0, variance 1\n"
           "p = softmax(s), both (N), for N keys:\n"
           "dp_i / ds_j = p_i (1 - p_i) if i = j, else -p_i p_j\n"
           "Jacobian (N, N) = diag(p) - p p^T",
           "scaling: Vaswani et al., \"Attention Is All You Need\" (2017),\n"
           "section 3.2.1, footnote 4",
           "scale in torch.nn.functional.scaled_dot_product_attention"});
  Generator g(6);
  variance_of_a_score(g);
  const Tensor scaled = small_scores();
  const Tensor weights12 = scores_times_twelve(scaled);
  derivatives_of_softmax(scaled, weights12);
  train_one_head();
  random_queries(g);
  task_of_the_bank();
  say("", "One step of lesson 04 is left to explain, the mask: 08_causal_mask.", "",
      "To see derivatives one by one (repeat the last two lines):", "",
      "  gdb build/release/lessons/09_scaling_and_saturation", "  break softmax_derivative",
      "  run", "  finish", "  continue");
  questions(
      "In variance_of_a_score, divide by double(d) instead of its root. How large is\n"
      "the variance for d = 64?",
      "In norm_factors (with_and_without.hpp), replace 64 by 8. Which row's norm\n"
      "falls most between the factors 4 and 8, and why?",
      "In random_queries (with_and_without.hpp), draw 64 keys: g.randn({64, d}).\n"
      "Does softmax over more keys saturate less?");
}
