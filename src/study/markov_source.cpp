// markov_source.cpp: builds Markov sources (grammar_source, chain_source, ...), samples texts from
// Markov sources and computes the negative log-likelihood of a text.

#include "heed/study/markov_source.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {
namespace {

using States = std::vector<MarkovSource::State>;
using Letters = std::vector<MarkovSource::Letter>;
using Words = std::vector<MarkovSource::Word>;

std::string_view label(const MarkovSource::Letter& letter) { return {&letter.letter, 1}; }
std::string_view label(const MarkovSource::Word& word) { return word.text; }

template <class Edges>
double probability_of(const Edges& edges) {
  double sum = 0;
  for (const auto& edge : edges) sum += edge.probability;
  return sum;
}

// Checks the letters of state `from` (or, if Edges is Words, the words of node `from`): the
// probabilities must be above 0 and sum to 1, and the next states (or nodes) must be below `count`.
template <class Edges>
void check_edges(const Edges& edges, std::size_t from, std::size_t count) {
  const bool words = std::is_same_v<Edges, Words>;
  const char *const node = words ? "node" : "state", *const edge_kind = words ? "word" : "letter";
  const auto reject = [&](const auto&... reason) {
    throw_error("source: ", node, " ", from, ": ", reason...);
  };
  for (const auto& edge : edges) {
    if (!(edge.probability > 0))
      reject("the probability of ", in_quotes(label(edge)), " is ", edge.probability,
             "; give one above 0, or leave the ", edge_kind, " out");
    if (edge.next >= count)
      reject("the next ", node, " of ", in_quotes(label(edge)), " is ", edge.next,
             "; give one below ", count);
  }
  if (const double sum = probability_of(edges); !(std::abs(sum - 1) <= 1e-9))
    reject("the probabilities sum to ", sum, "; they must sum to 1");
}

void check_letters(const Letters& letters, std::size_t state) {
  std::set<char> seen;
  for (const MarkovSource::Letter& letter : letters) {
    if (const auto code = static_cast<unsigned char>(letter.letter); code >= 0x80)
      throw_error("source: state ", state, ": byte ", int{code},
                  " is not ASCII; give ASCII letters");
    if (!seen.insert(letter.letter).second)
      throw_error("source: state ", state, ": ", in_quotes(label(letter)),
                  " has two transitions, so the next state is ambiguous; give one");
  }
}

void check_words(const Words& words, std::size_t node) {
  for (const MarkovSource::Word& word : words) {
    if (word.text.empty())
      throw_error("source: node ", node, ": a word is empty; it needs at least one letter");
    for (const MarkovSource::Word& other : words)
      if (&word != &other && other.text.compare(0, word.text.size(), word.text) == 0)
        throw_error(
            "source: node ", node, ": ", in_quotes(word.text), " is a prefix of ",
            in_quotes(other.text),
            ", so a text does not determine the next node of the grammar; end words with a space");
  }
}

// Returns for each state whether it can be reached from state 0. successors[s] lists the states
// that can follow state s.
std::vector<bool> reachable(const std::vector<std::vector<std::size_t>>& successors) {
  std::vector<bool> result(successors.size());
  std::vector<std::size_t> found = {0};
  result[0] = true;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const std::size_t t : successors[found[i]]) {
      if (!result[t]) found.push_back(t);
      result[t] = true;
    }
  return result;
}

void check_connected(const States& states) {
  std::vector<std::vector<std::size_t>> successors(states.size()), predecessors(states.size());
  for (std::size_t s = 0; s < states.size(); ++s)
    for (const MarkovSource::Letter& letter : states[s].letters) {
      successors[s].push_back(letter.next);
      predecessors[letter.next].push_back(s);
    }
  const std::vector<bool> from_0 = reachable(successors), to_0 = reachable(predecessors);
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (!from_0[s])
      throw_error("source: state ", s, " cannot be reached from state 0; leave it out");
    if (!to_0[s])
      throw_error("source: state 0 cannot be reached from state ", s,
                  ", so the stationary distribution is not unique; add a path back");
  }
}

States checked(States states) {
  if (states.empty()) throw_error("source: there is no state; give at least one");
  for (std::size_t s = 0; s < states.size(); ++s) {
    check_letters(states[s].letters, s);
    check_edges(states[s].letters, s, states.size());
  }
  check_connected(states);
  for (MarkovSource::State& state : states) {  // divides the probabilities by their sum
    const double sum = probability_of(state.letters);
    for (MarkovSource::Letter& letter : state.letters) letter.probability /= sum;
  }
  return states;
}

// A node of a prefix tree: the words that have the same first `prefix_length` letters.
struct PrefixNode {
  std::size_t state;
  std::size_t prefix_length;
  Words words;
};

// Adds transitions to the state of `prefix`, one for each letter that follows the prefix in a word.
// The last letter of a word leads to word.next, the grammar node that follows the word. Any other
// letter leads to a new state, which is appended to `pending`.
void add_letters(const PrefixNode& prefix, std::vector<MarkovSource::State>& states,
                 std::vector<PrefixNode>& pending) {
  const double total = probability_of(prefix.words);
  std::set<char> added;
  for (const MarkovSource::Word& word : prefix.words) {
    const char letter = word.text[prefix.prefix_length];
    if (!added.insert(letter).second) continue;
    Words same_letter;
    for (const MarkovSource::Word& other : prefix.words)
      if (other.text[prefix.prefix_length] == letter) same_letter.push_back(other);
    const bool ends = word.text.size() == prefix.prefix_length + 1;
    const std::size_t next = ends ? word.next : states.size();
    states[prefix.state].letters.push_back({letter, probability_of(same_letter) / total, next});
    if (ends) continue;
    states.emplace_back();
    pending.push_back({next, prefix.prefix_length + 1, std::move(same_letter)});
  }
}

