// ngram.hpp: an n-gram model, which counts characters, as a baseline for the GPT of lesson 15.
#pragma once

#include "text_helpers.hpp"

namespace heed {

// Counts which tokens follow each context of 0 to max_context tokens in a text.
struct NGramModel {
  struct Context {
    double total = 0;                      // how often the context occurs
    std::map<std::int64_t, double> after;  // how often each token follows it
  };
  std::map<Ids, Context> contexts;
  double vocabulary_size;

  NGramModel(const Ids& text, std::size_t max_context, std::size_t V) : vocabulary_size(double(V)) {
    for (std::size_t t = 0; t < text.size(); ++t)
      for (std::size_t k = 0; k <= std::min(t, max_context); ++k) {
        Context& context = contexts[Ids(&text[t] - k, &text[t])];
        context.total += 1;
        context.after[text[t]] += 1;
      }
  }

  // p(token | k tokens before it), with Witten-Bell interpolation: from k = 0 on,
  // p_k = (count + distinct p_(k-1)) / (total + distinct), where `distinct` different tokens follow
  // the context.
  double probability(const std::int64_t* token, std::size_t k) const {
    double p = 1 / vocabulary_size;
    for (std::size_t j = 0; j <= k; ++j) {
      const auto found = contexts.find(Ids(token - j, token));
      if (found == contexts.end()) break;  // then longer contexts do not occur either
      const auto& [total, after] = found->second;
      const auto count = after.find(*token);
      const double distinct = double(after.size());
      p = ((count == after.end() ? 0 : count->second) + distinct * p) / (total + distinct);
    }
    return p;
  }
};

// The GPT's loss at each of the last T / 2 tokens of windows of T tokens, which begin T / 2 tokens
// apart: (W, T / 2). Window w predicts the tokens from `begin` + w T / 2 on.
inline Array losses_with_context(const nn::Gpt& model, const Ids& ids, std::size_t begin) {
  const NoGrad no_grad;
  const std::size_t T = model.config.block_size, half = T / 2, W = (ids.size() - begin) / half;
  Array losses = zeros({W, half});
  CrossEntropyOptions each;
  each.reduction = Reduction::none;
  for (std::size_t w = 0; w < W; ++w) {
    const std::size_t start = begin + w * half - half - 1;  // of the window's inputs
    Batch window{Indices::from_shape({1, T}), Indices::from_shape({1, T})};
    std::copy_n(ids.data() + start, T, window.inputs.begin());
    std::copy_n(ids.data() + start + 1, T, window.targets.begin());
    const Array all = cross_entropy(model(window.inputs), window.targets, each).value();  // (1, T)
    xt::row(losses, int(w)) = xt::view(all, 0, xt::range(half, T));
  }
  return losses;
}

inline void compare_with_counts(const Ids& ids, const Corpus& corpus, const Trainer& trainer) {
  section("Comparison with counts");
  say("Is this loss low? An N-GRAM MODEL counts in the training part which token",
      "follows each context of k = n - 1 tokens. A rare context has few counts. So they",
      "are mixed with p_(k-1), the probability after the last k - 1 of these tokens",
      "(Witten and Bell 1991):", "", "  p_k = (count + d p_(k-1)) / (total + d)   p_(-1) = 1 / V",
      "", "The context occurs 'total' times, 'count' times with the token after it, and d",
      "different tokens follow it. We measure all models on the same tokens of the",
      "validation part. The GPT has a context of 33 to 64 tokens. (In the last section",
      "shorter contexts counted, too.)", "", "context k       loss");
  const nn::Gpt& model = trainer.model();
  const std::size_t begin = corpus.training().size;
  const NGramModel counts(Ids(ids.begin(), ids.begin() + std::ptrdiff_t(begin)), 5,
                          model.config.vocab_size);
  const Array gpt = losses_with_context(model, ids, begin);  // (W, T / 2)
  Array best = gpt;
  double least = INFINITY;
  for (std::size_t k = 0; k <= 5; ++k) {
    Array losses = gpt;
    for (std::size_t i = 0; i < losses.size(); ++i)
      losses.data()[i] = Real(-std::log(counts.probability(&ids[begin + i], k)));
    const double mean = xt::mean<double>(losses)();
    say(pad_left(std::to_string(k), 7) + pad_left(decimal(mean, 4), 13));
    if (mean < least) least = mean, best = losses;
  }
  const double of_gpt = xt::mean<double>(gpt)();
  const Array of_windows = xt::mean(gpt - best, {1});  // (W)
  const double difference = of_gpt - least,
               error = double(xt::stddev(of_windows)()) / std::sqrt(double(of_windows.size()));
  say("    GPT" + pad_left(trained(of_gpt), 11), "");
  quote("GPT minus the best of them " + decimal(difference, 2) + ", standard error " +
        decimal(error, 2));
  claim_of_text("the best n-gram model has a lower loss than this GPT", difference > 3 * error,
                difference);
  const Ids validation(ids.begin() + std::ptrdiff_t(begin), ids.end());
  picture_of(trainer, loss_of_counts(validation, 0, validation.size() - 1),
             loss_of_counts(validation, 1, validation.size() - 1), least);
  say("", "Without context the loss is above the unigram entropy of the validation part,",
      "because these probabilities are those of the training part.", "",
      "So on a text of " + grouped(double(ids.size())) +
          " characters a table of counts can predict better than",
      "a GPT. But this is one small GPT, with one seed. (On the play, that of ./heed",
      "train with 4 blocks of width 128 reaches 1.27.) And counts need short contexts:",
      "in lesson 14 the verb depends on a letter 14 or more before it. There the",
      "expected loss with 5 to 13 letters of context is at least 0.2707, and a GPT of",
      "two blocks reached 0.20. A table grows with each longer context, and an unseen",
      "context tells it nothing. A neural model has one set of weights for all",
      "contexts, so similar contexts can help each other: on texts of a million words",
      "and more, such models had the lower loss (Bengio et al. 2003, \"A Neural",
      "Probabilistic Language Model\").");
}

}  // namespace heed
