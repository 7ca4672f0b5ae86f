// 11 positions: attention ignores the order of tokens; position encodings, and longer texts.
//
// Worth a breakpoint: draw_words. `finish` shows the words and their targets.

#include <algorithm>
#include <cmath>

#include "heed/ops/rotary.hpp"
#include "heed/text/corpus.hpp"
#include "lesson.hpp"
#include "pictures.hpp"

using namespace heed;

constexpr std::size_t V = 26, C = 32, length = 8;  // letters, width of a vector, of a word

const AttentionOptions no_mask, causal = {/*causal=*/true};

void the_same_bits() {
  section("The same bits in any order");
  Generator g(42);
  // Multiples of 1/8, so that Q, K and V have no rounding errors.
  const auto eighths = [](const Array& x) { return Array(xt::round(8 * x) / 8); };
  Parameters parameters;
  const nn::AttentionHead head({parameters, g}, 4, 4);
  for (Tensor weight : parameters) weight.mutable_value() = eighths(weight.value());
  const Tensor X(eighths(g.randn({3, 4})));
  const auto output = [&](const Tensor& x) { return select(head(unsqueeze(x, 0)), 0, 0); };
  const Names words = {"dog", "bites", "man"};
  show("output for 'dog bites man'", output(X), words);
  say();
  Indices order = {0, 1, 2};  // row i of embedding(order, x) is row order(i) of x
  while (std::next_permutation(order.begin(), order.end()))
    check("'" + words[order(0)] + " " + words[order(1)] + " " + words[order(2)] + "'",
          output(embedding(order, X)), embedding(order, output(X)), 0);
  say();
}

// Sinusoidal position encodings: each pair of columns turns by its own angle per position.
Array sinusoids(std::size_t count, std::size_t width) {
  Array P = zeros({count, width});
  for (std::size_t t = 0; t < count; ++t)
    for (std::size_t i = 0; i < width / 2; ++i) {
      const double theta = std::pow(10000, -2.0 * double(i) / double(width));
      P(t, 2 * i) = Real(std::sin(double(t) * theta));
      P(t, 2 * i + 1) = Real(std::cos(double(t) * theta));
    }
  return P;
}

void a_vector_for_each_position() {
  section("A vector for each position");
  show("sinusoidal encodings of width 4", sinusoids(4, 4), {"position 0", "1", "2", "3"},
       {"sin t", "cos t", "sin t/100", "cos t/100"});
  const Array P = sinusoids(32, C);
  check("width 32 by hand = nn::sinusoidal_positions", P, nn::sinusoidal_positions(32, C));
  say();
  picture_of_waves(P);
}

// Words of eight different letters, to be written backwards; or words of random letters, of which
// the previous one is the target.
enum class Task { backwards, previous };

Batch draw_words(Task task, Generator& g, std::size_t count, std::size_t T) {  // (count, T)
  const bool backwards = task == Task::backwards;
  const Indices words =
      backwards ? g.multinomial(ones({count, V}), T) : g.randint(0, V, {count, T});
  if (backwards) return {words, xt::flip(words, 1)};
  Indices targets = xt::roll(words, 1, 1);
  xt::col(targets, 0).fill(-100);  // no target
  return {words, targets};
}

// One head of attention that predicts a letter at each position: words (B, T) to logits (B, T, V)
// and attention weights. The first letter has the position `start`.
using Model = std::function<AttentionResult(const Indices& words, const AttentionOptions& mask,
                                            std::int64_t start)>;

// `kind` is "no positions", "learned" with so many rows, "sinusoidal" or "rotary".
Model new_model(const Scope& scope, const std::string& kind, std::size_t rows) {
  const nn::Embedding letters(scope / "letters", V, C), learned(scope / "positions", rows, C);
  const nn::MultiHeadAttention attention(scope / "attention", C, 1, /*with_bias=*/true,
                                         {0, kind == "rotary"});
  const nn::Linear logits(scope / "logits", C, V);
  return [=](const Indices& words, const AttentionOptions& mask, std::int64_t start) {
    const std::int64_t end = start + std::int64_t(words.shape(1));
    Tensor x = letters(words);  // (B, T, C)
    if (kind == "learned") x = x + slice(learned.weight, 0, start, end);
    if (kind == "sinusoidal") x = x + slice(Tensor(sinusoids(std::size_t(end), C)), 0, start, end);
    const auto [O, A] = attention.with_weights(x, x, mask);
    return AttentionResult{logits(x + O), A};  // lesson 12 explains the sum
  };
}

