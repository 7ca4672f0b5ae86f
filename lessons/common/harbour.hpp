// harbour.hpp: the play data/harbour.txt for small language models: its characters as tokens,
// training and held-out batches, and text sampled from a model.
//
//   const Harbour harbour;
//   const Batch batch = harbour.batch(32, 16, generator);         // inputs and targets (32, 16)
//   const Tensor loss = cross_entropy(model(batch.inputs), batch.targets);
//   quote(harbour.sample(model, 200, 16, generator));
#pragma once

#include <functional>
#include <string>

#include "heed/base/file.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/text/corpus.hpp"

namespace heed {

// A language model: token ids (B, T) give logits (B, T, V), at each position for the next token.
using LanguageModel = std::function<Tensor(const Indices& tokens)>;

// The play as token ids, one for each character. The first 90 % are the training part; no model is
// trained on the rest, the held-out part.
class Harbour {
 public:
  Harbour() = default;
  Harbour(const Harbour&) = delete;  // the parts refer to the corpus of this object
  Harbour& operator=(const Harbour&) = delete;

  // The number of distinct characters, V = 64.
  std::size_t vocab_size() const { return vocabulary.size(); }

  // B windows of T characters (inputs), which begin at random positions of the training part, and
  // the next character of each (targets): both (B, T).
  Batch batch(std::size_t B, std::size_t T, Generator& generator) const {
    return random_batch(training, B, T, generator);
  }

  // Each token of the training part but the last, and the token after it: both (N).
  Batch training_pairs() const {
    return {corpus.ids(0, training.size - 1), corpus.ids(1, training.size - 1)};
  }

  // The held-out part as windows of T characters, one after the other: inputs and targets, both
  // (N, T). At most T characters at its end are left out.
  Batch held_out_windows(std::size_t T) const {
    const std::size_t N = (held_out.size - 1) / T;
    Batch windows{corpus.ids(held_out.begin, N * T), corpus.ids(held_out.begin + 1, N * T)};
    windows.inputs.reshape({N, T});
    windows.targets.reshape({N, T});
    return windows;
  }

  // `length` characters, each drawn from the probabilities softmax(logits) that the model gives
  // after the characters before it, of which it gets the last `window`. The text begins after a
  // line break.
  std::string sample(const LanguageModel& model, std::size_t length, std::size_t window,
                     Generator& generator) const {
    const NoGrad no_grad;
    std::vector<std::int64_t> ids = {vocabulary.id('\n')};
    while (ids.size() <= length) {
      const std::size_t T = std::min(window, ids.size());
      Indices tokens = Indices::from_shape({1, T});
      std::copy(ids.end() - std::ptrdiff_t(T), ids.end(), tokens.begin());
      const Array probabilities = softmax(model(tokens), -1).value();  // (1, T, V)
      const Array last = xt::view(probabilities, 0, T - 1);            // (V)
      ids.push_back(generator.multinomial(last, 1)(0));
    }
    return vocabulary.decode({ids.begin() + 1, ids.end()});
  }

  const std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus{text, vocabulary};
  const Split training = corpus.training(), held_out = corpus.validation();
};

}  // namespace heed
