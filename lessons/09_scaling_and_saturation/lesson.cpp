// 09 scaling_and_saturation: why attention divides its scores by sqrt(d_k).
//
// Worth a breakpoint: softmax_derivative. `finish` shows the derivative that it returns.

#include <cmath>
#include <xtensor/xsort.hpp>

#include "article.hpp"
#include "estimate.hpp"
#include "harbour.hpp"
#include "lesson.hpp"
#include "pictures.hpp"

using namespace heed;

constexpr std::size_t T = 16, C = 32, V = 64;  // characters, width of a vector, vocabulary
const Harbour harbour;
const Names words = {"one", "dog", "ran"};

// What the root of d divides: nothing, the scores, the first W_Q, or W_Q and its learning rate.
enum class Divide { nothing, scores, W_Q, W_Q_and_rate };

// What three seeds of the head measure.
struct Runs {
  std::vector<double> choosing, losses;  // on windows of the training part; on the held-out part
  std::vector<double> saturated;         // percentage of saturated queries, before training
  Series curve;                          // training losses of the last seed
};

// Trains the head of lesson 08 with queries and keys of d numbers: its outputs are logits.
Runs train(std::size_t d, Divide divide, double rate) {
  const double root = std::sqrt(double(d)), w = std::sqrt(1.0 / (2 * C));  // Q, K: variance 1
  const Batch play = harbour.held_out_windows(T);
  Runs runs;
  runs.curve.name = divide == Divide::scores ? "with the division" : "without";
  for (const std::uint64_t seed : {1, 2, 3}) {
    Generator g(seed);
    const auto random = [&g](Shape s, double std) { return Tensor(g.normal(s, 0, std), true); };
    const Tensor characters = random({V, C}, 1), positions = random({T, C}, 1);
    const Tensor W_Q = random({C, d}, divide >= Divide::W_Q ? w / root : w);
    const Tensor W_K = random({C, d}, w), W_V = random({C, V}, w);
    AttentionOptions options{/*causal=*/true};
    options.scale = divide == Divide::scores ? 1 / root : 1;
    const auto head = [&](const Indices& tokens) {  // logits (B, T, V) and weights (B, T, T)
      const Tensor X = embedding(tokens, characters) + positions;
      return attention_with_weights(matmul(X, W_Q), matmul(X, W_K), matmul(X, W_V), options);
    };
    optim::AdamW others({characters, positions, W_K, W_V}, {rate, 0.9, 0.999, 1e-8, 0});
    optim::AdamW query({W_Q},
                       {divide == Divide::W_Q_and_rate ? rate / root : rate, 0.9, 0.999, 1e-8, 0});
    runs.saturated.push_back(saturated_queries(head(play.inputs).weights));
    for (std::int64_t step = 0; step < in_brief(200, 60); ++step) {
      const Batch batch = harbour.batch(16, T, g);
      const Tensor loss = cross_entropy(head(batch.inputs).output, batch.targets);
      others.zero_grad(), query.zero_grad();
      backward(loss);
      others.step(), query.step();
      if (seed == 3) runs.curve.append(double(step), loss.item());
    }
    const Batch seen = harbour.batch(500, T, g);
    runs.choosing.push_back(cross_entropy(head(seen.inputs).output, seen.targets).item());
    runs.losses.push_back(cross_entropy(head(play.inputs).output, play.targets).item());
  }
  return runs;
}

// For d = 16, 64 and 256: the runs of three learning rates.
std::vector<std::vector<Runs>> all_rates(Divide divide) {
  std::vector<std::vector<Runs>> all;
  for (const std::size_t d : {16, 64, 256})
    all.push_back({train(d, divide, 0.003), train(d, divide, 0.01), train(d, divide, 0.03)});
  return all;
}

// Of the runs of each d, those that are best in `choosing`.
std::vector<Runs> best_of(const std::vector<std::vector<Runs>>& all) {
  std::vector<Runs> best;
  for (const std::vector<Runs>& rates : all)
    best.push_back(*std::min_element(rates.begin(), rates.end(), [](const Runs& a, const Runs& b) {
      return estimate(a.choosing).mean < estimate(b.choosing).mean;
    }));
  return best;
}

