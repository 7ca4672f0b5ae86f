// markov_source_test.cpp: a source's entropies are those one gets by hand, and its texts have them.

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

double surprise(double p) { return -p * std::log(p); }
double coin(double p) { return surprise(p) + surprise(1 - p); }

// No b after a b.
const States no_bb = {{{{'a', 0.5, 0}, {'b', 0.5, 1}}}, {{{'a', 1, 0}}}};
// Every b has a partner: b come in runs of even length.
const States even = {{{{'a', 0.5, 0}, {'b', 0.5, 1}}}, {{{'b', 1, 0}}}};

// The entropy of a letter given the k before it, from the probabilities of all texts of k + 1
// letters and of k letters; each text's is a sum over the states it may begin in.
double entropy_of_texts(const MarkovSource& source, std::size_t letters) {
  std::map<std::string, std::vector<double>> texts = {{"", source.shares()}};
  for (std::size_t i = 0; i < letters; ++i) {
    std::map<std::string, std::vector<double>> longer;
    for (const auto& [text, at] : texts)
      for (std::size_t s = 0; s < at.size(); ++s)
        for (const MarkovSource::Letter& letter : source.states()[s].letters) {
          auto& next = longer[text + letter.letter];
          next.resize(at.size());
          next[letter.next] += at[s] * letter.probability;
        }
    texts = longer;
  }
  double nats = 0;
  for (const auto& entry : texts) {
    double p = 0;
    for (const double at : entry.second) p += at;
    if (p > 0) nats += surprise(p);
  }
  return nats;
}

