// markov_source.hpp: a source of texts whose entropy is known exactly, and two that come with heed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/random.hpp"

namespace heed {

// A Markov source (Shannon 1948, "A Mathematical Theory of Communication", sections 4 to 7): it is
// in one of some states, writes one of that state's letters by chance, and goes on in the state
// that belongs to the letter. No state has a letter twice, so whoever knows the first state, which
// is number 0, and reads along always knows the state. That is why the entropy can be computed:
// what is left to guess is the choice at each state.
class MarkovSource {
 public:
  struct Letter {
    char letter;  // ASCII
    double probability;
    std::size_t next;  // the state after it
  };
  struct State {
    std::vector<Letter> letters;
  };

  // Throws Error, which names the state, when its probabilities are not above 0 or do not sum to 1
  // (to 1e-9; they are then made to), a letter is there twice or is not ASCII, the next state does
  // not exist, or the state can not be reached from state 0 or has no way back there: then there
  // would be no one share of time for each state.
  explicit MarkovSource(std::vector<State> states);

  // A word, or any piece of text, as an arrow of several letters between places of a grammar.
  struct Word {
    std::string text;
    double probability;
    std::size_t next;  // the place after it
  };
  // The words that may come at each place, spelled out: words that begin alike share their first
  // states. Throws Error as the constructor does, and when a word is empty, or is the beginning of
  // another at its place, so that its last letter would leave two states to choose from.
  static MarkovSource from_words(const std::vector<std::vector<Word>>& places);

  const std::vector<State>& states() const { return states_; }
  // The share of all letters that each state writes, in the long run: sum_s p_s p(s -> t) = p_t.
  const std::vector<double>& shares() const { return shares_; }
  std::string letters() const;  // those it writes, sorted

  // Nats a letter that nothing can predict: the sum over the states of share times entropy of the
  // choice there (Shannon's theorem 5). No model has a smaller loss, but by luck or by a leak.
  double entropy() const;

  // The entropy of a letter from anywhere in the text for somebody who knows the source and the k
  // letters before it, for k = 0 (unigram), 1 (bigram) ... `most`: each at most the one before,
  // and all at least entropy(). What such a reader may think of the state is followed for every
  // text there is, once for those that leave it the same thing to think. Where texts keep telling
  // the states apart a little and never quite, that grows with each letter by a factor; throws
  // Error where there are more than 100,000 such things.
  std::vector<double> floors(std::size_t most) const;
  double unigram() const { return floors(0)[0]; }
  double bigram() const { return floors(1)[1]; }
  // The mean of floors 1 to `letters`: the smallest loss over windows of so many letters that begin
  // anywhere, each of which is read to guess the next. Throws Error for 0, and
  // as floors() does.
  double window_entropy(std::size_t letters) const;

  // So many letters, from state 0 on, or from a given state, which becomes the one after them.
  // The same text, whether it is drawn at once or in pieces.
  std::string draw(std::size_t letters, Generator& generator) const;
  std::string draw(std::size_t letters, Generator& generator, std::size_t& state) const;

  // -ln p of each letter of a text that begins in state 0: what the text costs somebody who knows
  // all that can be known. Throws Error for a letter that can not come there.
  std::vector<double> negative_log_likelihoods(std::string_view text) const;

 private:
  const Letter& drawn(std::size_t state, double at) const;

  std::vector<State> states_;
  std::vector<double> shares_;
};

// Sentences of six words and a line end, such as "the cats in the barn purr": who, how many,
// where, and what it does there. The verb's stem depends on the animal, its ending on their number,
// 14 letters and more back, so nobody comes near the entropy who does not look there. 256
// sentences.
MarkovSource grammar_source();

// The letters a, b and c, each by chance that depends on the two before it.
MarkovSource chain_source();

// "grammar" or "chain". Throws Error for another kind.
MarkovSource built_in_source(std::string_view kind);

}  // namespace heed
