// 06 scaling_and_saturation: why attention divides its scores by sqrt(d_k).
//
// Before this lesson: 05_query_key_value, which divided the scores by sqrt(d_k).
// After it: 07_causal_mask, which explains the minus infinity of lesson 05.
// Worth a breakpoint: softmax_derivative. `finish` shows the derivative that it returns.

#include <cmath>

#include "06_with_and_without.hpp"

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
  say("Attention divides its scores by sqrt(d_k), d for short, because training can",
      "hardly change the attention weights of large scores. How large are scores? The",
      "VARIANCE of a random number x with the mean m is the mean of (x - m)^2. Its",
      "root, the standard deviation, is the typical distance of x from m. A score is a",
      "sum of d products q_i k_i. Let all q_i and k_i be independent, with mean 0 and",
      "variance 1. Then the mean of (q_i k_i)^2 is that of q_i^2 times that of k_i^2,",
      "so each product has variance 1. The variances of independent numbers add up: the",
      "score has variance d. Measured on 4000 random pairs for each d:", "",
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
      "1, for every d.");
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
  say("", "The scores differ little, so all attention weights are between 0.25 and 0.45.");
  return scaled;
}

// Returns the attention weights for scores twelve times as large.
Tensor scores_times_twelve(const Tensor& scaled) {
  section("Scores times twelve");
  say("Without the division, scores are sqrt(d) times as large: 12 times for d = 144.",
      "So multiply the scaled scores by 12. As exp(12 s) = exp(s)^12, the new weights",
      "are the old weights to the power of 12, divided by the sum of their row:");
  Tensor weights12 = softmax(scaled * 12, -1);
  show("attention weights, scores times 12", weights12, words, words);
  Array powers = xt::pow(softmax(scaled, -1).value(), Real(12)), sums = xt::sum(powers, {2});
  Array by_hand = powers / xt::view(sums, xt::all(), xt::all(), xt::newaxis());
  check("powers of the weights = softmax of scores times 12", by_hand, weights12);
  say("", "The weight of 'dog' for itself grows from 0.4472 to 0.9918. A vector with a",
      "single 1 and zeros elsewhere is ONE-HOT. As the factor grows, the weights",
      "approach a one-hot vector, if one score is the largest. Near it, a change of the",
      "scores hardly changes the weights: this is SATURATION.");
  return weights12;
}

void derivatives_of_softmax(const Tensor& scaled, const Tensor& weights12) {
  section("The derivatives of softmax");
  say("Training changes each score a little, in the direction that improves the result.",
      "So it must know how each score changes each attention weight. The DERIVATIVE of",
      "weight p_i with respect to score s_j is the change of p_i for a tiny change of",
      "s_j, divided by that change. Lesson 09 derives:", "",
      "  p_i (1 - p_i)   for its own score, j = i", "  -p_i p_j        for another score", "",
      "The derivatives of one p_i with respect to all scores are its GRADIENT. The",
      "gradients of all weights are the rows of a matrix, the JACOBIAN. The first check",
      "adds 0.001 to each score in turn, and compares the changes with the formula:");
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
  check("root of the sum of its squares = jacobian_norm",
        scalar(std::sqrt(xt::sum(jacobian(dog12) * jacobian(dog12))())),
        scalar(jacobian_norm(dog12)));
  say("", "With scores times 12, no derivative is above 0.0081.");
}

void gradient_descent_steps(const Tensor& scaled) {
  section("Gradient descent learns slowly there");
  say("To reduce an error, a GRADIENT DESCENT STEP changes each score s_j a little: it",
      "subtracts LEARNING RATE * (derivative of the error with respect to s_j). Here",
      "'dog' must learn to attend to 'one', so the error is 1 - p_one. The learning",
      "rate, a constant that we choose, is 1. How many steps until p_one is above 0.9?", "",
      "scores times   p_one before   its derivative   steps");
  const Real learning_rate = 1;
  for (const double factor : {1, 3, 12}) {
    Array scores = xt::view(scaled.value(), 0, 1) * Real(factor);
    Array weights = softmax(Tensor(scores), -1).value();
    say(pad_left(decimal(factor, 0), 12) + pad_left(decimal(weights(0), 4), 15) +
        pad_left(decimal(softmax_derivative(weights, 0, 0), 4), 17) +
        pad_left(std::to_string(steps_of_gradient_descent(scores, learning_rate)), 8));
  }
  say("", "Scores times 12 need more steps for two reasons. The derivative is small, and",
      "the way is longer: the scores of 'dog' and 'one' differ by 5.0 instead of 0.4.",
      "(The error -ln p_one, the loss of lesson 01, has the derivative p_one - 1, which",
      "saturation does not make small. But inside attention no such error follows the",
      "softmax directly.) As the scores grow, the norm of the Jacobian, the root of the",
      "sum of its squares, falls to 0. The picture has its mean over the three rows:");
  draw_saturation(select(scaled, 0, 0));
}

int main() {
  opening({"to measure why attention divides its scores by sqrt(d_k)",
           "Var(q.k) = d_k        q, k (d_k), independent, mean 0, variance 1\n"
           "p = softmax(s), both (N), for N keys:\n"
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
  random_queries(g);
  train_one_head();
  task_of_the_bank();
  say("", "One step of lesson 05 is left to explain, the mask: 07_causal_mask.", "",
      "To see derivatives one by one: gdb",
      "build/release/lessons/06_scaling_and_saturation, then `break",
      "softmax_derivative`, `run`, and `finish` and `continue` in turn.");
  questions(
      "In variance_of_a_score, divide by double(d) instead of its root. How large is\n"
      "the variance for d = 64?",
      "Set learning_rate = 10 in gradient_descent_steps. How many steps does the\n"
      "saturated row need now?",
      "In random_queries (06_with_and_without.hpp), draw 64 keys: g.randn({64, d}).\n"
      "Does softmax over more keys saturate less?");
}