// The same of the letters that a text really has.
double measured(const std::string& text, std::size_t k) {
  std::map<std::string, double> shorter, longer;
  const std::size_t n = text.size() - k;
  for (std::size_t i = 0; i < n; ++i) {
    shorter[text.substr(i, k)] += 1.0 / static_cast<double>(n);
    longer[text.substr(i, k + 1)] += 1.0 / static_cast<double>(n);
  }
  double nats = 0;
  for (const auto& entry : longer) nats += surprise(entry.second);
  for (const auto& entry : shorter) nats -= surprise(entry.second);
  return nats;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("a coin has ln 2 nats, however many throws were seen", "[study][source]") {
  const MarkovSource source({{{{'h', 0.5, 0}, {'t', 0.5, 0}}}});
  CHECK(close(source.entropy(), std::log(2.0), 1e-15));
  for (const double floor : source.floors(5)) CHECK(close(floor, std::log(2.0), 1e-15));
  CHECK(source.letters() == "ht");
}

TEST_CASE("a source that writes ab for ever has no entropy once a letter is seen",
          "[study][source]") {
  const MarkovSource source({{{{'a', 1, 1}}}, {{{'b', 1, 0}}}});
  CHECK(source.entropy() == 0);
  CHECK(close(source.unigram(), std::log(2.0), 1e-15));
  CHECK(close(source.bigram(), 0, 1e-15));
  Generator generator(1);
  CHECK(source.draw(7, generator) == "abababa");
}

TEST_CASE("shares of time, entropy and floors are those by hand", "[study][source]") {
  const MarkovSource source(no_bb);  // p_0 = p_0 / 2 + p_1, so p_0 = 2/3
  CHECK(close(source.shares()[0], 2.0 / 3, 1e-15));
  CHECK(close(source.shares()[1], 1.0 / 3, 1e-15));
  CHECK(close(source.entropy(), 2.0 / 3 * std::log(2.0), 1e-15));
  CHECK(close(source.unigram(), coin(1.0 / 3), 1e-15));  // a third of the letters are b
  CHECK(close(source.bigram(), source.entropy(), 1e-15));
}

TEST_CASE("where no number of letters tells the state, floors fall and never arrive",
          "[study][source]") {
  const MarkovSource source(even);
  const double pairs = 3 * surprise(1.0 / 6) + surprise(0.5);  // aa, ab, ba; bb
  CHECK(close(source.entropy(), 2.0 / 3 * std::log(2.0), 1e-15));
  CHECK(close(source.unigram(), coin(1.0 / 3), 1e-14));
  CHECK(close(source.bigram(), pairs - coin(1.0 / 3), 1e-14));
  const std::vector<double> floors = source.floors(12);
  for (std::size_t k = 0; k + 1 < floors.size(); ++k) CHECK(floors[k + 1] < floors[k]);
  CHECK(floors[12] > source.entropy() + 1e-4);
}

TEST_CASE("floors are what the probabilities of all texts of a length give", "[study][source]") {
  for (const MarkovSource& source : {MarkovSource(no_bb), MarkovSource(even), chain_source()}) {
    const std::vector<double> floors = source.floors(7);
    for (std::size_t k = 0; k <= 7; ++k)
      CHECK(close(floors[k], entropy_of_texts(source, k + 1) - entropy_of_texts(source, k), 1e-12));
  }
}

TEST_CASE("probabilities that differ give the shares and entropy by hand", "[study][source]") {
  // p_0 q = p_1 r, so the shares are as r to q.
  const double q = 0.3, r = 0.05;
  const MarkovSource source({{{{'x', 1 - q, 0}, {'y', q, 1}}}, {{{'x', r, 0}, {'y', 1 - r, 1}}}});
  CHECK(close(source.shares()[1], q / (q + r), 1e-15));
  CHECK(close(source.entropy(), (r * coin(q) + q * coin(r)) / (q + r), 1e-15));
}

TEST_CASE("a sentence's entropy over its mean length is the grammar's entropy", "[study][source]") {
  const MarkovSource source = grammar_source();
  // who and how many, preposition, place, verb
  const double nats = std::log(8.0) + std::log(4.0) + std::log(4.0) + coin(0.25);
  const double subject = 4 + (3 + 3 + 3 + 4) / 4.0 + 0.5 + 1;  // the, name, half an s, space
  const double place = (3 + 3 + 3 + 5) / 4.0 + 4 + (5 + 5 + 6 + 7) / 4.0;
  const double often = (4 + 4 + 4 + 5) / 4.0, seldom = (5 + 3 + 4 + 4) / 4.0;
  const double verb = 0.75 * often + 0.25 * seldom + 0.5 + 1;
  CHECK(close(source.entropy(), nats / (subject + place + verb), 1e-12));
  CHECK(close(source.shares()[0], 1 / (subject + place + verb), 1e-12));
}

TEST_CASE("the sum over all 256 sentences gives the same entropy", "[study][source]") {
  const MarkovSource source = grammar_source();
  struct Written {
    std::size_t state;
    double p, length;
  };
  std::vector<Written> open = {{0, 1, 0}};
  double nats = 0, length = 0, sentences = 0;
  while (!open.empty()) {
    const Written here = open.back();
    open.pop_back();
    for (const MarkovSource::Letter& letter : source.states()[here.state].letters) {
      const Written next = {letter.next, here.p * letter.probability, here.length + 1};
      if (letter.letter != '\n') {
        open.push_back(next);
        continue;
      }
      CHECK(letter.next == 0);
      nats += surprise(next.p), length += next.p * next.length, sentences += 1;
    }
  }
  CHECK(sentences == 256);
  CHECK(close(source.entropy(), nats / length, 1e-12));
}

TEST_CASE("only who looks far back comes near the grammar's entropy", "[study][source]") {
  const MarkovSource source = grammar_source();
  const std::vector<double> floors = source.floors(48);
  CHECK(floors[0] > 2 * floors[1]);
  CHECK(floors[1] > 4 * floors[13]);
  CHECK(floors[5] - floors[13] < 1e-12);  // eight letters more that tell nothing
  CHECK(floors[13] > 1.3 * source.entropy());
  CHECK(close(floors[28], source.entropy(), 1e-12));  // a whole sentence
  for (std::size_t k = 0; k < 48; ++k) CHECK(floors[k + 1] <= floors[k] + 1e-14);
}

TEST_CASE("two letters tell all there is to know of the chain, one does not", "[study][source]") {
  const std::vector<double> floors = chain_source().floors(3);
  CHECK(close(floors[2], chain_source().entropy(), 1e-14));
  CHECK(floors[1] > 1.2 * floors[2]);
  CHECK(floors[0] > 1.2 * floors[1]);
}

TEST_CASE("the floor of a window is the mean of its places' floors", "[study][source]") {
  const MarkovSource source(even);
  const std::vector<double> floors = source.floors(3);
  CHECK(source.window_entropy(1) == floors[1]);
  CHECK(close(source.window_entropy(3), (floors[1] + floors[2] + floors[3]) / 3, 1e-15));
  CHECK(message_of([&] { source.window_entropy(0); }) ==
        "source: a window of 0 letters has no floor; give at least 1");
}

TEST_CASE("floors that would take for ever are refused", "[study][source]") {
  const States states = {{{{'a', 0.5, 0}, {'b', 0.3, 1}, {'c', 0.2, 2}}},  // any, wherever it is
                         {{{'a', 0.2, 2}, {'b', 0.1, 0}, {'c', 0.7, 1}}},
                         {{{'a', 0.31, 1}, {'b', 0.6, 2}, {'c', 0.09, 0}}}};
  const MarkovSource source(states);
  CHECK(source.floors(6)[6] < source.floors(6)[0]);
  const std::string rest =
      " letters read there are more than 100,000 things a reader may think; ask for fewer letters";
  const std::string said = message_of([&] { source.window_entropy(64); });
  INFO(said);
  CHECK(said.find("source: after 1") == 0);  // 3^11 is the first power above 100,000
  CHECK(said.find(rest) != said.npos);
}

TEST_CASE("what only rounding tells apart is thought once", "[study][source]") {
  States states(3);  // the letters are thrown, whatever the state; it moves on at each
  for (std::size_t s = 0; s < 3; ++s)
    states[s].letters = {{'a', 0.1, (s + 1) % 3}, {'b', 0.7, (s + 1) % 3}, {'c', 0.2, (s + 1) % 3}};
  for (const double floor : MarkovSource(states).floors(64))
    CHECK(close(floor, MarkovSource(states).entropy(), 1e-12));
}

TEST_CASE("a letter that has become all but impossible leaves the floors numbers",
          "[study][source]") {
  const MarkovSource source(
      {{{{'a', 0.999, 0}, {'b', 0.001, 1}}}, {{{'a', 0.001, 1}, {'c', 0.999, 0}}}});
  const std::vector<double> floors = source.floors(150);
  for (std::size_t k = 0; k < 150; ++k) CHECK(floors[k + 1] <= floors[k] + 1e-13);
  CHECK(close(floors[150], source.entropy(), 1e-6));
}

TEST_CASE("a long text has the entropies that its source should", "[study][source]") {
  for (const char* kind : {"grammar", "chain"}) {
    const MarkovSource source = built_in_source(kind);
    Generator generator(3);
    const std::string text = source.draw(400000, generator);
    CHECK(close(measured(text, 0), source.unigram(), 0.003));
    CHECK(close(measured(text, 1), source.bigram(), 0.003));
    CHECK(close(mean(source.negative_log_likelihoods(text)), source.entropy(), 0.003));
  }
}

TEST_CASE("a seed gives its text, at once or in pieces", "[study][source]") {
  const MarkovSource source = grammar_source();
  Generator one(1), other(2), pieces(1);
  const std::string text = source.draw(10000, one);
  CHECK(text.substr(0, 57) == "the owls on the river hunt\nthe dogs near the hill bark\nth");
  CHECK(text.size() == 10000);
  CHECK(source.draw(10000, other) != text);
  std::size_t state = 0;
  std::string joined;
  for (const std::size_t size : {1, 0, 4095, 4097, 1807})
    joined += source.draw(size, pieces, state);
  CHECK(joined == text);
  CHECK(one.state() == pieces.state());
}

TEST_CASE("each letter's surprise is -ln of its probability where it comes", "[study][source]") {
  const std::vector<double> nats = MarkovSource(no_bb).negative_log_likelihoods("aba");
  CHECK(nats.size() == 3);
  CHECK(close(nats[0], std::log(2.0), 1e-15));
  CHECK(close(nats[1], std::log(2.0), 1e-15));
  CHECK(nats[2] == 0);
}

TEST_CASE("words that begin alike share their letters", "[study][source]") {
  const MarkovSource source = MarkovSource::from_words(
      {{{"cat ", 0.5, 0}, {"cats ", 0.25, 0}, {"cow ", 0.25, 1}}, {{"moos ", 1, 0}}});
  const double nats = 0.5 * std::log(2.0) + 2 * 0.25 * std::log(4.0);
  const double length = 0.5 * 4 + 0.25 * 5 + 0.25 * (4 + 5);
  CHECK(close(source.entropy(), nats / length, 1e-14));
  const std::vector<double> seen = source.negative_log_likelihoods("cats cow moos ");
  CHECK(close(seen[0], 0, 1e-15));
  CHECK(close(seen[1], -std::log(0.75), 1e-15));         // a, not o
  CHECK(close(seen[3], -std::log(0.25 / 0.75), 1e-15));  // s, not a space
  CHECK(close(seen[6], -std::log(0.25), 1e-15));
}

TEST_CASE("a source that is none is refused, and the state named", "[study][source]") {
  const auto said = [](const States& states) {
    return message_of([&] { MarkovSource source(states); });
  };
  CHECK(said({}) == "source: there is no state; give at least one");
  CHECK(said({{{{'a', 0.5, 0}, {'b', 0.4, 0}}}}) ==
        "source: state 0: the probabilities sum to 0.9; they must sum to 1");
  CHECK(said({{}}) == "source: state 0: the probabilities sum to 0; they must sum to 1");
  CHECK(said({{{{'a', 0.5, 0}, {'a', 0.5, 0}}}}) ==
        "source: state 0: 'a' is there twice, so reading it would not tell the next state");
  CHECK(said({{{{'a', 1.5, 0}, {'b', -0.5, 0}}}}) ==
        "source: state 0: the probability of 'b' is -0.5; give one above 0, or leave the letter "
        "out");
  CHECK(said({{{{'a', 1, 0}, {'\n', 0, 0}}}}) ==
        "source: state 0: the probability of '\\n' is 0; give one above 0, or leave the letter "
        "out");
  CHECK(said({{{{'a', test::not_a_number, 0}}}}) ==
        "source: state 0: the probability of 'a' is nan; give one above 0, or leave the letter "
        "out");
  CHECK(said({{{{'a', 1, 3}}}}) == "source: state 0: 'a' leads to state 3, and there are 1");
  CHECK(said({{{{'\xe9', 1, 0}}}}) == "source: state 0: byte 233 is not ASCII; give ASCII letters");
  CHECK(said({{{{'a', 1, 0}}}, {{{'b', 1, 0}}}}) ==
        "source: state 1 is never reached from state 0; leave it out");
  CHECK(said({{{{'a', 0.5, 0}, {'b', 0.5, 1}}}, {{{'b', 1, 1}}}}) ==
        "source: from state 1 there is no way back to state 0, so the states have no one share of "
        "time; give it one");
}

TEST_CASE("words that would leave two places to choose from are refused", "[study][source]") {
  using Words = std::vector<std::vector<MarkovSource::Word>>;
  const auto said = [](const Words& words) {
    return message_of([&] { MarkovSource::from_words(words); });
  };
  CHECK(said({{{"cat", 0.5, 0}, {"cats", 0.5, 0}}}) ==
        "source: place 0: 'cat' begins 'cats' too, so reading it would not tell the next place; "
        "end words with a space");
  CHECK(said({{{"cat", 0.5, 0}, {"cat", 0.5, 0}}}) ==
        "source: place 0: 'cat' begins 'cat' too, so reading it would not tell the next place; "
        "end words with a space");
  CHECK(said({{{"", 1, 0}}}) == "source: place 0: a word is empty; give its letters");
  CHECK(said({{{"a", 1, 0}, {"b", 0, 0}}}) ==
        "source: place 0: the probability of 'b' is 0; give one above 0, or leave the word out");
  CHECK(said({{{"a", 1, 1}}}) == "source: place 0: 'a' leads to place 1, and there are 1");
  CHECK(said({{{"a", 0.5, 0}, {"b", 0.4, 0}}}) ==
        "source: place 0: the probabilities sum to 0.9; they must sum to 1");
  CHECK(said({}) == "source: there is no state; give at least one");
}

TEST_CASE("what a source refuses is told on one line", "[study][source]") {
  const auto said = [](const std::vector<MarkovSource::Word>& words) {
    return message_of([&] { MarkovSource::from_words({words}); });
  };
  CHECK(said({{"a\n", 0.5, 0}, {"a\nb", 0.5, 0}}) ==
        R"(source: place 0: 'a\n' begins 'a\nb' too, so reading it would not tell the next place; )"
        "end words with a space");
  CHECK(
      said({{"\n", 0, 0}}) ==
      R"(source: place 0: the probability of '\n' is 0; give one above 0, or leave the word out)");
  CHECK(said({{"\n", 1, 1}}) == R"(source: place 0: '\n' leads to place 1, and there are 1)");
  CHECK(message_of([] {
          MarkovSource({{{{'\x1b', 1, 3}}}});
        }) == R"(source: state 0: '\x1b' leads to state 3, and there are 1)");
  CHECK(message_of([] { built_in_source("a\nb"); }) ==
        R"(source: there is no kind 'a\nb'; use grammar or chain)");
}

TEST_CASE("a character of a text that no source wrote is quoted whole", "[study][source]") {
  const auto said = [](const char* text) {
    return message_of([&] { MarkovSource(no_bb).negative_log_likelihoods(text); });
  };
  const std::string rest = ", can not come in state 0; give a text that this source wrote";
  CHECK(said("a\xc3\xa9") == "source: letter 1 of the text, '\xc3\xa9'" + rest);
  CHECK(said("a\xc3") == R"(source: letter 1 of the text, '\xc3')" + rest);
}

TEST_CASE("what a source can not have written, and unknown kinds, are refused", "[study][source]") {
  const MarkovSource source(no_bb);
  CHECK(message_of([&] { source.negative_log_likelihoods("abb"); }) ==
        "source: letter 2 of the text, 'b', can not come in state 1; give a text that this source "
        "wrote");
  CHECK(message_of([] { built_in_source("novel"); }) ==
        "source: there is no kind 'novel'; use grammar or chain");
  Generator generator(1);
  std::size_t state = 2;
  CHECK(message_of([&] { source.draw(1, generator, state); }) ==
        "source: there is no state 2 to begin in; there are 2");
}
