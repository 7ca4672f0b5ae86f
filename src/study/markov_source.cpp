// markov_source.cpp: the shares of time of a source's states, its entropy, and texts drawn from it.

#include "heed/study/markov_source.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace heed {
namespace {

using States = std::vector<MarkovSource::State>;
using Shares = std::vector<double>;

std::string in_quotes(char letter) { return heed::in_quotes(std::string_view(&letter, 1)); }

// What begins at `at`: all bytes of a character, or the one that is there.
std::string_view character_of(std::string_view text, std::size_t at) {
  return text.substr(at, std::max(character_in(text, at).size, 1u));
}

void check_letter(const States& states, std::size_t s, const MarkovSource::Letter& letter) {
  const auto code = static_cast<unsigned char>(letter.letter);
  if (code >= 0x80)
    throw_error("source: state ", s, ": byte ", int{code}, " is not ASCII; give ASCII letters");
  if (!(letter.probability > 0))
    throw_error("source: state ", s, ": the probability of ", in_quotes(letter.letter), " is ",
                letter.probability, "; give one above 0, or leave the letter out");
  if (letter.next >= states.size())
    throw_error("source: state ", s, ": ", in_quotes(letter.letter), " leads to state ", letter.next,
                ", and there are ", states.size());
}

void check_state(const States& states, std::size_t s) {
  double sum = 0;
  std::string seen;
  for (const MarkovSource::Letter& letter : states[s].letters) {
    check_letter(states, s, letter);
    if (seen.find(letter.letter) != seen.npos)
      throw_error("source: state ", s, ": ", in_quotes(letter.letter),
                  " is there twice, so reading it would not tell the next state");
    seen += letter.letter;
    sum += letter.probability;
  }
  if (!(std::abs(sum - 1) <= 1e-9))
    throw_error("source: state ", s, ": the probabilities sum to ", sum, "; they must sum to 1");
}

// Where one can get to from state 0; `ways[s]` are the states one step from s.
std::vector<bool> reached(const std::vector<std::vector<std::size_t>>& ways) {
  std::vector<bool> result(ways.size());
  std::vector<std::size_t> open = {0};
  result[0] = true;
  while (!open.empty()) {
    const std::size_t s = open.back();
    open.pop_back();
    for (const std::size_t t : ways[s]) {
      if (!result[t]) open.push_back(t);
      result[t] = true;
    }
  }
  return result;
}

void check_connected(const States& states) {
  std::vector<std::vector<std::size_t>> forth(states.size()), back(states.size());
  for (std::size_t s = 0; s < states.size(); ++s)
    for (const MarkovSource::Letter& letter : states[s].letters) {
      forth[s].push_back(letter.next);
      back[letter.next].push_back(s);
    }
  const std::vector<bool> there = reached(forth), home = reached(back);
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (!there[s]) throw_error("source: state ", s, " is never reached from state 0; leave it out");
    if (!home[s])
      throw_error(
          "source: from state ", s,
          " there is no way back to state 0, so the states have no one share of time; give it "
          "one");
  }
}

States checked(States states) {
  if (states.empty()) throw_error("source: there is no state; give at least one");
  for (std::size_t s = 0; s < states.size(); ++s) check_state(states, s);
  check_connected(states);
  for (MarkovSource::State& state : states) {  // what decimal fractions leave over
    double sum = 0;
    for (const MarkovSource::Letter& letter : state.letters) sum += letter.probability;
    for (MarkovSource::Letter& letter : state.letters) letter.probability /= sum;
  }
  return states;
}

// One state after the other is left out, its visits made steps between those that remain; then the
// shares are put together the other way round. Nothing is subtracted, so nothing is lost to
// rounding: Grassmann, Taksar and Heyman 1985, "Regenerative analysis and steady state
// distributions for Markov chains".
Shares stationary(const States& states) {
  const std::size_t n = states.size();
  std::vector<Shares> step(n, Shares(n));
  for (std::size_t s = 0; s < n; ++s)
    for (const MarkovSource::Letter& letter : states[s].letters)
      step[s][letter.next] += letter.probability;
  for (std::size_t k = n - 1; k > 0; --k) {
    double leaving = 0;
    for (std::size_t j = 0; j < k; ++j) leaving += step[k][j];
    for (std::size_t i = 0; i < k; ++i) {
      step[i][k] /= leaving;
      if (step[i][k] == 0) continue;
      for (std::size_t j = 0; j < k; ++j) step[i][j] += step[i][k] * step[k][j];
    }
  }
  Shares shares(n);
  shares[0] = 1;
  for (std::size_t k = 1; k < n; ++k)
    for (std::size_t i = 0; i < k; ++i) shares[k] += shares[i] * step[i][k];
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

// What a reader may think: the states it can be, each with its probability. And how often that is.
using Belief = std::vector<std::pair<std::size_t, double>>;

// Beliefs that only rounding tells apart are one: the first of them stands for all.
struct Before {
  static std::pair<std::size_t, double> rounded(const Belief::value_type& entry) {
    return {entry.first, std::nearbyint(entry.second * 1e12)};
  }
  bool operator()(const Belief& a, const Belief& b) const {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const auto& x, const auto& y) { return rounded(x) < rounded(y); });
  }
};
using Beliefs = std::map<Belief, double, Before>;
constexpr std::size_t most_beliefs = 100000;

