// measures.hpp: the texts of lesson 24, and the loss of a model on a held-out text.
#pragma once

#include <cmath>

#include "heed/base/file.hpp"
#include "heed/text/byte_pairs.hpp"
#include "heed/text/corpus.hpp"
#include "lesson.hpp"

namespace heed {

using Ids = std::vector<std::int64_t>;
constexpr std::size_t T = 64;  // tokens in a window

// A text for training, and the two scenes that follow it, on which no model trains. The play is
// ASCII, so a character is a byte.
struct Texts {
  std::string training, first, second;
  std::string held_out() const { return first + second; }
};

// The play up to a scene, that scene and the next. Each begins with a letter after a newline, so no
// chunk reaches from one into another.
inline Texts play_before(const std::string& scene, const std::string& next,
                         const std::string& end) {
  const std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const std::size_t first = text.find("SCENE " + scene + "."), second = text.find("SCENE " + next),
                    last = end.empty() ? text.size() : text.find("SCENE " + end);
  return {text.substr(0, first), text.substr(first, second - first),
          text.substr(second, last - second)};
}

// -ln p of the text, the sum over its tokens. Each token has a context of T / 2 tokens or more; the
// first ones have the end of the text `before`.
inline double nats_of(const nn::Gpt& gpt, const Vocabulary& vocabulary, const std::string& before,
                      const std::string& text) {
  const NoGrad no_grad;
  constexpr std::size_t half = T / 2;
  const Ids tested = vocabulary.encode(text),
            context = vocabulary.encode(before.substr(before.size() - 1000));
  Ids ids(context.end() - half, context.end());
  ids.insert(ids.end(), tested.begin(), tested.end());
  const std::size_t windows = (ids.size() - 1) / half;  // they begin T / 2 tokens apart
  Batch batch{indices({windows, T}), indices({windows, T})};
  batch.inputs.fill(0), batch.targets.fill(CrossEntropyOptions().ignore_index);
  for (std::size_t w = 0; w < windows; ++w)
    for (std::size_t t = 0; t < T && w * half + t + 1 < ids.size(); ++t) {
      batch.inputs(w, t) = ids[w * half + t];
      if (t + 1 >= half && t + 1 < T) batch.targets(w, t) = ids[w * half + t + 1];
    }
  return gpt.loss(batch.inputs, batch.targets).item() * double(tested.size());
}

inline double tokens_per_character(const Vocabulary& vocabulary, const std::string& text) {
  return double(vocabulary.encode(text).size()) / double(text.size());
}

}  // namespace heed
