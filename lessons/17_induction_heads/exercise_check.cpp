// Tests exercise 17 induction_score: weights with known scores, random weights, and a model with
// two layers, trained on repeated random sequences.

#include <algorithm>

#include "exercise.hpp"
#include "heed/heed.hpp"

using namespace heed;

Array induction_scores(const Array& weights, const std::vector<int>& tokens);

namespace {

using Tokens = std::vector<int>;

// ---- weights by hand

// Random causal heads (H, T, T), rows summing to one.
Array random_heads(std::size_t H, std::size_t T, std::uint64_t seed) {
  Array weights = Generator(seed).uniform({H, T, T}, 0.1, 1);
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t t = 0; t < T; ++t) {
      double sum = 0;
      for (std::size_t s = 0; s <= t; ++s) sum += double(weights(h, t, s));
      for (std::size_t s = 0; s < T; ++s)
        weights(h, t, s) = s <= t ? Real(double(weights(h, t, s)) / sum) : Real(0);
    }
  return weights;
}

// Remembers the positions after the occurrences of each token while it reads the text.
Array expected_scores(const Array& weights, const Tokens& tokens) {
  std::vector<std::vector<std::size_t>> after(1000);
  std::vector<double> sums(weights.shape(0), 0);
  double rows = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    std::vector<std::size_t>& keys = after[std::size_t(tokens[t])];
    rows += keys.empty() ? 0 : 1;
    for (std::size_t h = 0; h < sums.size(); ++h)
      for (const std::size_t key : keys) sums[h] += double(weights(h, t, key));
    keys.push_back(t + 1);
  }
  Array scores = zeros({sums.size()});
  for (std::size_t h = 0; h < sums.size() && rows > 0; ++h) scores(h) = Real(sums[h] / rows);
  return scores;
}

// A perfect induction head, a head that attends to the previous occurrence itself, and a head that
// always attends to position 0. Their scores for these tokens are 1, 0 and 0.
Array planted_heads() {
  Array weights = zeros({3, 8, 8});  // for the tokens 3 1 4 2 3 1 4 2
  for (std::size_t t = 0; t < 8; ++t) {
    weights(0, t, t < 4 ? 0 : t - 3) = 1;
    weights(1, t, t < 4 ? 0 : t - 4) = 1;
    weights(2, t, 0) = 1;
  }
  return weights;
}

bool judge(const std::string& what, const Array& got, const Array& expected) {
  expect(what, got, expected);
  return shape_of(got) == shape_of(expected) && xt::allclose(got, expected, 1e-5, 1e-5);
}

bool judge(const std::string& what, std::size_t H, const Tokens& tokens) {
  const Array weights = random_heads(H, tokens.size(), tokens.size());
  return judge(what, induction_scores(weights, tokens), expected_scores(weights, tokens));
}

// Whether all scores are right.
bool judge_by_hand() {
  const Tokens twice = {3, 1, 4, 2, 3, 1, 4, 2};
  const Indices drawn = Generator(9).randint(0, 9, {40});
  const bool results[] = {judge("an induction head, and two others",
                                induction_scores(planted_heads(), twice), Array{1, 0, 0}),
                          judge("four tokens, twice", 3, twice),
                          judge("most rows do not count", 2, {1, 2, 3, 4, 5, 1, 6, 7, 8}),
                          judge("several earlier occurrences: the keys after all of them count", 2,
                                {1, 2, 1, 3, 1, 4, 1}),
                          judge("a token may follow itself", 4, {7, 7, 7, 1, 1}),
                          judge("token 0", 2, {0, 5, 0, 5, 0}),
                          judge("no token occurs twice: all scores are 0", 2, {1, 2, 3, 4}),
                          judge("a single token", 1, {5}),
                          judge("40 random tokens", 5, Tokens(drawn.begin(), drawn.end()))};
  return std::all_of(std::begin(results), std::end(results), [](bool holds) { return holds; });
}

// ---- a trained model

constexpr std::size_t V = 64, T = 20, C = 32, H = 2, layers = 2;
constexpr std::size_t steps = 1100, only_repeated_steps = 700;

// Two layers of attention with residual connections, without MLPs.
struct Model {
  explicit Model(std::uint64_t seed)
      : g(seed),
        scope(parameters, g),
        token(scope / "token", V, C),
        position(scope / "position", T, C),
        norm(scope / "norm", C),
        output(scope / "output", C, V, false) {
    for (std::size_t i = 0; i < layers; ++i) {
      norms.emplace_back(scope / "norms" / i, C);
      attention.emplace_back(scope / "attention" / i, C, H, false);
    }
    mask.causal = true;
  }

  // The logits (B, T, V). Appends the attention weights of each layer, (B, H, T, T).
  Tensor operator()(const Indices& tokens, std::vector<Array>* weights = nullptr) const {
    const Indices positions = xt::arange<std::int64_t>(std::int64_t(T));
    Tensor x = token(tokens) + position(positions);  // (B, T, C) + (T, C)
    for (std::size_t i = 0; i < layers; ++i) {
      const Tensor y = norms[i](x);
      if (weights != nullptr) weights->push_back(attention[i].weights(y, y, mask).value());
      x = x + attention[i](y, mask);
    }
    return output(norm(x));
  }

