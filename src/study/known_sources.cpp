// known_sources.cpp: words spelled out as states, and the two sources that come with heed.

#include <cmath>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"

namespace heed {
namespace {

using Words = std::vector<MarkovSource::Word>;

// The words from one state on, all of whose first `read` letters are the same.
struct Branch {
  std::size_t state;
  std::size_t read;
  Words words;
};

double probability_of(const Words& words) {
  double sum = 0;
  for (const MarkovSource::Word& word : words) sum += word.probability;
  return sum;
}

void check_word(std::size_t place, const MarkovSource::Word& word, std::size_t places) {
  if (word.text.empty())
    throw_error("source: place ", place, ": a word is empty; give its letters");
  if (!(word.probability > 0))
    throw_error("source: place ", place, ": the probability of ", in_quotes(word.text), " is ",
                word.probability, "; give one above 0, or leave the word out");
  if (word.next >= places)
    throw_error("source: place ", place, ": ", in_quotes(word.text), " leads to place ", word.next,
                ", and there are ", places);
}

void check_place(std::size_t place, const Words& words, std::size_t places) {
  for (const MarkovSource::Word& word : words) check_word(place, word, places);
  for (const MarkovSource::Word& word : words)
    for (const MarkovSource::Word& other : words)
      if (&word != &other && other.text.compare(0, word.text.size(), word.text) == 0)
        throw_error("source: place ", place, ": ", in_quotes(word.text), " begins ",
                    in_quotes(other.text),
                    " too, so reading it would not tell the next place; end words with a space");
  const double sum = probability_of(words);
  if (!(std::abs(sum - 1) <= 1e-9))
    throw_error("source: place ", place, ": the probabilities sum to ", sum,
                "; they must sum to 1");
}

// One letter of a branch: a word that ends with it leads to its place; else the words that go on
// are a branch of their own, at a new state.
void spell(const Branch& branch, std::vector<MarkovSource::State>& states,
           std::vector<Branch>& open) {
  const double all = probability_of(branch.words);
  std::string seen;
  for (const MarkovSource::Word& word : branch.words) {
    const char letter = word.text[branch.read];
    if (seen.find(letter) != seen.npos) continue;
    seen += letter;
    Words alike;
    for (const MarkovSource::Word& other : branch.words)
      if (other.text[branch.read] == letter) alike.push_back(other);
    const bool ends = word.text.size() == branch.read + 1;
    const std::size_t next = ends ? word.next : states.size();
    states[branch.state].letters.push_back({letter, probability_of(alike) / all, next});
    if (ends) continue;
    states.emplace_back();
    open.push_back({next, branch.read + 1, std::move(alike)});
  }
}

// The same words from each of several places, all equally likely.
Words equally_likely(const std::vector<std::string>& texts, std::size_t next) {
  Words words;
  for (const std::string& text : texts)
    words.push_back({text, 1.0 / static_cast<double>(texts.size()), next});
  return words;
}

struct Animal {
  std::string name, often, seldom;  // what it does three times in four, and else
};

}  // namespace

MarkovSource MarkovSource::from_words(const std::vector<std::vector<Word>>& places) {
  std::vector<State> states(places.size());
  std::vector<Branch> open;
  for (std::size_t place = 0; place < places.size(); ++place) {
    check_place(place, places[place], places.size());
    open.push_back({place, 0, places[place]});
  }
  while (!open.empty()) {
    const Branch branch = std::move(open.back());
    open.pop_back();
    spell(branch, states, open);
  }
  return MarkovSource(std::move(states));
}

// A sentence begins at place 0. Each of the eight subjects has three places of its own, which
// remember it until the verb has come: `where`, `by_what` and `does`.
MarkovSource grammar_source() {
  const std::vector<Animal> animals = {{"cat", "purr", "sleep"},
                                       {"dog", "bark", "run"},
                                       {"owl", "hoot", "hunt"},
                                       {"frog", "croak", "jump"}};
  std::vector<Words> places(1);
  for (const Animal& animal : animals)
    for (const bool one : {true, false}) {
      const std::size_t where = places.size(), by_what = where + 1, does = where + 2;
      const std::string verb_end = one ? "s\n" : "\n";
      places[0].push_back({"the " + animal.name + (one ? " " : "s "), 1.0 / 8, where});
      places.push_back(equally_likely({"in the ", "on the ", "by the ", "near the "}, by_what));
      places.push_back(equally_likely({"barn ", "hill ", "river ", "garden "}, does));
      places.push_back({{animal.often + verb_end, 0.75, 0}, {animal.seldom + verb_end, 0.25, 0}});
    }
  return MarkovSource::from_words(places);
}

// The state of the letters x y is 3 x + y; its row says how likely a, b and c are after them.
MarkovSource chain_source() {
  const double after[9][3] = {{0.1, 0.1, 0.8}, {0.1, 0.3, 0.6}, {0.8, 0.1, 0.1},   // aa, ab, ac
                              {0.4, 0.1, 0.5}, {0.1, 0.8, 0.1}, {0.2, 0.2, 0.6},   // ba, bb, bc
                              {0.8, 0.1, 0.1}, {0.2, 0.7, 0.1}, {0.1, 0.3, 0.6}};  // ca, cb, cc
  std::vector<MarkovSource::State> states(9);
  for (std::size_t s = 0; s < 9; ++s)
    for (std::size_t z = 0; z < 3; ++z)
      states[s].letters.push_back({"abc"[z], after[s][z], s % 3 * 3 + z});
  return MarkovSource(std::move(states));
}

MarkovSource built_in_source(std::string_view kind) {
  if (kind == "grammar") return grammar_source();
  if (kind == "chain") return chain_source();
  throw_error("source: there is no kind ", in_quotes(kind), "; use grammar or chain");
}

}  // namespace heed
