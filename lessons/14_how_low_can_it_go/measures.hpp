// measures.hpp: the texts of lesson 14, and means of losses with their standard errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>

#include "estimate.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/study/markov_source.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/generate.hpp"
#include "lesson.hpp"

namespace heed {

const std::size_t T = 48;        // letters in a window
const std::size_t context = 24;  // so many letters determine the source's state

// A text to train on, and a new one in consecutive windows of T letters.
struct Texts {
  explicit Texts(const MarkovSource& the_source) : source(the_source) {
    const std::vector<std::int64_t> ids = vocabulary.encode(new_text);
    std::copy_n(ids.begin(), windows.inputs.size(), windows.inputs.begin());
    std::copy_n(ids.begin() + 1, windows.targets.size(), windows.targets.begin());
  }
  MarkovSource source;
  const std::size_t W = std::size_t(in_brief(1024, 256));  // number of windows
  Generator generator{1}, new_generator{3};
  const std::string text = source.draw(200'000, generator),
                    new_text = source.draw(W * T + 1, new_generator);
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus{text, vocabulary};
  Batch windows{Indices::from_shape({W, T}), Indices::from_shape({W, T})};
  Array ideal = zeros({W, T});  // losses of the Bayes-optimal predictor
};

// The mean over the targets with a context of 24 letters or more. The standard error comes from the
// means of the windows.
inline Estimate with_context(const Array& losses) {
  const Array means = xt::mean(xt::view(losses, xt::all(), xt::range(context - 1, T)), {1});  // (W)
  return estimate({means.begin(), means.end()});
}

// The excess losses of several models, in nats.
struct Excess {
  Estimate mean;           // mean over the models
  double lowest, highest;  // the lowest and highest mean, in standard errors of the model's windows
};

// Prints the excess loss of each model with its standard error.
template <class Learners>
Excess show_excess(const Learners& learners) {
  std::vector<double> means, in_errors;
  say("");
  for (const auto& learner : learners) {
    const Estimate e = with_context(learner.excess);
    means.push_back(e.mean), in_errors.push_back(e.mean / e.standard_error);
    quote("step " + std::to_string(in_brief(2500, 300)) + ", seed " + std::to_string(means.size()) +
          ":  excess loss " + pad_left(decimal(e.mean, 4), 7) + "   standard error " +
          decimal(e.standard_error, 4));
  }
  const auto [least, most] = std::minmax_element(in_errors.begin(), in_errors.end());
  return {estimate(means), *least, *most};
}

// Samples 71 letters from the model, with / for a newline.
inline std::string sampled(const nn::Gpt& model, const Vocabulary& vocabulary) {
  Generator generator(5);
  GenerateOptions options;
  options.tokens = 71;
  std::string text = vocabulary.decode(generate(model, {0}, options, generator));
  std::replace(text.begin(), text.end(), '\n', '/');
  return text;
}

// A source of eight letters for HEED_BRIEF: the probabilities of a letter depend on the letter
// before it.
inline MarkovSource short_source() {
  std::vector<MarkovSource::State> states(8);
  for (std::size_t s = 0; s < 8; ++s) {
    const auto to = [s](std::size_t step, double p) {
      return MarkovSource::Letter{char('a' + (s + step) % 8), p, (s + step) % 8};
    };
    states[s].letters = {to(1, 0.5), to(3, 0.25), to(4, 0.25)};
  }
  return MarkovSource(states);
}

inline void check_number(const std::string& what, double a, double b) {
  check(what, scalar(Real(a)), scalar(Real(b)));
}

}  // namespace heed
