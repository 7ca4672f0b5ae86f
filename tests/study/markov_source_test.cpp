// markov_source_test.cpp: entropies of Markov sources by hand and of drawn texts; error messages.

#include "heed/study/markov_source.hpp"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/base/error.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using heed::test::close;
using heed::test::message_of;
using States = std::vector<MarkovSource::State>;

double entropy_term(double p) { return -p * std::log(p); }
double binary_entropy(double p) { return entropy_term(p) + entropy_term(1 - p); }

// A source that never writes b after b.
const States no_bb = {{{{'a', 0.5, 0}, {'b', 0.5, 1}}}, {{{'a', 1, 0}}}};
// The even process: runs of b have even length.
const States even_process = {{{{'a', 0.5, 0}, {'b', 0.5, 1}}}, {{{'b', 1, 0}}}};

// The entropy of a text of `letters` letters from a random position, in nats, from the
// probabilities of all such texts. The probability of a text is a sum over the states that it may
// begin in.
double block_entropy(const MarkovSource& source, std::size_t letters) {
  std::map<std::string, std::vector<double>> texts = {{"", source.stationary_distribution()}};
  for (std::size_t i = 0; i < letters; ++i) {
    std::map<std::string, std::vector<double>> longer;
    for (const auto& [text, p] : texts)
      for (std::size_t s = 0; s < p.size(); ++s)
        for (const MarkovSource::Letter& letter : source.states()[s].letters) {
          auto& next = longer[text + letter.letter];
          next.resize(p.size());
          next[letter.next] += p[s] * letter.probability;
        }
    texts = longer;
  }
  double nats = 0;
  for (const auto& entry : texts) {
    double p = 0;
    for (const double state_probability : entry.second) p += state_probability;
    if (p > 0) nats += entropy_term(p);
  }
  return nats;
}

