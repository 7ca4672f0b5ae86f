// Tests exercise 13 beat_the_bigram: counts the parameters, searches for leaks, trains the model,
// and compares its loss on a new text with the goal, a bigram model and the lower bound.

#include <cmath>
#include <cstring>
#include <functional>

#include "exercise.hpp"
#include "heed/heed.hpp"

using namespace heed;

using Model = std::function<Tensor(const Indices& tokens)>;

double learning_rate();
Model build_model(const Scope& scope, std::size_t V, std::size_t T);

namespace {

using Text = std::vector<std::int64_t>;

constexpr std::size_t V = 12, T = 16, lag_a = 2, lag_b = 5, first_scored = 4;
constexpr std::size_t max_parameters = 10000, steps = 800, windows_per_step = 16;
constexpr double p_a = 0.5, p_b = 0.35, goal = 1.35;

// The two most likely letters at position t, with the probabilities p_a and p_b.
std::int64_t letter_a(const Text& text, std::size_t t) {
  return (5 * text[t - lag_a] + 3) % std::int64_t(V);
}
std::int64_t letter_b(const Text& text, std::size_t t) {
  return (7 * text[t - lag_b] + 1) % std::int64_t(V);
}

Text draw_text(std::size_t letters, Generator& g) {
  Text text;
  const Array u = g.rand({letters});
  const Indices uniform_letters = g.randint(0, V, {letters});
  for (std::size_t t = 0; t < letters; ++t) {
    const bool a = t >= lag_b && u(t) < p_a, b = t >= lag_b && u(t) < p_a + p_b;
    text.push_back(a ? letter_a(text, t) : b ? letter_b(text, t) : uniform_letters(t));
  }
  return text;
}

struct Windows {
  Indices inputs, targets;  // (B, T)
};

Windows windows_at(const Text& text, const Indices& starts) {
  const std::size_t B = starts.size();
  Windows windows{Indices::from_shape({B, T}), Indices::from_shape({B, T})};
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t) {
      windows.inputs(b, t) = text[std::size_t(starts(b)) + t];
      windows.targets(b, t) = text[std::size_t(starts(b)) + t + 1];
    }
  return windows;
}

// The loss is measured in every nineteenth window, over its last positions.
constexpr std::size_t scored_windows = 300, window_distance = 19;

// The loss on these positions of a predictor with the probability p(t) for the letter at t.
double mean_loss(const std::function<double(std::size_t)>& p) {
  double sum = 0;
  for (std::size_t w = 0; w < scored_windows; ++w)
    for (std::size_t t = first_scored; t < T; ++t) sum -= std::log(p(w * window_distance + t + 1));
  return sum / double(scored_windows * (T - first_scored));
}

double lower_bound(const Text& text) {
  return mean_loss([&](std::size_t t) {
    return (1 - p_a - p_b) / V + (letter_a(text, t) == text[t] ? p_a : 0) +
           (letter_b(text, t) == text[t] ? p_b : 0);
  });
}

// The loss of the bigram model that counts pairs of letters in the training text.
double bigram_loss(const Text& training, const Text& text) {
  Array counts = ones({V, V});
  for (std::size_t t = 1; t < training.size(); ++t)
    counts(std::size_t(training[t - 1]), std::size_t(training[t])) += 1;
  const Array sums = xt::sum(counts, {1});
  return mean_loss([&](std::size_t t) {
    const std::size_t before = std::size_t(text[t - 1]);
    return double(counts(before, std::size_t(text[t])) / sums(before));
  });
}

double loss_of(const Model& model, const Text& text) {
  const NoGrad no_grad;
  const Indices starts = xt::arange<std::int64_t>(scored_windows) * std::int64_t(window_distance);
  Windows windows = windows_at(text, starts);
  xt::view(windows.targets, xt::all(), xt::range(0, first_scored)) = -100;  // ignored
  return cross_entropy(model(windows.inputs), windows.targets).item();
}

