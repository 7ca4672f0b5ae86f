// 15 your_text: a text becomes a GPT that continues it: batches, learning rate, counts, sampling.
//
// Before this lesson: 14_how_low_can_it_go, whose text has a known lower bound.
// After it: 16_looking_inside, the attention heads of such a model.
// With a text of your own: ./heed lesson 15 my_novel.txt
// Worth a breakpoint: train. Continue with `next`, and print batch.inputs.

#include <xtensor/xsort.hpp>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/loss.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/generate.hpp"
#include "in_threads.hpp"
#include "ngram.hpp"
#include "pictures.hpp"

using namespace heed;

const std::size_t B = 8, T = 64;  // windows in a batch, tokens in a window
const std::int64_t few_steps = in_brief(500, 60), steps = in_brief(1500, 200);
const std::vector<double> rates = {0.003, 0.01, 0.03}, temperatures = {0.5, 1, 1.5};

// A text as token ids. The training part ends where the tuning part begins.
struct Text {
  const std::string characters;
  const Vocabulary vocabulary = Vocabulary::of_text(characters);
  const Ids ids = vocabulary.encode(characters);
  const Corpus corpus{characters, vocabulary};
  const std::size_t tuning = ids.size() * 8 / 10, test = ids.size() * 9 / 10;  // begin there
  const Split training{&corpus, 0, tuning, "training"};
};

void from_text_to_batches(const Text& text) {
  section("From a text to batches");
  quote(truncated(text.characters.substr(0, text.characters.find('\n', 60)), 300));
  say({{"tokens", grouped(double(text.ids.size()))}, {"V", text.vocabulary.size()}});
  Generator g(1337);
  show_batch(random_batch(text.training, 2, 8, g), text.vocabulary);  // B = 2, T = 8
  say();
}

// The probability that the model gives to each token from number `begin` to `end`, after the 33 to
// 64 tokens before it.
Array probabilities(const nn::Gpt& model, const Text& text, std::size_t begin, std::size_t end) {
  const NoGrad no_grad;
  const std::size_t half = T / 2, W = (end - begin) / half;
  Batch windows{Indices::from_shape({W, T}), Indices::from_shape({W, T})};
  for (std::size_t w = 0; w < W; ++w) {
    xt::row(windows.inputs, int(w)) = text.corpus.ids(begin + w * half - half - 1, T);
    xt::row(windows.targets, int(w)) = text.corpus.ids(begin + w * half - half, T);
  }
  const Array losses =
      cross_entropy(model(windows.inputs), windows.targets, {Reduction::none}).value();
  return xt::exp(-xt::view(losses, xt::all(), xt::range(half, T)));  // (W, T / 2)
}

struct Run {
  nn::Gpt model;
  std::vector<double> curve;  // the loss on the tuning part, after each tenth of the steps
};