  Parameters parameters;
  Generator g;
  Scope scope;
  nn::Embedding token, position;
  nn::LayerNorm norm;
  nn::Linear output;
  std::vector<nn::LayerNorm> norms;
  std::vector<nn::MultiHeadAttention> attention;
  nn::AttentionMask mask;
};

struct Windows {
  Indices inputs, targets;  // (B, T)
};

// Random sequences of `shortest` to `longest` different tokens, repeated to fill the window. In
// training the length varies, so that no fixed distance to an earlier position predicts the next
// token. If only_repeated, tokens that occur for the first time are not targets.
Windows repeated_sequences(std::size_t B, std::size_t shortest, std::size_t longest, Generator& g,
                           bool only_repeated = false) {
  const Indices lengths = g.randint(std::int64_t(shortest), std::int64_t(longest) + 1, {B});
  Windows windows{Indices::from_shape({B, T}), Indices::from_shape({B, T})};
  for (std::size_t b = 0; b < B; ++b) {
    const Indices tokens = g.randperm(V);
    const std::size_t length = std::size_t(lengths(b));
    for (std::size_t t = 0; t < T; ++t) {
      windows.inputs(b, t) = tokens(t % length);
      windows.targets(b, t) = only_repeated && t + 1 < length ? -100 : tokens((t + 1) % length);
    }
  }
  return windows;
}

// No model can predict the first half of a window. Its random targets only add noise to the
// gradients, so that induction heads form late. So they are targets only in the last steps.
void train(const Model& model) {
  optim::AdamWOptions options;
  options.beta2 = 0.98, options.weight_decay = 0;
  optim::AdamW optimizer(model.parameters.tensors(), options);
  const optim::WarmupCosine schedule{0.01, 0.001, 50, steps};
  Generator g(101);
  for (std::size_t step = 0; step < steps; ++step) {
    const Windows batch = repeated_sequences(16, T / 2, T * 7 / 10, g, step < only_repeated_steps);
    optim::zero_grad(model.parameters.tensors());
    backward(cross_entropy(model(batch.inputs), batch.targets));
    optim::clip_grad_norm(model.parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(std::int64_t(step)));
    optimizer.step();
  }
}

// The mean loss of the predictions at the positions begin to end - 1.
double loss_of(const Model& model, Windows windows, std::size_t begin, std::size_t end) {
  for (std::size_t t = 0; t < T; ++t)
    if (t < begin || t >= end) xt::view(windows.targets, xt::all(), t) = -100;  // ignored
  return cross_entropy(model(windows.inputs), windows.targets).item();
}

// The reader's scores, (layers, H), averaged over the windows.
Array scores_of(const Model& model, const Windows& windows) {
  std::vector<Array> weights;
  model(windows.inputs, &weights);
  Array scores = zeros({layers, H});
  const std::size_t B = windows.inputs.shape(0);
  for (std::size_t b = 0; b < B; ++b) {
    const Indices row = xt::view(windows.inputs, b);
    const Tokens tokens(row.begin(), row.end());
    for (std::size_t i = 0; i < layers; ++i)
      xt::view(scores, i) += induction_scores(xt::view(weights[i], b), tokens) / Real(B);
  }
  return scores;
}

void judge_model() {
  say("\nTraining a model with two layers of attention on repeated random sequences ...");
  const Model model(1);
  train(model);
  const NoGrad no_grad;
  Generator g(5);
  const Windows windows = repeated_sequences(64, T / 2, T / 2, g);  // ten tokens, twice
  const Array scores = scores_of(model, windows);
  show_trained("induction scores", scores, {"layer 0", "layer 1"}, {"head 0", "head 1"});
  // At position T / 2 - 1 the model cannot know whether the sequence repeats.
  const double first = loss_of(model, windows, 0, T / 2 - 1);
  const double second = loss_of(model, windows, T / 2, T - 1);
  say("\nloss in the first half   " + trained(first) + "   (uniform: ln 64 = 4.16)");
  say("loss in the second half  " + trained(second) + "\n");
  const Array best = xt::amax(scores, {1});
  const std::size_t head = scores(1, 1) > scores(1, 0) ? 1 : 0;
  expect("layer 1, head " + std::to_string(head) + " is an induction head: score above 0.6",
         best(1) > 0.6, "its score is " + decimal(best(1), 4));
  expect("no head of layer 0 has a score above 0.4", best(0) <= 0.4,
         "the score is " + decimal(best(0), 4));
  expect("the second half has less than a fourth of the first half's loss", second < first / 4,
         decimal(second, 4) + " against " + decimal(first, 4));
}

}  // namespace

int main() {
  set_num_threads(1);
  if (judge_by_hand()) judge_model();
  return verdict();
}