// The empirical entropy of a letter of the text given the k letters before it.
double empirical_entropy(const std::string& text, std::size_t k) {
  std::map<std::string, double> shorter, longer;
  const std::size_t n = text.size() - k;
  for (std::size_t i = 0; i < n; ++i) {
    shorter[text.substr(i, k)] += 1.0 / static_cast<double>(n);
    longer[text.substr(i, k + 1)] += 1.0 / static_cast<double>(n);
  }
  double nats = 0;
  for (const auto& entry : longer) nats += entropy_term(entry.second);
  for (const auto& entry : shorter) nats -= entropy_term(entry.second);
  return nats;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("a fair coin has entropy ln 2 after any number of throws", "[study][source]") {
  const MarkovSource source({{{{'h', 0.5, 0}, {'t', 0.5, 0}}}});
  CHECK(close(source.entropy_rate(), std::log(2.0), 1e-15));
  for (const double entropy : source.conditional_entropies(5))
    CHECK(close(entropy, std::log(2.0), 1e-15));
  CHECK(source.letters() == "ht");
}

TEST_CASE("a source that repeats ab has entropy 0 after one letter", "[study][source]") {
  const MarkovSource source({{{{'a', 1, 1}}}, {{{'b', 1, 0}}}});
  CHECK(source.entropy_rate() == 0);
  CHECK(close(source.unigram_entropy(), std::log(2.0), 1e-15));
  CHECK(close(source.bigram_entropy(), 0, 1e-15));
  Generator generator(1);
  CHECK(source.draw(7, generator) == "abababa");
}

TEST_CASE("stationary distribution and entropies match values by hand", "[study][source]") {
  const MarkovSource source(no_bb);  // p_0 = p_0 / 2 + p_1, so p_0 = 2/3
  CHECK(close(source.stationary_distribution()[0], 2.0 / 3, 1e-15));
  CHECK(close(source.stationary_distribution()[1], 1.0 / 3, 1e-15));
  CHECK(close(source.entropy_rate(), 2.0 / 3 * std::log(2.0), 1e-15));
  CHECK(close(source.unigram_entropy(), binary_entropy(1.0 / 3), 1e-15));  // p(b) = 1/3
  CHECK(close(source.bigram_entropy(), source.entropy_rate(), 1e-15));
}

TEST_CASE("conditional entropies stay above the entropy rate if no context determines the state",
          "[study][source]") {
  const MarkovSource source(even_process);
  const double pairs = 3 * entropy_term(1.0 / 6) + entropy_term(0.5);  // aa, ab, ba; bb
  CHECK(close(source.entropy_rate(), 2.0 / 3 * std::log(2.0), 1e-15));
  CHECK(close(source.unigram_entropy(), binary_entropy(1.0 / 3), 1e-14));
  CHECK(close(source.bigram_entropy(), pairs - binary_entropy(1.0 / 3), 1e-14));
  const std::vector<double> entropies = source.conditional_entropies(12);
  for (std::size_t k = 0; k < 12; ++k) CHECK(entropies[k + 1] < entropies[k]);
  CHECK(entropies[12] > source.entropy_rate() + 1e-4);
}

TEST_CASE("conditional entropies are differences of block entropies", "[study][source]") {
  for (const MarkovSource& source :
       {MarkovSource(no_bb), MarkovSource(even_process), chain_source()}) {
    const std::vector<double> entropies = source.conditional_entropies(7);
    for (std::size_t k = 0; k <= 7; ++k)
      CHECK(close(entropies[k], block_entropy(source, k + 1) - block_entropy(source, k), 1e-12));
  }
}

TEST_CASE("posteriors that differ by less than a thousandth are not merged", "[study][source]") {
  // After c, a text gives only slight hints at the state: 'a' is a little more likely in state 1.
  const MarkovSource source({{{{'a', 0.3, 0}, {'b', 0.69, 0}, {'c', 0.01, 1}}},
                             {{{'a', 0.301, 1}, {'b', 0.689, 1}, {'c', 0.01, 0}}}});
  const std::vector<double> entropies = source.conditional_entropies(7);
  for (std::size_t k = 0; k <= 7; ++k)
    CHECK(close(entropies[k], block_entropy(source, k + 1) - block_entropy(source, k), 1e-12));
}

TEST_CASE("a source with unequal probabilities matches values by hand", "[study][source]") {
  // p_0 q = p_1 r, so p_0 / p_1 = r / q.
  const double q = 0.3, r = 0.05;
  const MarkovSource source({{{{'x', 1 - q, 0}, {'y', q, 1}}}, {{{'x', r, 0}, {'y', 1 - r, 1}}}});
  CHECK(close(source.stationary_distribution()[1], q / (q + r), 1e-15));
  const double rate = (r * binary_entropy(q) + q * binary_entropy(r)) / (q + r);
  CHECK(close(source.entropy_rate(), rate, 1e-15));
}

TEST_CASE("the grammar's entropy rate is sentence entropy / mean length", "[study][source]") {
  const MarkovSource source = grammar_source();
  // subject, preposition, noun, verb
  const double nats = std::log(8.0) + std::log(4.0) + std::log(4.0) + binary_entropy(0.25);
  const double subject = 4 + (3 + 3 + 3 + 4) / 4.0 + 0.5 + 1;  // the, name, half an s, space
  const double location = (3 + 3 + 3 + 5) / 4.0 + 4 + (5 + 5 + 6 + 7) / 4.0;
  const double frequent = (4 + 4 + 4 + 5) / 4.0, rare = (5 + 3 + 4 + 4) / 4.0;
  const double verb = 0.75 * frequent + 0.25 * rare + 0.5 + 1;
  CHECK(close(source.entropy_rate(), nats / (subject + location + verb), 1e-12));
  CHECK(close(source.stationary_distribution()[0], 1 / (subject + location + verb), 1e-12));
}

TEST_CASE("the sum over all 256 sentences gives the grammar's entropy rate", "[study][source]") {
  const MarkovSource source = grammar_source();
  struct Prefix {
    std::size_t state;
    double p, length;
  };
  std::vector<Prefix> pending = {{0, 1, 0}};
  double nats = 0, length = 0, sentences = 0;
  while (!pending.empty()) {
    const Prefix prefix = pending.back();
    pending.pop_back();
    for (const MarkovSource::Letter& letter : source.states()[prefix.state].letters) {
      const Prefix next = {letter.next, prefix.p * letter.probability, prefix.length + 1};
      if (letter.letter != '\n') {
        pending.push_back(next);
        continue;
      }
      CHECK(letter.next == 0);
      nats += entropy_term(next.p), length += next.p * next.length, sentences += 1;
    }
  }
  CHECK(sentences == 256);
  CHECK(close(source.entropy_rate(), nats / length, 1e-12));
}

TEST_CASE("only a long context comes near the grammar's entropy rate", "[study][source]") {
  const MarkovSource source = grammar_source();
  const std::vector<double> entropies = source.conditional_entropies(48);
  CHECK(entropies[0] > 2 * entropies[1]);
  CHECK(entropies[1] > 4 * entropies[13]);
  CHECK(entropies[5] - entropies[13] < 1e-12);  // eight more letters without information
  CHECK(entropies[13] > 1.3 * source.entropy_rate());
  CHECK(close(entropies[28], source.entropy_rate(), 1e-12));  // a whole sentence
  for (std::size_t k = 0; k < 48; ++k) CHECK(entropies[k + 1] <= entropies[k] + 1e-14);
}

TEST_CASE("two letters determine the state of the chain, one letter does not", "[study][source]") {
  const std::vector<double> entropies = chain_source().conditional_entropies(3);
  CHECK(close(entropies[2], chain_source().entropy_rate(), 1e-14));
  CHECK(entropies[1] > 1.2 * entropies[2]);
  CHECK(entropies[0] > 1.2 * entropies[1]);
}

TEST_CASE("window_entropy is the mean of conditional entropies", "[study][source]") {
  const MarkovSource source(even_process);
  const std::vector<double> entropies = source.conditional_entropies(3);
  CHECK(source.window_entropy(1) == entropies[1]);
  CHECK(close(source.window_entropy(3), (entropies[1] + entropies[2] + entropies[3]) / 3, 1e-15));
  CHECK(message_of([&] { source.window_entropy(0); }) ==
        "source: window_entropy: letters is 0; give at least 1");
  CHECK(message_of([&] { source.window_entropy(static_cast<std::size_t>(-1)); }) ==
        "source: entropies after -1 letters; give at most 1000000");
}

TEST_CASE("conditional_entropies rejects more than 100,000 posteriors", "[study][source]") {
  const States states = {{{{'a', 0.5, 0}, {'b', 0.3, 1}, {'c', 0.2, 2}}},
                         {{{'a', 0.2, 2}, {'b', 0.1, 0}, {'c', 0.7, 1}}},
                         {{{'a', 0.31, 1}, {'b', 0.6, 2}, {'c', 0.09, 0}}}};
  const MarkovSource source(states);
  CHECK(source.conditional_entropies(6)[6] < source.conditional_entropies(6)[0]);
  const std::string rest =
      " letters there are more than 100,000 posteriors over the states; ask for fewer letters";
  const std::string error = message_of([&] { source.window_entropy(64); });
  INFO(error);
  CHECK(error.find("source: after 1") == 0);  // 3^11 is the first power above 100,000
  CHECK(error.find(rest) != error.npos);
}

TEST_CASE("posteriors that differ only by rounding are merged", "[study][source]") {
  States states(3);  // the same letters in each state; every letter leads to the next state
  for (std::size_t s = 0; s < 3; ++s)
    states[s].letters = {{'a', 0.1, (s + 1) % 3}, {'b', 0.7, (s + 1) % 3}, {'c', 0.2, (s + 1) % 3}};
  for (const double entropy : MarkovSource(states).conditional_entropies(64))
    CHECK(close(entropy, MarkovSource(states).entropy_rate(), 1e-12));
}

TEST_CASE("conditional entropies stay finite when a posterior underflows", "[study][source]") {
  const MarkovSource source(
      {{{{'a', 0.999, 0}, {'b', 0.001, 1}}}, {{{'a', 0.001, 1}, {'c', 0.999, 0}}}});
  const std::vector<double> entropies = source.conditional_entropies(150);
  for (std::size_t k = 0; k < 150; ++k) CHECK(entropies[k + 1] <= entropies[k] + 1e-13);
  CHECK(close(entropies[150], source.entropy_rate(), 1e-6));
}

TEST_CASE("the empirical entropies of a long text are those of its source", "[study][source]") {
  for (const char* kind : {"grammar", "chain"}) {
    const MarkovSource source = built_in_source(kind);
    Generator generator(3);
    const std::string text = source.draw(400000, generator);
    CHECK(close(empirical_entropy(text, 0), source.unigram_entropy(), 0.003));
    CHECK(close(empirical_entropy(text, 1), source.bigram_entropy(), 0.003));
    CHECK(close(mean(source.negative_log_likelihoods(text)), source.entropy_rate(), 0.003));
  }
}

TEST_CASE("the seed determines the text, drawn at once or in pieces", "[study][source]") {
  const MarkovSource source = grammar_source();
  Generator one(1), other(2), pieces(1);
  const std::string text = source.draw(10000, one);
  CHECK(text.substr(0, 57) == "the owls on the river hunt\nthe dogs near the hill bark\nth");
  CHECK(text.size() == 10000);
  CHECK(source.draw(10000, other) != text);
  std::size_t state = 0;
  std::string joined;
  for (const std::size_t size : {1u, 0u, 4095u, 4097u, 1807u})
    joined += source.draw(size, pieces, state);
  CHECK(joined == text);
  CHECK(one.state() == pieces.state());
}

TEST_CASE("negative_log_likelihoods are -ln of each letter's probability", "[study][source]") {
  const std::vector<double> nats = MarkovSource(no_bb).negative_log_likelihoods("aba");
  CHECK(nats.size() == 3);
  CHECK(close(nats[0], std::log(2.0), 1e-15));
  CHECK(close(nats[1], std::log(2.0), 1e-15));
  CHECK(nats[2] == 0);
}

TEST_CASE("words with a common prefix share its states", "[study][source]") {
  const MarkovSource source = MarkovSource::from_words(
      {{{"cat ", 0.5, 0}, {"cats ", 0.25, 0}, {"cow ", 0.25, 1}}, {{"moos ", 1, 0}}});
  const double nats = 0.5 * std::log(2.0) + 2 * 0.25 * std::log(4.0);
  const double length = 0.5 * 4 + 0.25 * 5 + 0.25 * (4 + 5);
  CHECK(close(source.entropy_rate(), nats / length, 1e-14));
  const std::vector<double> nats_of_letters = source.negative_log_likelihoods("cats cow moos ");
  CHECK(close(nats_of_letters[0], 0, 1e-15));
  CHECK(close(nats_of_letters[1], -std::log(0.75), 1e-15));         // a, not o
  CHECK(close(nats_of_letters[3], -std::log(0.25 / 0.75), 1e-15));  // s, not a space
  CHECK(close(nats_of_letters[6], -std::log(0.25), 1e-15));
}

TEST_CASE("MarkovSource rejects invalid states and names the state", "[study][source]") {
  const auto error_of = [](const States& states) {
    return message_of([&] { MarkovSource source(states); });
  };
  CHECK(error_of({}) == "source: there is no state; give at least one");
  CHECK(error_of({{{{'a', 0.5, 0}, {'b', 0.4, 0}}}}) ==
        "source: state 0: the probabilities sum to 0.9; they must sum to 1");
  CHECK(error_of({{}}) == "source: state 0: the probabilities sum to 0; they must sum to 1");
  CHECK(error_of({{{{'a', 0.5, 0}, {'a', 0.5, 0}}}}) ==
        "source: state 0: 'a' has two transitions, so the next state is ambiguous; give one");
  CHECK(error_of({{{{'a', 1.5, 0}, {'b', -0.5, 0}}}}) ==
        "source: state 0: the probability of 'b' is -0.5; give one above 0, or leave the letter "
        "out");
  CHECK(error_of({{{{'a', 1, 0}, {'\n', 0, 0}}}}) ==
        "source: state 0: the probability of '\\n' is 0; give one above 0, or leave the letter "
        "out");
  CHECK(error_of({{{{'a', test::not_a_number, 0}}}}) ==
        "source: state 0: the probability of 'a' is nan; give one above 0, or leave the letter "
        "out");
  CHECK(error_of({{{{'a', 1, 3}}}}) ==
        "source: state 0: the next state of 'a' is 3; give one below 1");
  CHECK(error_of({{{{'\xe9', 1, 0}}}}) ==
        "source: state 0: byte 233 is not ASCII; give ASCII letters");
  CHECK(error_of({{{{'a', 1, 0}}}, {{{'b', 1, 0}}}}) ==
        "source: state 1 cannot be reached from state 0; leave it out");
  CHECK(error_of({{{{'a', 0.5, 0}, {'b', 0.5, 1}}}, {{{'b', 1, 1}}}}) ==
        "source: state 0 cannot be reached from state 1, so the stationary distribution is not "
        "unique; add a path back");
}

TEST_CASE("from_words rejects invalid words and names the node", "[study][source]") {
  using Words = std::vector<std::vector<MarkovSource::Word>>;
  const auto error_of = [](const Words& words) {
    return message_of([&] { MarkovSource::from_words(words); });
  };
  CHECK(error_of({{{"cat", 0.5, 0}, {"cats", 0.5, 0}}}) ==
        "source: node 0: 'cat' is a prefix of 'cats', so a text does not determine the next "
        "node of the grammar; end words with a space");
  CHECK(error_of({{{"cat", 0.5, 0}, {"cat", 0.5, 0}}}) ==
        "source: node 0: 'cat' is a prefix of 'cat', so a text does not determine the next node of "
        "the grammar; end words with a space");
  CHECK(error_of({{{"", 1, 0}}}) ==
        "source: node 0: a word is empty; it needs at least one letter");
  CHECK(error_of({{{"a", 1, 0}, {"b", 0, 0}}}) ==
        "source: node 0: the probability of 'b' is 0; give one above 0, or leave the word out");
  CHECK(error_of({{{"a", 1, 1}}}) == "source: node 0: the next node of 'a' is 1; give one below 1");
  CHECK(error_of({{{"a", 0.5, 0}, {"b", 0.4, 0}}}) ==
        "source: node 0: the probabilities sum to 0.9; they must sum to 1");
  CHECK(error_of({}) == "source: there is no state; give at least one");
}

TEST_CASE("errors are one line: control characters are escaped", "[study][source]") {
  const auto error_of = [](const std::vector<MarkovSource::Word>& words) {
    return message_of([&] { MarkovSource::from_words({words}); });
  };
  CHECK(error_of({{"a\n", 0.5, 0}, {"a\nb", 0.5, 0}}) ==
        R"(source: node 0: 'a\n' is a prefix of 'a\nb', so a text does not determine the next )"
        "node of the grammar; end words with a space");
  CHECK(error_of({{"\n", 0, 0}}) ==
        R"(source: node 0: the probability of '\n' is 0; give one above 0, or leave the word out)");
  CHECK(error_of({{"\n", 1, 1}}) ==
        R"(source: node 0: the next node of '\n' is 1; give one below 1)");
  CHECK(message_of([] {
          MarkovSource({{{{'\x1b', 1, 3}}}});
        }) == R"(source: state 0: the next state of '\x1b' is 3; give one below 1)");
  CHECK(message_of([] { built_in_source("a\nb"); }) ==
        R"(source: there is no built-in source 'a\nb'; use grammar or chain)");
}

TEST_CASE("negative_log_likelihoods quotes a UTF-8 character as a whole", "[study][source]") {
  const auto error_of = [](const char* text) {
    return message_of([&] { MarkovSource(no_bb).negative_log_likelihoods(text); });
  };
  const std::string rest = ", has probability 0 in state 0; give a text drawn from this source";
  CHECK(error_of("a\xc3\xa9") == "source: letter 1 of the text, '\xc3\xa9'" + rest);
  CHECK(error_of("a\xc3") == R"(source: letter 1 of the text, '\xc3')" + rest);
}

TEST_CASE("impossible letters, unknown kinds and unknown states are rejected", "[study][source]") {
  const MarkovSource source(no_bb);
  CHECK(message_of([&] { source.negative_log_likelihoods("abb"); }) ==
        "source: letter 2 of the text, 'b', has probability 0 in state 1; give a text drawn from "
        "this source");
  CHECK(message_of([] { built_in_source("novel"); }) ==
        "source: there is no built-in source 'novel'; use grammar or chain");
  Generator generator(1);
  std::size_t state = 2;
  CHECK(message_of([&] { source.draw(1, generator, state); }) ==
        "source: the first state is 2; give one below 2");
}

TEST_CASE("a text of a built-in source is recognized, another one is not", "[study][source]") {
  Generator generator(3);
  for (const char* kind : {"grammar", "chain"}) {
    const MarkovSource source = built_in_source(kind);
    const auto found = source_of_text(source.draw(2000, generator));
    REQUIRE(found.has_value());
    CHECK(found->entropy_rate() == source.entropy_rate());
    CHECK(!source_of_text(source.draw(100, generator)));
  }
  std::string cycle;
  while (cycle.size() < 3000) cycle += "abc";  // possible for the chain, but not likely
  CHECK(!source_of_text(cycle));
  CHECK(!source_of_text(""));
  CHECK(!source_of_text(std::string(1000, 'x')));
}