std::vector<Runs> larger_heads() {
  section("A larger head learns less");
  const auto all = all_rates(Divide::nothing);
  quote(table_of_rates(all));
  say();
  return best_of(all);
}

void variance_of_a_score(Generator& g) {
  section("The variance of a score");
  say("", "   d   variance of q.k   of q.k / sqrt(d)");
  std::vector<Series> histograms;
  for (std::size_t d = 4; d <= 4096; d *= 4) {
    const Tensor q(g.randn({4000, d})), k(g.randn({4000, d}));
    const Tensor scores = sum(q * k, {1}), scaled = scores / std::sqrt(double(d));  // (4000)
    show_variances(d, variance(scores).item(), xt::square(scaled.value()));
    histograms.push_back(histogram("d = " + std::to_string(d), scores.value()));
  }
  say();
  draw_histograms(histograms);
}

void softmax_saturates(const Tensor& scores) {
  section("Softmax saturates");
  show("attention weights", softmax(scores, -1), words, words);
  show("attention weights, scores times 12", softmax(scores * 12, -1), words, words);
  say();
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

void gradient_vanishes(const Array& scores) {
  section("The gradient vanishes");
  const Array dog = softmax(Tensor(xt::row(scores, 1)) * 12, -1).value();
  show("Jacobian of 'dog', scores times 12", jacobian(dog), words, words);
  say();
  show_norms(scores, {1, 4, 12, 64}, words, jacobian);
  say();
  sliders("saturation", words, {{"factor", filled({1, 1}, 12)}, {"scores", scores}});
  draw_saturation(scores, words, jacobian);
}

// 4000 random queries, 20 for each of 200 sets of 8 random keys, and random gradients of their
// weights softmax(q k^T / divisor).
QueryGradients random_queries(std::size_t d, Generator& g) {
  const std::size_t keys = 8;
  QueryGradients all{d};
  for (int set = 0; set < 200; ++set) {
    const Array q = g.randn({20, d}), k = g.randn({keys, d}), g_p = g.randn({20, keys});
    for (const double divisor : {1.0, std::sqrt(double(d))}) {
      const Tensor Q(q, /*requires_grad=*/true);
      const Tensor S = matmul(Q, transpose(Tensor(k), 0, 1)) / divisor;  // (20, keys)
      backward(softmax(S, -1), g_p);
      all.add(divisor, S.value(), xt::sqrt(xt::sum(xt::square(Q.grad()), {1})));
    }
  }
  return all;
}

void few_queries_learn(Generator& g) {
  section("A gradient for few queries");
  std::vector<QueryGradients> all;
  for (const std::size_t d : {16, 64, 256, 1024, 4096}) all.push_back(random_queries(d, g));
  show_query_gradients(all);
  say();
  draw_gradient_norms(all);
}

void the_division(const std::vector<Runs>& without) {
  section("The division by sqrt(d)");
  const std::vector<Runs> divided = best_of(all_rates(Divide::scores)),
                          small = best_of(all_rates(Divide::W_Q)),
                          slow = best_of(all_rates(Divide::W_Q_and_rate));
  quote(table_of_ways({"no division", "division", "smaller W_Q", "and a smaller rate"},
                      std::vector<std::vector<Runs>>{without, divided, small, slow}));
  claim("for each d, the division lowers the loss by more than 4 standard errors",
        smallest_difference(without, divided) > 4, "it does not");
  claim("d = 256: a smaller W_Q alone is worse than the division, by more than 4 standard errors",
        difference(small[2].losses, divided[2].losses) > 4, "it is not");
  loss_curves("training loss (nats per character)", {without[2].curve, divided[2].curve});
  say();
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening();
  const std::vector<Runs> without = larger_heads();
  Generator g(6);
  variance_of_a_score(g);
  const Article article;
  softmax_saturates(article.scaled);
  gradient_vanishes(select(article.scaled, 0, 0).value());
  few_queries_learn(g);
  the_division(without);
  if (appendix("The article's numbers")) show_article(article, words);
  appendix("In the debugger");
  ending();
}
