// markov_source.hpp: Markov sources of text with a known entropy rate, two of them built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/array/random.hpp"

namespace HEED_NAMESPACE {

// A Markov source (Shannon 1948, "A Mathematical Theory of Communication", sections 4 to 7) is
// always in one of finitely many states. It draws the next letter from the probabilities of that
// state and moves to the state that belongs to the letter. A state has each letter at most once
// and the first state is number 0, so the text determines the sequence of states. Therefore the
// entropy rate is known exactly: see entropy_rate().
class MarkovSource {
 public:
  struct Letter {
    char letter;  // ASCII
    double probability;
    std::size_t next;  // the state after this letter
  };
  struct State {
    std::vector<Letter> letters;
  };

  // Normalizes the probabilities of each state. Throws Error, naming the state, when a probability
  // is not above 0, the probabilities of a state do not sum to 1 within 1e-9, a letter occurs twice
  // in a state or is not ASCII, or the next state does not exist. Also throws when state 0 does not
  // lead to a state or a state does not lead back to state 0: the stationary distribution would not
  // be unique.
  explicit MarkovSource(std::vector<State> states);

  // A word, or any string, as an edge between two nodes of a graph (a grammar).
  struct Word {
    std::string text;
    double probability;
    std::size_t next;  // the node after this word
  };
  // Builds the source from the words that may follow at each node: nodes[i] are the words of node
  // i. Words with a common prefix share the states of that prefix. Throws Error as the constructor
  // does, and when a word is empty or is a prefix of another word of its node, because the letters
  // would then not determine the next state.
  static MarkovSource from_words(const std::vector<std::vector<Word>>& nodes);

  const std::vector<State>& states() const { return states_; }
  // The probability p_s of each state in the long run: sum_s p_s p(s -> t) = p_t.
  const std::vector<double>& stationary_distribution() const { return stationary_distribution_; }
  std::string letters() const;  // all letters that occur, sorted

  // The entropy per letter in nats: sum_s p_s H(letter | state s), with p the stationary
  // distribution (Shannon's theorem 5). No model has a smaller expected loss. If a measured
  // loss is smaller, it has a sampling error, or the model's input contains the target.
  double entropy_rate() const;

  // H(X_{k+1} | X_1..X_k) in nats for k = 0 (unigram), 1 (bigram), ..., max_context: the entropy of
  // a letter at a random position of the text given the k letters before it. This entropy does not
  // rise with k and is at least entropy_rate(). The values are exact: each is a sum over all
  // posteriors over the state after k letters. If no number of letters determines the state, the
  // number of posteriors can grow exponentially with k. Throws Error above 100,000 posteriors.
  std::vector<double> conditional_entropies(std::size_t max_context) const;
  double unigram_entropy() const { return conditional_entropies(0)[0]; }
  double bigram_entropy() const { return conditional_entropies(1)[1]; }
  // The mean of conditional_entropies for k = 1 to `letters`: the lower bound on the expected loss
  // over windows of `letters` letters that begin at random positions, when a model predicts the
  // letter after each prefix. Throws Error for 0 letters, and as conditional_entropies() does.
  double window_entropy(std::size_t letters) const;

  // Draws a text of `letters` letters from state 0, or from the given state, which becomes the
  // state after the text. The text is the same whether it is drawn at once or in pieces.
  std::string draw(std::size_t letters, Generator& generator) const;
  std::string draw(std::size_t letters, Generator& generator, std::size_t& state) const;

  // -ln p(letter | state) of each letter of a text that begins in state 0. Throws Error for a
  // letter of probability 0.
  std::vector<double> negative_log_likelihoods(std::string_view text) const;

 private:
  static std::vector<double> stationary_distribution_of(const std::vector<State>& states);

  std::vector<State> states_;
  std::vector<double> stationary_distribution_;
};

// A source of 256 sentences, each six words and a newline, such as "the cats in the barn purr". The
// verb depends on the animal and on singular or plural ("cat" or "cats"), which are 14 letters or
// more before the verb. A model must use a context of this length to come near the entropy rate.
MarkovSource grammar_source();

// A source of letters a, b and c. A letter's probability depends on the two letters before it.
MarkovSource chain_source();

// Returns the source of kind "grammar" or "chain". Throws Error for another kind.
MarkovSource built_in_source(std::string_view kind);

}  // namespace HEED_NAMESPACE