// Trains on new words in each step. Each batch begins at a random position below `starts`.
Model train(const std::string& kind, Task task, std::uint64_t seed, std::size_t starts = 1,
            std::int64_t steps = in_brief(1000, 250)) {
  Generator g(seed);
  Parameters parameters;
  const Model model = new_model({parameters, g}, kind, length + starts - 1);
  optim::AdamW adam(parameters.tensors(), {0.01, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
  const optim::WarmupCosine rate{0.01, 0.0005, 10, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto [words, targets] = draw_words(task, g, 32, length);
    const Indices start = g.randint(0, std::int64_t(starts), {1});
    const Tensor logits = model(words, task == Task::previous ? causal : no_mask, start(0)).output;
    adam.zero_grad();
    backward(cross_entropy(logits, targets));
    adam.set_lr(rate.at(step));
    adam.step();
  }
  return model;
}

// The loss on 500 new words of T letters, at the positions from `first` on.
double loss_of(const Model& model, Task task, const AttentionOptions& mask, std::size_t T,
               std::size_t first) {
  const NoGrad no_grad;
  Generator g(2026);
  const auto [words, all] = draw_words(task, g, 500, T);
  const Indices targets = xt::view(all, xt::all(), xt::range(first, T));
  return cross_entropy(slice(model(words, mask, 0).output, 1, first), targets).item();
}

void writing_backwards() {
  section("Writing backwards");
  Indices triangle = zeros({1, length});
  for (std::size_t t = 0; t < length; ++t) triangle(0, t) = "triangle"[t] - 'a';
  std::vector<Array> weights;
  const auto row_of = [&](const std::string& kind, std::int64_t steps) {
    LossRow row = {kind + ", " + grouped(double(steps)) + " steps", {{}}};
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Model model = train(kind, Task::backwards, seed, 1, in_brief(steps, steps / 4));
      row.losses[0].push_back(loss_of(model, Task::backwards, no_mask, length, 0));
      if (seed == 1 && steps == 1000)
        weights.push_back(model(triangle, no_mask, 0).weights.value());
    }
    return row;
  };
  const LossRow none = row_of("no positions", 1000), longer = row_of("no positions", 10000),
                learned = row_of("learned", 1000), sinusoidal = row_of("sinusoidal", 1000);
  show_losses({"loss"}, {none, longer, learned, sinusoidal});
  claim("without positions each loss is above ln 7", least(longer, 0) > std::log(7.0), "");
  guard("with positions it is below 0.05", std::max(most(learned, 0), most(sinusoidal, 0)) < 0.05,
        "it is not");
  say({{"lowest", trained(lowest_on_diagonal({weights[1], weights[2]}))}});
  picture_of_attention(weights);
}

// The losses of three seeds: on words of length 8, at the positions 8 to 15 of length 16, and
// there if each query attends to its own key and the seven before it.
LossRow previous_letter(const std::string& kind, std::size_t starts = 1) {
  LossRow row = {kind, {{}, {}, {}}};
  AttentionOptions window = causal;
  window.window = 8;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Model model = train(kind, Task::previous, seed, starts);
    row.losses[0].push_back(loss_of(model, Task::previous, causal, length, 1));
    row.losses[1].push_back(loss_of(model, Task::previous, causal, 2 * length, length));
    row.losses[2].push_back(loss_of(model, Task::previous, window, 2 * length, length));
  }
  return row;
}

const Names columns = {"length 8", "positions 8 to 15", "8 to 15, 8 keys"};

LossRow longer_than_in_training() {
  section("Longer than in training");
  const Array P = sinusoids(32, C);
  Array R = zeros({C, C});
  for (std::size_t i = 0; i < C; i += 2) {
    const Real sin_theta = P(1, i), cos_theta = P(1, i + 1);
    xt::view(R, xt::range(i, i + 2), xt::range(i, i + 2)) =
        Array{{cos_theta, sin_theta}, {-sin_theta, cos_theta}};
  }
  const Array rotated = xt::linalg::dot(xt::view(P, xt::range(1, 32)), R);
  check("P R from row 1 on = P from row 0 on", rotated, xt::view(P, xt::range(0, 31)));
  const Array S = xt::linalg::dot(rotated, xt::transpose(P));  // row t - 1: query t
  show("scores of query 8 with keys 4 to 10", xt::view(S, xt::range(7, 8), xt::range(4, 11)), {},
       {"4", "5", "6", "7", "8", "9", "10"});
  check("the largest score of query t = that with key t - 1", xt::amax(S, {1}), xt::diagonal(S));
  say();
  const LossRow none = previous_letter("no positions"), sinusoidal = previous_letter("sinusoidal");
  show_losses({columns[0], columns[1]}, {none, sinusoidal});
  claim("sinusoidal, positions 8 to 15: each loss is above ln 26",
        least(sinusoidal, 1) > std::log(26), "");
  say();
  return sinusoidal;
}

void rotate_instead(const LossRow& sinusoidal) {
  section("Rotate instead of adding");
  picture_of_rotations();
  say();
  const LossRow rotary = previous_letter("rotary");
  show_losses(columns, {sinusoidal, rotary});
  claim("rotary, positions 8 to 15: each loss is below ln 26", most(rotary, 1) < std::log(26), "");
  guard("rotary, with 8 keys: each loss is below 0.05", most(rotary, 2) < 0.05, "");
  say();
  const std::size_t starts = 25;
  const LossRow shifted = previous_letter("sinusoidal", starts),
                learned = previous_letter("learned", starts);
  show_losses({columns[0], columns[1]}, {shifted, learned});
  quote("learned, each seed" + each_seed(learned.losses[1]));
  guard("sinusoidal with random starts: each loss is below 0.1", most(shifted, 1) < 0.1, "");
  say();
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening();
  the_same_bits();
  section("The price: ln 7");
  a_vector_for_each_position();
  writing_backwards();
  rotate_instead(longer_than_in_training());
  ending();
}
