// 08 causal_mask: no position attends to a later one; two tests for leaks, and a proof.
//
// Worth a breakpoint: causal_weights. Go on with `next`: in row t, s never exceeds t.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "harbour.hpp"
#include "lesson.hpp"
#include "pictures.hpp"

using namespace heed;

constexpr std::size_t T = 12, C = 32;  // characters, width of a vector
const Harbour harbour;
const std::size_t V = harbour.vocab_size();  // 64
const AttentionOptions causal = {/*causal=*/true};

// Losses of three trained heads, and what the last one does.
struct Runs {
  std::vector<double> play, random;
  std::string line;  // twelve held-out characters
  Array weights;     // their attention weights (1, T, T)
  std::string text;  // that the head writes
};

// The mean loss of the outputs 0 to T - 2: output t predicts token t + 1.
Tensor loss_of(const LanguageModel& model, const Indices& tokens) {  // (B, T)
  const Indices next = xt::view(tokens, xt::all(), xt::range(1, T));
  return cross_entropy(slice(model(tokens), 1, 0, T - 1), next);
}

// Trains heads that predict the next character: their outputs (B, T, V) are logits.
Runs train(const nn::AttentionMask& mask) {
  Runs runs;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Generator g(seed);
    Parameters parameters;
    const Scope scope(parameters, g);  // gives each part its parameters, a name and g
    const nn::Embedding characters(scope / "character", V, C), positions(scope / "position", T, C);
    const nn::AttentionHead head(scope / "head", C, V);
    const auto embed = [&](const Indices& tokens) {  // (B, N) to (B, N, C)
      return characters(tokens) + slice(positions.weight, 0, 0, tokens.shape(1));
    };
    const LanguageModel model = [&](const Indices& tokens) { return head(embed(tokens), mask); };

    optim::AdamW adam(parameters, {0.01, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
    for (std::int64_t step = 0; step < in_brief(400, 250); ++step) {
      adam.zero_grad();
      backward(loss_of(model, harbour.batch(32, T, g).inputs));
      adam.step();
    }
    const Indices play = harbour.held_out_windows(T).inputs;
    runs.play.push_back(loss_of(model, play).item());
    runs.random.push_back(loss_of(model, g.randint(0, 64, {500, T})).item());
    const Indices line = xt::view(play, xt::range(40, 41));  // (1, T)
    runs.line = harbour.vocabulary.decode({line.begin(), line.end()});
    runs.weights = head.weights(embed(line), mask).value();
    runs.text = in_one_line(harbour.sample(model, 70, T - 1, g));
  }
  return runs;
}

Runs too_good_to_be_true() {
  section("A loss too good to be true");
  const Runs open = train({});
  quote(mean_table({"no mask"},
                   {{"the rest of the play", {open.play}}, {"random characters", {open.random}}}));
  say({{"bound", decimal(std::log(64), 2)}});
  quote(open.text);
  say();
  draw_leak(open.weights, open.line);
  say();
  return open;
}

Generator g(42);
const Array X = g.randn({3, 5});
const Tensor W_K(g.randn({5, 4})), W_Q(g.randn({5, 4})), W_V(g.randn({5, 4}));
const Names words = {"the", "cat", "sat"};
const Names replaced = {"from the", "from cat", "from sat"};  // the tokens that test 1 replaces
const Array lower = xt::tril(ones({3, 3}));                   // 1 where a query may attend

// The softmax of the scores 0 to t of each row t. The other weights stay zero.
Array causal_weights(const Array& scores) {
  Array weights = zeros({3, 3});
  for (std::size_t t = 0; t < 3; ++t) {
    Real sum = 0;
    for (std::size_t s = 0; s <= t; ++s) {
      weights(t, s) = std::exp(scores(t, s));
      sum += weights(t, s);
    }
    for (std::size_t s = 0; s <= t; ++s) weights(t, s) /= sum;
  }
  return weights;
}

void the_causal_mask() {
  section("The mask");
  const Tensor Q = matmul(Tensor(X), W_Q), K = matmul(Tensor(X), W_K);
  const Tensor scores = matmul(Q, transpose(K, 0, 1)) / std::sqrt(4.0);  // (3, 3)
  const Tensor masked = masked_fill(scores, future_mask(3), -INFINITY);
  const Tensor weights = softmax(masked, -1);
  show("masked scores", masked, words, words);
  show("attention weights", weights, words, words);
  check("by hand = in one line", causal_weights(scores.value()), weights);
  check("in one line = heed's attention_weights", weights, attention_weights(Q, K, causal));
  say();
}

using Layer = std::function<Tensor(const Tensor&)>;  // token vectors (3, 5) to outputs (3, d_v)

Layer attention(const AttentionOptions& options) {
  return [options](const Tensor& x) {
    return scaled_dot_product_attention(matmul(x, W_Q), matmul(x, W_K), matmul(x, W_V), options);
  };
}

// Test 1. (t, s): 1 if any bit of output t changes when random vectors replace the tokens s to 2.
Array changed_outputs(const Layer& layer) {
  Array changed = zeros({3, 3});
  const Array before = layer(Tensor(X)).value();
  for (std::size_t trial = 0; trial < 300; ++trial) {  // 100 for each s
    const std::size_t s = trial % 3;
    Array other = X, noise = Generator(trial).normal({3, 5}, 0, std::pow(10, trial % 8) / 100);
    xt::view(other, xt::range(s, 3)) = xt::view(noise, xt::range(s, 3));
    const Array after = layer(Tensor(other)).value();
    for (std::size_t t = 0; t < 3; ++t)
      if (std::memcmp(&before(t, 0), &after(t, 0), before.shape(1) * sizeof(Real)) != 0)
        changed(t, s) = 1;
  }
  return changed;
}

void change_later_tokens() {
  section("Test 1: change the later tokens");
  show("output changed, causal mask", changed_outputs(attention(causal)), words, replaced);
  check("changed = L, the lower triangle of ones", changed_outputs(attention(causal)), lower);
  check("changed without the mask = all", changed_outputs(attention({})), ones({3, 3}));
  say();
  const auto centred = [](const Tensor& x) { return attention(causal)(x - mean(x, {0}, true)); };
  check("changed, mean over positions subtracted = all", changed_outputs(centred), ones({3, 3}));
  say();
  const auto repaired = [](const Tensor& x) { return attention(causal)(x - mean(x, {1}, true)); };
  check("changed, mean of each token subtracted = L", changed_outputs(repaired), lower);
}

// Test 2. (t, s): the norm of all derivatives of output t with respect to token s.
Array gradient_norms(const Layer& layer) {
  Array squares = zeros({3, 3});
  for (std::size_t i = 0; i < 12; ++i) {
    const Tensor input(X, /*requires_grad=*/true);
    Array one_hot = zeros({3, 4});
    one_hot.data()[i] = 1;
    backward(layer(input), one_hot);  // input.grad() is the gradient of number i of the output
    xt::view(squares, i / 4) += xt::sum(xt::square(input.grad()), {1});
  }
  return xt::sqrt(squares);
}

void gradients() {
  section("Test 2: gradients");
  show("gradient norms, no mask", gradient_norms(attention({})), words, words);
  const Array norms = gradient_norms(attention(causal));
  show("gradient norms, causal mask", norms, words, words);
  check("1 where they are not 0 = L", xt::not_equal(norms, 0), lower, 0);
  say();
}

void any_number_of_layers() {
  section("A proof for any number of layers");
  const Array shifted = xt::tril(ones({3, 3}), 1), two = xt::linalg::dot(lower, lower);
  const Array paths = xt::linalg::dot(lower, Array(xt::linalg::dot(shifted, two)));
  show(paths, {"paths, third mask shifted", words, words, /*decimals=*/0});
  say();
  draw_layers({lower, lower, shifted, lower}, {1, 1, 1, 0, 0}, words, xt::col(paths, 1));
}

void possible_loss(const Runs& open) {
  section("The loss that is possible");
  const Runs masked = train(causal);
  quote(mean_table({"no mask", "causal mask"},
                   {{"the rest of the play", {open.play, masked.play}},
                    {"random characters", {open.random, masked.random}}}));
  claim("no masked head is below the bound on random characters",
        *std::min_element(masked.random.begin(), masked.random.end()) > std::log(64), "one is");
  say({{"random", trained(estimate(masked.random).mean, 1)}});
  quote(masked.text);
  say({{"loss", trained(estimate(masked.play).mean)}});
}

int main() {
  opening();
  const Runs open = too_good_to_be_true();
  the_causal_mask();
  change_later_tokens();
  gradients();
  any_number_of_layers();
  possible_loss(open);
  appendix("In the debugger");
  ending();
}
