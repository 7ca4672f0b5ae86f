// built_in_sources.cpp: Markov sources built from words, and the grammar and chain sources.

#include <cmath>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"

namespace HEED_NAMESPACE {
namespace {

using Words = std::vector<MarkovSource::Word>;

// A node of a prefix tree: the words with one common prefix.
struct PrefixNode {
  std::size_t state;
  std::size_t prefix_length;
  Words words;
};

double probability_of(const Words& words) {
  double sum = 0;
  for (const MarkovSource::Word& word : words) sum += word.probability;
  return sum;
}

void check_word(std::size_t node, const MarkovSource::Word& word, std::size_t num_nodes) {
  if (word.text.empty()) throw_error("source: node ", node, ": a word is empty; give its letters");
  if (!(word.probability > 0))
    throw_error("source: node ", node, ": the probability of ", in_quotes(word.text), " is ",
                word.probability, "; give one above 0, or leave the word out");
  if (word.next >= num_nodes)
    throw_error("source: node ", node, ": the next node of ", in_quotes(word.text), " is ",
                word.next, "; give one below ", num_nodes);
}

void check_node(std::size_t node, const Words& words, std::size_t num_nodes) {
  for (const MarkovSource::Word& word : words) check_word(node, word, num_nodes);
  for (const MarkovSource::Word& word : words)
    for (const MarkovSource::Word& other : words)
      if (&word != &other && other.text.compare(0, word.text.size(), word.text) == 0)
        throw_error("source: node ", node, ": ", in_quotes(word.text), " is a prefix of ",
                    in_quotes(other.text),
                    ", so its letters do not determine the next node; end words with a space");
  const double sum = probability_of(words);
  if (!(std::abs(sum - 1) <= 1e-9))
    throw_error("source: node ", node, ": the probabilities sum to ", sum, "; they must sum to 1");
}

// Adds the next letters of the words to the state of `prefix`. A letter that ends a word leads to
// the word's next node, any other letter to a new state, which is appended to `pending`.
void add_letters(const PrefixNode& prefix, std::vector<MarkovSource::State>& states,
                 std::vector<PrefixNode>& pending) {
  const double total = probability_of(prefix.words);
  std::string added;
  for (const MarkovSource::Word& word : prefix.words) {
    const char letter = word.text[prefix.prefix_length];
    if (added.find(letter) != added.npos) continue;
    added += letter;
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

struct Animal {
  std::string name, frequent_verb, rare_verb;  // probabilities 3/4 and 1/4
};

}  // namespace

MarkovSource MarkovSource::from_words(const std::vector<std::vector<Word>>& nodes) {
  std::vector<State> states(nodes.size());
  std::vector<PrefixNode> pending;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    check_node(node, nodes[node], nodes.size());
    pending.push_back({node, 0, nodes[node]});
  }
  while (!pending.empty()) {
    const PrefixNode prefix = std::move(pending.back());
    pending.pop_back();
    add_letters(prefix, states, pending);
  }
  return MarkovSource(std::move(states));
}

// A sentence begins at node 0. Each of the eight subjects has three nodes (preposition, noun and
// verb), so that the node determines the subject until the verb.
MarkovSource grammar_source() {
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

// After the letters x y the state is 3 x + y. Row 3 x + y: the probabilities of a, b and c.
MarkovSource chain_source() {
  const double probabilities[9][3] = {
      {0.1, 0.1, 0.8}, {0.1, 0.3, 0.6}, {0.8, 0.1, 0.1},   // aa, ab, ac
      {0.4, 0.1, 0.5}, {0.1, 0.8, 0.1}, {0.2, 0.2, 0.6},   // ba, bb, bc
      {0.8, 0.1, 0.1}, {0.2, 0.7, 0.1}, {0.1, 0.3, 0.6}};  // ca, cb, cc
  std::vector<MarkovSource::State> states(9);
  for (std::size_t s = 0; s < 9; ++s)
    for (std::size_t z = 0; z < 3; ++z)
      states[s].letters.push_back({"abc"[z], probabilities[s][z], s % 3 * 3 + z});
  return MarkovSource(std::move(states));
}

MarkovSource built_in_source(std::string_view kind) {
  if (kind == "grammar") return grammar_source();
  if (kind == "chain") return chain_source();
  throw_error("source: there is no kind ", in_quotes(kind), "; use grammar or chain");
}

}  // namespace HEED_NAMESPACE