Run train(const Text& text, const optim::WarmupCosine& schedule, std::uint64_t seed) {
  const nn::GptConfig config{text.vocabulary.size(), T, /*layers=*/2, /*heads=*/4, /*C=*/64};
  Generator g(seed);
  Parameters parameters;
  Run run{nn::Gpt(Scope(parameters, g), config), {}};
  optim::AdamW optimizer(parameters.tensors(), {/*lr=*/0, 0.9, /*beta2=*/0.99});
  for (std::int64_t step = 0; step < schedule.decay_steps; ++step) {
    const Batch batch = random_batch(text.training, B, T, g);  // (8, 64) and (8, 64)
    optimizer.zero_grad();
    backward(run.model.loss(batch.inputs, batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
    if ((step + 1) % (schedule.decay_steps / 10) == 0)
      run.curve.push_back(loss_of(probabilities(run.model, text, text.tuning, text.test)));
  }
  return run;
}

// The learning rates may rise in the first twentieth of the steps, and then fall to a twentieth.
optim::WarmupCosine schedule(double rate, bool rises, bool falls, std::int64_t last) {
  return {rate, falls ? rate / 20 : rate, rises ? last / 20 : 0, last};
}

double which_learning_rate(const Text& text) {
  section("Which learning rate?");
  const auto trial = [&](std::size_t shape, std::size_t r, std::uint64_t seed) {
    return train(text, schedule(rates[r], shape % 2 == 1, shape >= 2, few_steps), seed);
  };
  const std::vector<Run> tried = in_threads<Run>(
      4 * 3, [&](std::uint64_t n) { return trial((n - 1) / 3, (n - 1) % 3, /*seed=*/1); });
  const std::vector<std::size_t> best = lowest_of_three(tried);  // the rate of each shape
  const std::vector<Run> more = in_threads<Run>(
      4 * 2, [&](std::uint64_t n) { return trial((n - 1) / 2, best[(n - 1) / 2], 2 + n % 2); });
  show_rates(rates, best, tried, more);
  say();
  picture_of_rates(rates, best, tried, few_steps);
  say({{"rate", decimal(rates[best[3]], 3)}});
  return rates[best[3]];
}

// Trains three seeds for longer, and compares them with counts. Returns the model of the first.
nn::Gpt is_it_low(const Text& text, double rate) {
  section("Is that low?");
  const NGramModel counts({text.ids.begin(), text.ids.begin() + std::ptrdiff_t(text.tuning)},
                          longest, text.vocabulary.size());
  const Tables tuning = counts.tables(text.ids, text.tuning, text.test);
  const Tables test = counts.tables(text.ids, text.test, text.ids.size());
  const auto [k, from] = show_contexts(tuning);
  say({{"k", k}, {"from", from}, {"longest", longest}});
  const std::vector<Run> runs = in_threads<Run>(
      3, [&](std::uint64_t seed) { return train(text, schedule(rate, true, true, steps), seed); });
  const Array mean_of_counts = mean_from(test, from);
  std::vector<Array> by_gpt, by_both;  // of the three seeds
  for (const Run& run : runs) {
    by_gpt.push_back(probabilities(run.model, text, text.test, text.ids.size()));
    by_both.push_back((by_gpt.back() + mean_of_counts) / 2);
  }
  show_losses({{"counts, k = " + std::to_string(k), {test[k]}},
               {"mean of the counts", {mean_of_counts}},
               {"GPT", by_gpt},
               {"mean of the last two", by_both}});
  say();
  return runs[0].model;
}

// softmax(logits / temperature), of the k largest logits only.
Array probabilities_at(const Array& logits, double temperature, std::size_t k) {
  const Array sorted = -xt::sort(Array(-logits));  // in descending order
  const Real largest = sorted(0), smallest = sorted(std::min(k, sorted.size()) - 1);
  const Array p =
      xt::where(logits < smallest, Real(0), xt::exp((logits - largest) / Real(temperature)));
  return p / xt::sum(p)();
}

// The logits of the token after the last T tokens of a text: (V).
Array next_logits(const nn::Gpt& model, const Ids& text) {
  const NoGrad no_grad;
  const std::size_t n = std::min(T, text.size());
  Indices window = Indices::from_shape({1, n});
  std::copy(text.end() - std::ptrdiff_t(n), text.end(), window.begin());
  return xt::view(model(window).value(), 0, n - 1);
}

Ids write(const nn::Gpt& model, Ids text, std::size_t tokens, double temperature, std::size_t k,
          Generator& g) {
  for (std::size_t i = 0; i < tokens; ++i)
    text.push_back(g.multinomial(probabilities_at(next_logits(model, text), temperature, k), 1)(0));
  return {text.end() - std::ptrdiff_t(tokens), text.end()};
}

void from_probabilities_to_text(const Text& text, const nn::Gpt& model) {
  section("From probabilities to a text");
  const Ids before(&text.ids[text.test - 24], &text.ids[text.test]);
  quote(text.vocabulary.decode(before));
  say();
  const std::size_t V = text.vocabulary.size();
  std::vector<Array> p;
  for (const double temperature : temperatures)
    p.push_back(probabilities_at(next_logits(model, before), temperature, V));
  picture_of_temperatures(text.vocabulary, temperatures, p);
  sliders_of_temperature(text.vocabulary, next_logits(model, before));
  say();
  Generator g(1337), same_g(1337);
  quote(text.vocabulary.decode(write(model, before, 150, 1, V, g)));
  say();
  GenerateOptions options;
  options.tokens = 40, options.temperature = 0.8, options.top_k = 10;
  g = Generator(1337);
  const Ids by_hand = write(model, before, 40, 0.8, 10, g);
  quote(text.vocabulary.decode(write(model, before, 500, 0.8, 10, g)));
  claim("40 tokens: by hand = by heed", by_hand == generate(model, before, options, same_g), "");
  say();
}

int main(int argc, char** argv) {
  set_num_threads(1);  // each run has a thread of its own
  opening();
  const Text text{text_to_learn(argc, argv)};
  from_text_to_batches(text);
  from_probabilities_to_text(text, is_it_low(text, which_learning_rate(text)));
  section("A text of yours");
  ending();
}