bool equal_bits(const Array& a, const Array& b, std::size_t window, std::size_t t) {
  return std::memcmp(&a(window, t, 0), &b(window, t, 0), V * sizeof(Real)) == 0;
}

// "" if the logits at t depend only on the letters 0 to t of the same window.
std::string leak(const Model& model) {
  const NoGrad no_grad;
  Generator g(3);
  const Indices tokens = g.randint(0, V, {3, T});
  const Array before = model(tokens).value();
  for (std::size_t s = 1; s < T; ++s) {
    Indices other = tokens;  // other letters from position s on, in window 1 only
    for (std::size_t t = s; t < T; ++t)
      other(1, t) = (other(1, t) + 1 + std::int64_t(t % 3)) % std::int64_t(V);
    const Array after = model(other).value();
    for (std::size_t t = 0; t < s; ++t)
      if (!equal_bits(before, after, 1, t))
        return "the logits at position " + std::to_string(t) +
               " change when later letters change, from " + std::to_string(s) + " on";
    for (const std::size_t window : {0u, 2u})
      for (std::size_t t = 0; t < T; ++t)
        if (!equal_bits(before, after, window, t))
          return "the logits of window " + std::to_string(window) + " change with window 1";
  }
  return "";
}

void train(const Model& model, const Parameters& parameters, const Text& text) {
  optim::AdamWOptions options;
  options.beta2 = 0.99, options.weight_decay = 0;
  optim::AdamW optimizer(parameters.tensors(), options);
  const double rate = learning_rate();
  const optim::WarmupCosine schedule{rate, rate / 20, 30, steps};
  Generator g(7);
  for (std::size_t step = 0; step < steps; ++step) {
    const std::int64_t last = std::int64_t(text.size() - T - 1);
    const Windows batch = windows_at(text, g.randint(0, last, {windows_per_step}));
    optim::zero_grad(parameters.tensors());
    backward(cross_entropy(model(batch.inputs), batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(std::int64_t(step)));
    optimizer.step();
  }
}

// Whether the model may be trained.
bool judge_before_training(const Model& model, const Parameters& parameters) {
  const Array logits = model(Generator(4).randint(0, V, {2, T})).value();
  const bool shape = shape_of(logits) == Shape{2, T, V};
  expect("2 windows give logits (2, 16, 12)", shape, "their shape is " + str(shape_of(logits)));
  const std::size_t count = parameters.count();
  expect("at most " + std::to_string(max_parameters) + " parameters", count <= max_parameters,
         "there are " + std::to_string(count));
  const std::string found = shape ? leak(model) : "the logits have another shape";
  expect("no leak before training", found.empty(), found);
  return shape && count <= max_parameters && found.empty();
}

void judge_after_training(const Model& model, const Parameters& parameters, const Text& training,
                          const Text& text) {
  const std::string found = leak(model);
  expect("no leak after training", found.empty(), found);
  const double loss = loss_of(model, text);
  say("\n  parameters                          " + std::to_string(parameters.count()));
  say("  loss on the new text                " + decimal(loss, 3));
  say("  bigram model, on the same letters   " + decimal(bigram_loss(training, text), 3));
  say("  lower bound, on the same letters    " + decimal(lower_bound(text), 3));
  say("\nThe lower bound is the loss of the probabilities that the source uses.\n");
  expect("the loss on the new text is at most " + decimal(goal, 2), loss <= goal,
         "it is " + decimal(loss, 3));
}

}  // namespace

int main() {
  set_num_threads(1);
  Generator source(1), weights(13);
  const Text training = draw_text(20000, source), text = draw_text(6000, source);
  Parameters parameters;
  const Model model = build_model(Scope(parameters, weights), V, T);
  if (judge_before_training(model, parameters)) {
    train(model, parameters, training);
    judge_after_training(model, parameters, training, text);
  }
  return verdict();
}
