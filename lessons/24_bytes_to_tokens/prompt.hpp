// prompt.hpp: the loss of a word after a prompt that ends before or after the space in front of
// the word, for lesson 24.
#pragma once

#include "compare.hpp"

namespace heed {

// -ln p of the continuation of each prompt, in nats: summed over the continuation's tokens.
inline std::vector<double> losses_after(const Model& model, const Names& prompts,
                                        const Names& continuations) {
  const NoGrad no_grad;
  const std::size_t N = prompts.size();
  CrossEntropyOptions each;
  each.reduction = Reduction::none;
  Batch rows = ignored_targets(N);
  for (std::size_t n = 0; n < N; ++n) {
    Ids ids = model.vocabulary.encode(prompts[n]);
    const Ids next = model.vocabulary.encode(continuations[n]);
    ids.insert(ids.end(), next.begin(), next.end());
    const std::size_t start = ids.size() - (T + 1);  // the last T + 1 tokens
    for (std::size_t t = 0; t < T; ++t) {
      rows.inputs(n, t) = ids[start + t];
      if (t >= T - next.size()) rows.targets(n, t) = ids[start + t + 1];
    }
  }
  const Array losses = cross_entropy(model.gpt(rows.inputs), rows.targets, each).value();  // (N, T)
  const Array sums = xt::sum<double>(losses, {1});
  return {sums.begin(), sums.end()};
}

// Prompts from the held-out text, and the words that follow them.
struct Prompts {
  Names before_space, after_space;  // the same prompts, without and with the space
  Names with_space, words;          // the same words, with and without the space
};

// Every step-th word that stands after a space. A prompt has 400 characters.
inline Prompts prompts_of(const Texts& texts, std::size_t step) {
  const std::string text = texts.training.substr(texts.training.size() - 400) + texts.held_out;
  Prompts result;
  std::size_t end = 0, found = 0;
  for (const std::string& chunk : chunks_by_hand(text)) {
    const std::size_t begin = end;
    end += chunk.size();
    if (begin < 400 || chunk.size() < 2 || chunk[0] != ' ' || !std::isalpha(chunk[1])) continue;
    if (found++ % step != 0) continue;
    const std::string prompt = text.substr(begin - 400, 400);
    result.before_space.push_back(prompt);
    result.after_space.push_back(prompt + " ");
    result.with_space.push_back(chunk);
    result.words.push_back(chunk.substr(1));
  }
  return result;
}

// How many tokens of a text are a space alone and stand before a small letter.
inline int spaces_alone(const BytePairs& tokens, const std::string& text) {
  const Ids ids = tokens.encode(text);
  int found = 0;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i)
    found += ids[i] == ' ' && std::islower(tokens.bytes(ids[i + 1])[0]) != 0;
  return found;
}

// The tokens of a, then the tokens of b.
inline Ids joined_tokens(const BytePairs& tokens, const std::string& a, const std::string& b) {
  Ids ids = tokens.encode(a);
  const Ids more = tokens.encode(b);
  ids.insert(ids.end(), more.begin(), more.end());
  return ids;
}

// The mean loss of a word in nats, for each model: after the prompt without and with the space.
struct WordLosses {
  std::vector<double> before_space, after_space;
  double largest_rise = -INFINITY;  // of one word in one model
};

inline WordLosses word_losses(const Result& result, const Prompts& prompts) {
  WordLosses losses;
  for (const auto& model : result.models) {
    const auto before = losses_after(*model, prompts.before_space, prompts.with_space),
               after = losses_after(*model, prompts.after_space, prompts.words);
    losses.before_space.push_back(mean_of(before)), losses.after_space.push_back(mean_of(after));
    for (std::size_t n = 0; n < before.size(); ++n)
      losses.largest_rise = std::max(losses.largest_rise, after[n] - before[n]);
  }
  return losses;
}

inline std::string row_of(const std::string& name, const WordLosses& losses) {
  return pad_right(name, 21) + pad_right(with_error(losses.before_space, 2), 19) +
         with_error(losses.after_space, 2);
}

inline void end_of_a_prompt(const Texts& texts, const std::vector<Result>& results) {
  section("The space at the end of a prompt");
  const BytePairs& tokens = *results[1].tokens->vocabulary.byte_pairs();
  say("A prompt is encoded before the model continues it. With 512 tokens:", "");
  for (const std::string text : {"Mind the rope", "Mind the", "Mind the "})
    say("  " + pad_right(in_quotes(text), 18) + spelled(tokens, tokens.encode(text)));
  const int before_letter = spaces_alone(tokens, texts.training);
  say("", "In the text ␣ and r are one token. But after the prompt that ends in a space,",
      "the model must continue ␣ alone. Of " +
          grouped(double(tokens.encode(texts.training).size())) + " training tokens, " +
          std::to_string(before_letter) + " are ␣ alone",
      "before a lowercase letter. This is the PROMPT BOUNDARY PROBLEM: the tokens of",
      "two texts, joined, need not be the tokens of the joined text.", "");
  const Ids joined_ids = joined_tokens(tokens, "Mind the ", "rope");
  claim(
      "tokens of 'Mind the ' and of 'rope': not those of 'Mind the rope'",
      joined_ids != tokens.encode("Mind the rope") && tokens.decode(joined_ids) == "Mind the rope",
      spelled(tokens, joined_ids));
  say("", "How much does it cost? We take words of the held-out scenes, each after 400",
      "characters of the text. If the prompt ends before the space, the model continues",
      "with the space and the word, otherwise with the word alone. -ln p of this",
      "continuation, in nats, mean over the words +- standard error of 3 seeds:", "");
  const Prompts prompts = prompts_of(texts, brief() ? 40 : 8);
  const WordLosses characters = word_losses(results[0], prompts),
                   pairs = word_losses(results[1], prompts);
  quote("the prompt ends      before the space   after the space\n" +
        row_of("characters", characters) + "\n" + row_of("BPE, 512", pairs));
  say("");
  claim("characters: for no word is the loss higher after the space",
        characters.largest_rise <= 1e-4, decimal(characters.largest_rise, 5));
  claim("BPE, 512, all seeds: more than 2 nats higher after the space",
        least(pairs.after_space) > largest(pairs.before_space) + 2,
        decimal(least(pairs.after_space), 4));
  say("", "The second prompt contains more: the space is given. With characters p(space) *",
      "p(word | space) = p(space, word), so the loss cannot rise. With BPE it rises. So",
      "do not end a prompt in a space. A program can also remove the last token of a",
      "prompt and allow only tokens that begin with it: TOKEN HEALING. (Vieira et al.",
      "2024, \"From Language Models over Tokens to Language Models over Characters\".)");
}

}  // namespace heed