// For each letter that may come: how likely it is to come, and what a reader thinks after it.
std::map<char, std::pair<double, Belief>> after_letters(const States& states,
                                                        const Belief& belief) {
  std::map<char, std::map<std::size_t, double>> likely;
  for (const auto& [s, share] : belief)
    for (const MarkovSource::Letter& letter : states[s].letters)
      if (const double p = share * letter.probability; p > 0)  // not so small that it is lost
        likely[letter.letter][letter.next] += p;
  std::map<char, std::pair<double, Belief>> after;
  for (const auto& [letter, next] : likely) {
    double p = 0;
    for (const auto& entry : next) p += entry.second;
    Belief thought;
    for (const auto& [t, together] : next) thought.emplace_back(t, together / p);
    after[letter] = {p, std::move(thought)};
  }
  return after;
}

// The entropy of the next letter, for somebody who has read so far.
double entropy_after(const States& states, const Beliefs& beliefs) {
  double entropy = 0;
  for (const auto& [belief, weight] : beliefs)
    for (const auto& entry : after_letters(states, belief)) {
      const double p = entry.second.first;
      entropy -= weight * p * std::log(p);
    }
  return entropy;
}

// Reads one letter more, the `read`-th. Once only one state is left, its probability is 1 to the
// last bit, so all who are certain of the same state are counted together.
Beliefs read_on(const States& states, const Beliefs& beliefs, std::size_t read) {
  Beliefs next;
  for (const auto& [belief, weight] : beliefs)
    for (const auto& entry : after_letters(states, belief)) {
      const auto& [p, thought] = entry.second;
      next[thought] += weight * p;
      if (next.size() > most_beliefs)
        throw_error("source: after ", read,
                    " letters read there are more than 100,000 things a reader ",
                    "may think; ask for fewer letters");
    }
  return next;
}

}  // namespace

MarkovSource::MarkovSource(std::vector<State> states)
    : states_(checked(std::move(states))), shares_(stationary(states_)) {}

std::string MarkovSource::letters() const {
  std::string result;
  for (const State& state : states_)
    for (const Letter& letter : state.letters) result += letter.letter;
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

double MarkovSource::entropy() const {
  double nats = 0;
  for (std::size_t s = 0; s < states_.size(); ++s)
    for (const Letter& letter : states_[s].letters)
      nats -= shares_[s] * letter.probability * std::log(letter.probability);
  return nats;
}

std::vector<double> MarkovSource::floors(std::size_t most) const {
  Belief anywhere;
  for (std::size_t s = 0; s < shares_.size(); ++s) anywhere.emplace_back(s, shares_[s]);
  Beliefs beliefs = {{anywhere, 1.0}};
  std::vector<double> result = {entropy_after(states_, beliefs)};
  for (std::size_t read = 1; read <= most; ++read) {
    beliefs = read_on(states_, beliefs, read);
    result.push_back(entropy_after(states_, beliefs));
  }
  return result;
}

double MarkovSource::window_entropy(std::size_t letters) const {
  if (letters == 0) throw_error("source: a window of 0 letters has no floor; give at least 1");
  const std::vector<double> all = floors(letters);
  return std::accumulate(all.begin() + 1, all.end(), 0.0) / static_cast<double>(letters);
}

// The letter whose stretch of [0, 1) `at` falls into.
const MarkovSource::Letter& MarkovSource::drawn(std::size_t state, double at) const {
  const std::vector<Letter>& letters = states_[state].letters;
  std::size_t i = 0;
  for (; i + 1 < letters.size() && at >= letters[i].probability; ++i) at -= letters[i].probability;
  return letters[i];
}

std::string MarkovSource::draw(std::size_t letters, Generator& generator) const {
  std::size_t state = 0;
  return draw(letters, generator, state);
}

// 53 random bits a letter, as many as a double holds, in both builds.
std::string MarkovSource::draw(std::size_t letters, Generator& generator,
                               std::size_t& state) const {
  constexpr std::size_t piece = 4096;
  constexpr std::int64_t fine = std::int64_t{1} << 53;
  if (state >= states_.size())
    throw_error("source: there is no state ", state, " to begin in; there are ", states_.size());
  std::string text;
  text.reserve(letters);
  while (text.size() < letters) {
    const Indices bits = generator.randint(0, fine, {std::min(piece, letters - text.size())});
    for (const std::int64_t some : bits) {
      const Letter& letter = drawn(state, static_cast<double>(some) / static_cast<double>(fine));
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
    const std::vector<Letter>& letters = states_[state].letters;
    const auto found = std::find_if(letters.begin(), letters.end(),
                                    [c](const Letter& letter) { return letter.letter == c; });
    if (found == letters.end())
      throw_error("source: letter ", nats.size(), " of the text, ",
                  in_quotes(character_of(text, nats.size())), ", can not come in state ", state,
                  "; give a text that this source wrote");
    nats.push_back(-std::log(found->probability));
    state = found->next;
  }
  return nats;
}

}  // namespace heed
