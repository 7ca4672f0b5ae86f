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

// What is divided by sqrt(d): nothing, the scores, the first numbers of W_Q, or the learning rates
// of W_Q and W_K.
enum class Divide { nothing, scores, W_Q, rates };

// What three seeds of the head measure.
struct Runs {
  std::vector<double> choosing, losses;  // on windows of the training part; on the held-out part
  std::vector<double> before, after;     // training: percentage of saturated queries
  Series curve;                          // training losses of the last seed
};

// Trains the head of lesson 08 with queries and keys of d numbers: its outputs are logits.
Runs train(std::size_t d, Divide divide, double rate) {
  const double root = std::sqrt(double(d)), w = std::sqrt(1.0 / (2 * C));  // Q, K: variance 1
  const Batch play = harbour.held_out_windows(T);
  Runs runs;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Generator g(seed);
    const auto random = [&g](Shape s, double std) { return Tensor(g.normal(s, 0, std), true); };
    const Tensor characters = random({V, C}, 1), positions = random({T, C}, 1);
    const Tensor W_Q = random({C, d}, divide == Divide::W_Q ? w / root : w);
    const Tensor W_K = random({C, d}, w), W_V = random({C, V}, w);
    AttentionOptions options{/*causal=*/true};
    options.scale = divide == Divide::scores ? 1 / root : 1;
    const auto head = [&](const Indices& tokens) {  // logits (B, T, V) and weights (B, T, T)
      const Tensor X = embedding(tokens, characters) + positions;
      return attention_with_weights(matmul(X, W_Q), matmul(X, W_K), matmul(X, W_V), options);
    };
    const double small = divide == Divide::rates ? rate / root : rate;
    optim::AdamW scores({W_Q, W_K}, {small, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
    optim::AdamW others({characters, positions, W_V}, {rate, 0.9, 0.999, 1e-8, 0});
    runs.before.push_back(saturated_queries(head(play.inputs).weights));
    for (std::int64_t step = 0; step < in_brief(200, 60); ++step) {
      const Batch batch = harbour.batch(16, T, g);
      const Tensor loss = cross_entropy(head(batch.inputs).output, batch.targets);
      scores.zero_grad(), others.zero_grad();
      backward(loss);
      scores.step(), others.step();
      if (seed == 3) runs.curve.append(double(step), loss.item());
    }
    const Batch seen = harbour.batch(500, T, g);
    runs.choosing.push_back(cross_entropy(head(seen.inputs).output, seen.targets).item());
    const auto [logits, weights] = head(play.inputs);
    runs.losses.push_back(cross_entropy(logits, play.targets).item());
    runs.after.push_back(saturated_queries(weights));
  }
  return runs;
}

std::vector<Runs> all_rates(std::size_t d, Divide divide) {
  std::vector<Runs> all;
  for (const double rate : {0.003, 0.01, 0.03, 0.1}) all.push_back(train(d, divide, rate));
  return all;
}

using Table = std::vector<std::vector<Runs>>;  // a row for each d or for each way to divide

Table all_sizes(Divide divide) {
  return {all_rates(16, divide), all_rates(64, divide), all_rates(256, divide)};
}

Table larger_heads() {
  section("A larger head learns less");
  const Table without = all_sizes(Divide::nothing);
  quote(table_of_rates({"d = 16", "d = 64", "d = 256"}, without));
  say();
  return without;
}

void variance_of_a_score(Generator& g) {
  section("The variance of a score");
  say("   d   variance of q.k   of q.k / sqrt(d)");
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

void the_division(const Table& without) {
  section("The division by sqrt(d)");
  const Table divided = all_sizes(Divide::scores);
  quote(table_of_rates({"d = 16", "d = 64", "d = 256"}, divided));
  claim("for each d, the division lowers the best loss by more than 4 standard errors",
        smallest_difference(without, divided) > 4, "it does not");
  say();
  const Table ways = {without[2], all_rates(256, Divide::W_Q), all_rates(256, Divide::rates),
                      divided[2]};
  const Names names = {"no division", "smaller W_Q", "smaller rates", "division"};
  quote(table_of_rates(names, ways));
  claim("smaller rates lower the best loss by more than 4 standard errors",
        difference(best(ways[0]).losses, best(ways[2]).losses) > double(in_brief(4, 0)),
        "they do not");
  say();
  draw_curves(names, ways);
  say();
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening();
  const Table without = larger_heads();
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
