// markov_source.hpp: Markov sources of text with a known entropy rate, two of them built in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/random.hpp"

namespace HEED_NAMESPACE {

// A Markov source (Shannon 1948, "A Mathematical Theory of Communication", sections 4 to 7) is
// always in one of finitely many states. The source draws the next letter at random from the
// probabilities of its state, and moves to the next state, which the letter determines. The
// letters of a state are distinct and the first state is number 0, so the text determines the
// sequence of states, and the entropy rate is known exactly (see entropy_rate()).
class MarkovSource {
 public:
  // A letter that a state can draw.
  struct Letter {
    char letter;         // an ASCII character
    double probability;  // a probability above 0
    std::size_t next;    // index of the state that follows the letter
  };
  // A state: the letters it can draw, each with its probability.
  struct State {
    std::vector<Letter> letters;  // distinct letters
  };

  // Normalizes the probabilities of each state. Throws Error, naming the state, when a probability
  // is not above 0, the probabilities of a state do not sum to 1 within 1e-9, a letter occurs twice
  // in a state or is not ASCII, or the next state does not exist. Throws Error also if a state
  // cannot be reached from state 0 or cannot reach state 0, because the stationary distribution
  // would not be unique.
  explicit MarkovSource(std::vector<State> states);

  // A word, or any string, as an edge between two nodes of a graph (a grammar).
  struct Word {
    std::string text;    // at least one letter
    double probability;  // a probability above 0
    std::size_t next;    // index of the grammar node that follows the word
  };
  // Builds a Markov source from a grammar, where nodes[i] lists the words that may come next at
  // node i. Words of nodes[i] with a common prefix share the states of that prefix. Throws the same
  // errors as the constructor, and Error when a word of nodes[i] is empty or a prefix of another,
  // because a text would then not determine the states.
  static MarkovSource from_words(const std::vector<std::vector<Word>>& nodes);

  // The states, with normalized probabilities.
  const std::vector<State>& states() const { return states_; }
  // The stationary probability p_s of each state s: sum_s p_s p(s -> t) = p_t.
  const std::vector<double>& stationary_distribution() const { return stationary_distribution_; }
  std::string letters() const;  // all letters of the source, sorted

  // The entropy per letter in nats: sum_s p_s H(letter | state s), with p the stationary
  // distribution (Shannon's theorem 5). No model has an expected loss below the entropy rate. A
  // measured loss below the entropy rate is a sampling error, or the model's input contains the
  // target.
  double entropy_rate() const;

  // H(X_{k+1} | X_1..X_k) in nats for k = 0 (unigram), 1 (bigram), ..., max_context: the entropy of
  // a letter at a random position of the text given the k letters before it. The entropy does not
  // increase with k and is at least entropy_rate(). The entropies are exact: each is a mean over
  // all posterior distributions of the state possible after k letters. The number of distributions
  // can grow exponentially with k if no text determines the state. Throws Error if there are more
  // than 100,000 distributions, or if max_context is above 1,000,000.
  std::vector<double> conditional_entropies(std::size_t max_context) const;
  double unigram_entropy() const { return conditional_entropies(0)[0]; }
  double bigram_entropy() const { return conditional_entropies(1)[1]; }
  // The mean of conditional_entropies for k = 1 to `letters`: a lower bound on a model's expected
  // loss if the model predicts the next letter at each position of a random window of `letters`
  // letters. Throws Error for 0 letters, and the errors of conditional_entropies().
  double window_entropy(std::size_t letters) const;

  // Samples a text of `letters` letters that begins in state 0 or in `state`, which is set to the
  // state after the text. Sampling a text in pieces gives the same text as sampling it at once.
  std::string draw(std::size_t letters, Generator& generator) const;
  std::string draw(std::size_t letters, Generator& generator, std::size_t& state) const;

  // Returns -ln p(letter | state) in nats for each letter of a text that begins in state 0. Throws
  // Error for a letter of probability 0.
  std::vector<double> negative_log_likelihoods(std::string_view text) const;

 private:
  static std::vector<double> stationary_distribution_of(const std::vector<State>& states);

  std::vector<State> states_;
  std::vector<double> stationary_distribution_;
};

// A Markov source of 256 sentences, each six words and a newline, such as "the cats in the barn
// purr". The verb depends on the animal and its number (singular or plural), which are known 14 or
// more letters before the verb. A model needs a context of 14 letters to approach the entropy rate.
MarkovSource grammar_source();

// A Markov source of letters a, b, c. A letter's probability depends on the previous two letters.
MarkovSource chain_source();

// Returns grammar_source() or chain_source(). Throws Error unless `kind` is "grammar" or "chain".
MarkovSource built_in_source(std::string_view kind);

// The built-in source from which a text of at least 200 letters was drawn: the first million
// letters are possible, and their mean negative log-likelihood is near the entropy rate.
std::optional<MarkovSource> source_of_text(std::string_view text);

}  // namespace HEED_NAMESPACE