Words equally_likely(const std::vector<std::string>& texts, std::size_t next) {
  Words words;
  for (const std::string& text : texts)
    words.push_back({text, 1.0 / static_cast<double>(texts.size()), next});
  return words;
}

// Inverse transform sampling: returns the letter whose interval of [0, 1) contains `uniform`.
const MarkovSource::Letter& pick_letter(const Letters& letters, double uniform) {
  std::size_t i = 0;
  for (; i + 1 < letters.size() && uniform >= letters[i].probability; ++i)
    uniform -= letters[i].probability;
  return letters[i];
}

}  // namespace

MarkovSource::MarkovSource(std::vector<State> states)
    : states_(checked(std::move(states))),
      stationary_distribution_(stationary_distribution_of(states_)) {}

MarkovSource MarkovSource::from_words(const std::vector<std::vector<Word>>& nodes) {
  std::vector<State> states(nodes.size());
  std::vector<PrefixNode> pending;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    check_words(nodes[node], node);
    check_edges(nodes[node], node, nodes.size());
    pending.push_back({node, 0, nodes[node]});
  }
  while (!pending.empty()) {
    const PrefixNode prefix = std::move(pending.back());
    pending.pop_back();
    add_letters(prefix, states, pending);
  }
  return MarkovSource(std::move(states));
}

std::string MarkovSource::draw(std::size_t letters, Generator& generator) const {
  std::size_t state = 0;
  return draw(letters, generator, state);
}

// Float and double builds draw the same text, because each letter uses 53 random bits.
std::string MarkovSource::draw(std::size_t letters, Generator& generator,
                               std::size_t& state) const {
  constexpr std::size_t chunk = 4096;
  constexpr std::int64_t range = std::int64_t{1} << 53;
  if (state >= states_.size())
    throw_error("source: the first state is ", state, "; give one below ", states_.size());
  std::string text;
  text.reserve(letters);
  while (text.size() < letters) {
    const Indices random = generator.randint(0, range, {std::min(chunk, letters - text.size())});
    for (const std::int64_t bits : random) {
      const double uniform = static_cast<double>(bits) / static_cast<double>(range);
      const Letter& letter = pick_letter(states_[state].letters, uniform);
      text += letter.letter;
      state = letter.next;
    }
  }
  return text;
}

std::vector<double> MarkovSource::negative_log_likelihoods(std::string_view text) const {
  std::vector<double> nats;
  nats.reserve(text.size());
  std::size_t state = 0;
  for (const char c : text) {
    const Letters& letters = states_[state].letters;
    const auto found = std::find_if(letters.begin(), letters.end(),
                                    [c](const Letter& letter) { return letter.letter == c; });
    if (found == letters.end())
      throw_error("source: letter ", nats.size(), " of the text, ",
                  in_quotes(character_at(text, nats.size())), ", has probability 0 in state ",
                  state, "; give a text drawn from this source");
    nats.push_back(-std::log(found->probability));
    state = found->next;
  }
  return nats;
}

// Node 0 of the grammar starts a sentence. Each of the eight subjects has its own preposition, noun
// and verb nodes, so that the current node determines the subject until the verb ends the sentence.
MarkovSource grammar_source() {
  struct Animal {
    std::string name, frequent_verb, rare_verb;  // the verbs have probabilities 3/4 and 1/4
  };
  const std::vector<Animal> animals = {{"cat", "purr", "sleep"},
                                       {"dog", "bark", "run"},
                                       {"owl", "hoot", "hunt"},
                                       {"frog", "croak", "jump"}};
  std::vector<Words> nodes(1);
  for (const Animal& animal : animals)
    for (const bool singular : {true, false}) {
      const std::size_t preposition = nodes.size(), noun = preposition + 1, verb = preposition + 2;
      const std::string verb_end = singular ? "s\n" : "\n";
      nodes[0].push_back({"the " + animal.name + (singular ? " " : "s "), 1.0 / 8, preposition});
      nodes.push_back(equally_likely({"in the ", "on the ", "by the ", "near the "}, noun));
      nodes.push_back(equally_likely({"barn ", "hill ", "river ", "garden "}, verb));
      nodes.push_back(
          {{animal.frequent_verb + verb_end, 0.75, 0}, {animal.rare_verb + verb_end, 0.25, 0}});
    }
  return MarkovSource::from_words(nodes);
}

// After the letters x and y (a = 0, b = 1, c = 2), the source is in state 3 x + y. The table below
// has a row for each state: the probabilities that the next letter is a, b or c.
MarkovSource chain_source() {
  const double probabilities[9][3] = {
      {0.1, 0.1, 0.8}, {0.1, 0.3, 0.6}, {0.8, 0.1, 0.1},   // states aa, ab, ac
      {0.4, 0.1, 0.5}, {0.1, 0.8, 0.1}, {0.2, 0.2, 0.6},   // states ba, bb, bc
      {0.8, 0.1, 0.1}, {0.2, 0.7, 0.1}, {0.1, 0.3, 0.6}};  // states ca, cb, cc
  std::vector<MarkovSource::State> states(9);
  for (std::size_t s = 0; s < 9; ++s)
    for (std::size_t z = 0; z < 3; ++z)
      states[s].letters.push_back({"abc"[z], probabilities[s][z], s % 3 * 3 + z});
  return MarkovSource(std::move(states));
}

MarkovSource built_in_source(std::string_view kind) {
  if (kind == "grammar") return grammar_source();
  if (kind == "chain") return chain_source();
  throw_error("source: there is no built-in source ", in_quotes(kind), "; use grammar or chain");
}

}  // namespace HEED_NAMESPACE
