// 09 scaling_and_saturation: why attention divides its scores by sqrt(d_k).
//
// Worth a breakpoint: softmax_derivative. `finish` shows the derivative that it returns.

#include <algorithm>
#include <cmath>

#include "article.hpp"
#include "estimate.hpp"
#include "harbour.hpp"
#include "lesson.hpp"
#include "pictures.hpp"

using namespace heed;

constexpr std::size_t T = 16, C = 32;  // characters, width of a vector
const Harbour harbour;
const Names words = {"one", "dog", "ran"};

// What three seeds measure for one learning rate.
struct Runs {
  double learning_rate = 0;
  std::vector<double> losses = {};  // held out, nats per character
  std::vector<double> saturated =
      {};             // percentage of queries with a weight above 0.99, before training
  Series curve = {};  // the training losses of the last seed
};

// The percentage of rows with a weight above 0.99. Row 0 has one key, and does not count.
double saturated_rows(const Array& weights) {  // (B, T, T)
  const Array largest = xt::amax(xt::view(weights, xt::all(), xt::range(1, T)), {2});
  return 100.0 * double(xt::count_nonzero(largest > Real(0.99))()) / double(largest.size());
}

// Trains the head of lesson 08 with queries and keys of d numbers and this factor on its scores.
void train(Runs& runs, std::size_t d, double scale, std::uint64_t seed) {
  Generator g(seed);
  const auto random = [&](std::size_t rows, std::size_t columns, double deviation) {
    return Tensor(g.normal({rows, columns}, 0, deviation), /*requires_grad=*/true);
  };
  const std::size_t V = harbour.vocab_size();
  const double w = std::sqrt(1.0 / (2 * C));  // the numbers of Q and K then have variance 1
  const Tensor characters = random(V, C, 1), positions = random(T, C, 1);
  const Tensor W_Q = random(C, d, w), W_K = random(C, d, w), W_V = random(C, V, w);
  AttentionOptions options;
  options.causal = true, options.scale = scale;
  const auto head = [&](const Indices& tokens) {  // logits (B, T, V) and weights (B, T, T)
    const Tensor X = embedding(tokens, characters) + positions;
    return attention_with_weights(matmul(X, W_Q), matmul(X, W_K), matmul(X, W_V), options);
  };
  const std::vector<Tensor> parameters = {characters, positions, W_Q, W_K, W_V};
  optim::AdamW adam(parameters, {runs.learning_rate, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
  const Batch play = harbour.held_out_windows(T);
  runs.saturated.push_back(saturated_rows(head(play.inputs).weights.value()));
  runs.curve =
      Series{"d = " + std::to_string(d) + (scale == 1 ? "" : ", divided by sqrt(d)"), {}, {}};
  for (std::int64_t step = 0; step < in_brief(200, 60); ++step) {
    const Batch batch = harbour.batch(16, T, g);
    const Tensor loss = cross_entropy(head(batch.inputs).output, batch.targets);
    optim::zero_grad(parameters);
    backward(loss);
    adam.step();
    runs.curve.append(double(step), loss.item());
  }
  runs.losses.push_back(cross_entropy(head(play.inputs).output, play.targets).item());
}

// For d = 16, 64 and 256, the runs of the learning rate with the lowest mean loss. (The rates 0.003
// and 0.1 are worse for all of them.)
std::vector<Runs> best_runs(bool divided) {
  std::vector<Runs> best;
  for (const std::size_t d : {16, 64, 256}) {
    Runs runs[] = {{0.01}, {0.03}};
    for (Runs& run : runs)
      for (const std::uint64_t seed : {1, 2, 3})
        train(run, d, divided ? 1 / std::sqrt(double(d)) : 1, seed);
    const bool first = estimate(runs[0].losses).mean < estimate(runs[1].losses).mean;
    best.push_back(first ? runs[0] : runs[1]);
  }
  return best;
}

std::vector<Runs> larger_heads() {
  section("A larger head learns less");
  const std::vector<Runs> runs = best_runs(/*divided=*/false);
  quote(table_of_runs(runs));
  say();
  claim("d = 256 is worse than d = 16, by more than 4 standard errors",
        difference(runs[2].losses, runs[0].losses) > 4, "it is not");
  return runs;
}

void variance_of_a_score(Generator& g) {
  section("The variance of a score");
  say("", "   d   variance of q.k   of q.k / sqrt(d)");
  std::vector<Series> histograms;
  bool near = true;
  for (std::size_t d = 4; d <= 4096; d *= 4) {
    const Tensor q(g.randn({4000, d})), k(g.randn({4000, d}));
    const Tensor scores = sum(q * k, {1});  // (4000): q.k, row by row
    const Array squares = xt::square((scores / std::sqrt(double(d))).value());
    const Estimate scaled = estimate({squares.begin(), squares.end()});
    near = near && std::abs(scaled.mean - 1) < 4 * scaled.standard_error;
    say(pad_left(std::to_string(d), 4) + pad_left(decimal(variance(scores).item(), 1), 18) +
        pad_left(decimal(scaled.mean, 2), 12) + " +- " + decimal(scaled.standard_error, 2));
    if (d <= 256) histograms.push_back(histogram("d = " + std::to_string(d), scores.value()));
  }
  claim("all are 1, within 4 standard errors", near, "a larger difference");
  say();
  picture("09_scaling_and_saturation", "scores", histograms,
          {"Without the division, the scores spread as d grows", "score q.k",
           "proportion of the scores"});
}

// Returns the attention weights of the factor 12.
Tensor softmax_saturates(const Tensor& scores) {
  section("Softmax saturates");
  const Tensor weights = softmax(scores, -1), weights12 = softmax(scores * 12, -1);
  show("attention weights", weights, words, words);
  show("attention weights, scores times 12", weights12, words, words);
  const Array powers = xt::pow(weights.value(), Real(12)),
              sums = xt::sum(powers, {2}, xt::keep_dims);
  check("power of 12, divided by the row sum = softmax of scores times 12", powers / sums,
        weights12);
  say();
  return weights12;
}

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

// For each query of the scores (3, 3): the norm of the Jacobian of softmax(factor * scores).
Array jacobian_norms(const Array& scores, double factor) {
  const Array weights = softmax(Tensor(scores) * factor, -1).value();
  Array norms = zeros({3});
  for (std::size_t i = 0; i < 3; ++i)
    norms(i) = std::sqrt(xt::sum(xt::square(jacobian(xt::view(weights, i))))());
  return norms;
}

void gradient_vanishes(const Array& scores, const Array& weights12) {
  section("The gradient vanishes");
  const Array dog = xt::view(weights12, 1);
  show("Jacobian of 'dog', scores times 12", jacobian(dog), words, words);
  check("formula = diag(p) - p p^T", jacobian(dog), xt::diag(dog) - xt::linalg::outer(dog, dog));
  say();
  Array norms = zeros({4, 3});
  const std::vector<double> factors = {1, 4, 12, 64};
  for (std::size_t f = 0; f < 4; ++f) xt::view(norms, f) = jacobian_norms(scores, factors[f]);
  show(norms, {"norm of the Jacobian", {"times 1", "times 4", "times 12", "times 64"}, words, 2});
  sliders("saturation", words, {{"factor", filled({1, 1}, 12)}, {"scores", scores}});
  say();
  draw_saturation(scores, words, jacobian_norms);
}

// The gradients of 4000 random queries, 20 for each of 200 sets of 8 random keys.
struct Gradients {
  std::vector<double> plain, divided;  // norms without and with the division
  double close = 0;  // the percentage of queries whose two largest scores differ by less than 1
};

// The norms (N) of the gradients of the queries q (N, d), from gradients g_p (N, 8) of the
// attention weights p = softmax(q k^T / divisor).
Array query_gradient_norms(const Array& q, const Array& k, const Array& g_p, double divisor) {
  const Tensor Q(q, /*requires_grad=*/true);
  backward(softmax(matmul(Q, transpose(Tensor(k), 0, 1)) / divisor, -1), g_p);
  return xt::sqrt(xt::sum(xt::square(Q.grad()), {1}));
}

Gradients random_queries(std::size_t d, Generator& g) {
  const std::size_t keys = 8;
  Gradients gradients;
  for (int set = 0; set < 200; ++set) {
    const Array q = g.randn({20, d}), k = g.randn({keys, d}), g_p = g.randn({20, keys});
    for (const Real norm : query_gradient_norms(q, k, g_p, 1)) gradients.plain.push_back(norm);
    for (const Real norm : query_gradient_norms(q, k, g_p, std::sqrt(double(d))))
      gradients.divided.push_back(norm);
    Array scores = xt::linalg::dot(q, xt::transpose(k));  // (20, keys)
    for (Real* row = scores.data(); row != scores.data() + scores.size(); row += keys) {
      std::sort(row, row + keys);
      if (row[keys - 1] - row[keys - 2] < 1) gradients.close += 100 / 4000.0;
    }
  }
  std::sort(gradients.plain.begin(), gradients.plain.end());
  std::sort(gradients.divided.begin(), gradients.divided.end());
  return gradients;
}

void few_queries_learn(Generator& g) {
  section("A gradient for few queries");
  say("", "         without division                        with division",
      "   d    median  mean   gap < 1   times sqrt(d)     median  mean");
  std::vector<std::vector<double>> plain, divided;
  std::vector<double> close;
  for (const std::size_t d : {16, 64, 256, 1024, 4096}) {
    const Gradients all = random_queries(d, g);
    say(pad_left(std::to_string(d), 4) + pad_left(scientific(all.plain[2000], 1), 10) +
        pad_left(decimal(estimate(all.plain).mean, 2), 6) +
        pad_left(decimal(all.close, 1) + " %", 10) +
        pad_left(decimal(all.close / 100 * std::sqrt(double(d)), 2), 16) +
        pad_left(decimal(all.divided[2000], 2), 11) +
        pad_left(decimal(estimate(all.divided).mean, 2), 6));
    plain.push_back(all.plain), divided.push_back(all.divided), close.push_back(all.close);
  }
  claim("from d = 64 to d = 4096, the proportion of gaps below 1 falls by 8, within 20 %",
        std::abs(close[1] / close[4] / 8 - 1) < 0.2, decimal(close[1] / close[4], 2));
  say();
  draw_gradient_norms(plain, divided);
}

void the_division(const std::vector<Runs>& without) {
  section("The division by sqrt(d)");
  const std::vector<Runs> with = best_runs(/*divided=*/true);
  quote(table_of_runs(with));
  bool better = true;
  for (std::size_t i = 0; i < 3; ++i)
    better = better && difference(without[i].losses, with[i].losses) > 4;
  claim("for each d, the loss is lower than without, by more than 4 standard errors", better,
        "it is not");
  loss_curves("training loss (nats per character)", {without[2].curve, with[2].curve});
  say();
}

int main() {
  opening();
  const std::vector<Runs> without = larger_heads();
  Generator g(6), small(89);
  variance_of_a_score(g);
  const Tensor x(small.randn({1, 3, 5}));
  const Tensor Q = linear(x, Tensor(nn::init::linear_weight(small, 5, 16)));  // (1, 3, 16)
  const Tensor K = linear(x, Tensor(nn::init::linear_weight(small, 5, 16)));
  const Tensor scaled = matmul(Q, transpose(K, 1, 2)) / std::sqrt(16.0);  // (1, 3, 3)
  const Tensor weights12 = softmax_saturates(scaled);
  gradient_vanishes(select(scaled, 0, 0).value(), select(weights12, 0, 0).value());
  few_queries_learn(g);
  the_division(without);
  if (appendix("The article's numbers")) show_article(x, Q, K, scaled, words);
  appendix("In the debugger");
  ending();
}
