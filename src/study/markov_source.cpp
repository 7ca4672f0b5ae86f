// markov_source.cpp: stationary distribution, entropies, sampling and likelihood of a source.

#include "heed/study/markov_source.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {
namespace {

using States = std::vector<MarkovSource::State>;
using Probabilities = std::vector<double>;

std::string quoted_letter(char letter) { return heed::in_quotes(std::string_view(&letter, 1)); }

void check_letter(const States& states, std::size_t s, const MarkovSource::Letter& letter) {
  const auto code = static_cast<unsigned char>(letter.letter);
  if (code >= 0x80)
    throw_error("source: state ", s, ": byte ", int{code}, " is not ASCII; give ASCII letters");
  if (!(letter.probability > 0))
    throw_error("source: state ", s, ": the probability of ", quoted_letter(letter.letter), " is ",
                letter.probability, "; give one above 0, or leave the letter out");
  if (letter.next >= states.size())
    throw_error("source: state ", s, ": the next state of ", quoted_letter(letter.letter), " is ",
                letter.next, "; give one below ", states.size());
}

void check_state(const States& states, std::size_t s) {
  double sum = 0;
  std::string checked_letters;
  for (const MarkovSource::Letter& letter : states[s].letters) {
    check_letter(states, s, letter);
    if (checked_letters.find(letter.letter) != checked_letters.npos)
      throw_error("source: state ", s, ": ", quoted_letter(letter.letter),
                  " occurs twice, so it does not determine the next state; give it once");
    checked_letters += letter.letter;
    sum += letter.probability;
  }
  if (!(std::abs(sum - 1) <= 1e-9))
    throw_error("source: state ", s, ": the probabilities sum to ", sum, "; they must sum to 1");
}

// Whether each state is reachable from state 0; `successors[s]` are the states one step from s.
std::vector<bool> reachable(const std::vector<std::vector<std::size_t>>& successors) {
  std::vector<bool> result(successors.size());
  std::vector<std::size_t> pending = {0};
  result[0] = true;
  while (!pending.empty()) {
    const std::size_t s = pending.back();
    pending.pop_back();
    for (const std::size_t t : successors[s]) {
      if (!result[t]) pending.push_back(t);
      result[t] = true;
    }
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
  for (std::size_t s = 0; s < states.size(); ++s) check_state(states, s);
  check_connected(states);
  for (MarkovSource::State& state : states) {  // sums differ from 1 by rounding
    double sum = 0;
    for (const MarkovSource::Letter& letter : state.letters) sum += letter.probability;
    for (MarkovSource::Letter& letter : state.letters) letter.probability /= sum;
  }
  return states;
}

// The stationary distribution by the algorithm of Grassmann, Taksar and Heyman 1985, "Regenerative
// analysis and steady state distributions for Markov chains": state elimination without
// subtraction, so rounding errors stay small.
Probabilities stationary_distribution_of(const States& states) {
  const std::size_t n = states.size();
  std::vector<Probabilities> transition(n, Probabilities(n));
  for (std::size_t s = 0; s < n; ++s)
    for (const MarkovSource::Letter& letter : states[s].letters)
      transition[s][letter.next] += letter.probability;
  for (std::size_t k = n - 1; k > 0; --k) {
    double leaving = 0;
    for (std::size_t j = 0; j < k; ++j) leaving += transition[k][j];
    for (std::size_t i = 0; i < k; ++i) {
      transition[i][k] /= leaving;
      if (transition[i][k] == 0) continue;
      for (std::size_t j = 0; j < k; ++j) transition[i][j] += transition[i][k] * transition[k][j];
    }
  }
  Probabilities result(n);
  result[0] = 1;
  for (std::size_t k = 1; k < n; ++k)
    for (std::size_t i = 0; i < k; ++i) result[k] += result[i] * transition[i][k];
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& probability : result) probability /= sum;
  return result;
}

// The posterior over states given the letters read: the possible states and their probabilities.
using Posterior = std::vector<std::pair<std::size_t, double>>;

// Posteriors that are equal up to rounding compare as equal, so a map keeps only the first of them.
struct LessUpToRounding {
  static std::pair<std::size_t, double> rounded(const Posterior::value_type& entry) {
    return {entry.first, std::nearbyint(entry.second * 1e12)};
  }
  bool operator()(const Posterior& a, const Posterior& b) const {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const auto& x, const auto& y) { return rounded(x) < rounded(y); });
  }
};

// All posteriors after k letters, each with the total probability of the texts that lead to it.
using Posteriors = std::map<Posterior, double, LessUpToRounding>;
constexpr std::size_t max_posteriors = 100000;

// The possible next letters, each with its probability and the posterior after it (Bayes' rule).
std::map<char, std::pair<double, Posterior>> next_letters(const States& states,
                                                          const Posterior& posterior) {
  std::map<char, std::map<std::size_t, double>> joint;  // p(letter, next state)
  for (const auto& [s, state_probability] : posterior)
    for (const MarkovSource::Letter& letter : states[s].letters)
      if (const double p = state_probability * letter.probability; p > 0)  // p can underflow
        joint[letter.letter][letter.next] += p;
  std::map<char, std::pair<double, Posterior>> result;
  for (const auto& [letter, next] : joint) {
    double p = 0;
    for (const auto& entry : next) p += entry.second;
    Posterior updated;
    for (const auto& [t, joint_probability] : next) updated.emplace_back(t, joint_probability / p);
    result[letter] = {p, std::move(updated)};
  }
  return result;
}

// The expected entropy of the next letter, in nats.
double next_letter_entropy(const States& states, const Posteriors& posteriors) {
  double entropy = 0;
  for (const auto& [posterior, weight] : posteriors)
    for (const auto& entry : next_letters(states, posterior)) {
      const double p = entry.second.first;
      entropy -= weight * p * std::log(p);
    }
  return entropy;
}

// The posteriors after one more letter, letter number `count`. A posterior with one possible state
// is exactly 1 there, so all texts that determine the same state share one entry.
Posteriors after_next_letter(const States& states, const Posteriors& posteriors,
                             std::size_t count) {
  Posteriors next;
  for (const auto& [posterior, weight] : posteriors)
    for (const auto& entry : next_letters(states, posterior)) {
      const auto& [p, updated] = entry.second;
      next[updated] += weight * p;
      if (next.size() > max_posteriors)
        throw_error("source: after ", count,
                    " letters there are more than 100,000 posteriors over the states; ",
                    "ask for fewer letters");
    }
  return next;
}

}  // namespace

MarkovSource::MarkovSource(std::vector<State> states)
    : states_(checked(std::move(states))),
      stationary_distribution_(stationary_distribution_of(states_)) {}

std::string MarkovSource::letters() const {
  std::string result;
  for (const State& state : states_)
    for (const Letter& letter : state.letters) result += letter.letter;
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

double MarkovSource::entropy_rate() const {
  double nats = 0;
  for (std::size_t s = 0; s < states_.size(); ++s)
    for (const Letter& letter : states_[s].letters)
      nats -= stationary_distribution_[s] * letter.probability * std::log(letter.probability);
  return nats;
}

std::vector<double> MarkovSource::conditional_entropies(std::size_t max_context) const {
  Posterior prior;
  for (std::size_t s = 0; s < states_.size(); ++s)
    prior.emplace_back(s, stationary_distribution_[s]);
  Posteriors posteriors = {{prior, 1.0}};
  std::vector<double> result = {next_letter_entropy(states_, posteriors)};
  for (std::size_t k = 1; k <= max_context; ++k) {
    posteriors = after_next_letter(states_, posteriors, k);
    result.push_back(next_letter_entropy(states_, posteriors));
  }
  return result;
}

double MarkovSource::window_entropy(std::size_t letters) const {
  if (letters == 0) throw_error("source: window_entropy: letters is 0; give at least 1");
  const std::vector<double> entropies = conditional_entropies(letters);
  return std::accumulate(entropies.begin() + 1, entropies.end(), 0.0) /
         static_cast<double>(letters);
}

// Inverse transform sampling: the letter whose interval of [0, 1) contains `uniform`.
const MarkovSource::Letter& MarkovSource::pick_letter(std::size_t state, double uniform) const {
  const std::vector<Letter>& letters = states_[state].letters;
  std::size_t i = 0;
  for (; i + 1 < letters.size() && uniform >= letters[i].probability; ++i)
    uniform -= letters[i].probability;
  return letters[i];
}

std::string MarkovSource::draw(std::size_t letters, Generator& generator) const {
  std::size_t state = 0;
  return draw(letters, generator, state);
}

// Uses 53 random bits per letter, the precision of a double, so both builds draw the same text.
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
      const Letter& letter =
          pick_letter(state, static_cast<double>(bits) / static_cast<double>(range));
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
                  in_quotes(character_at(text, nats.size())), ", has probability 0 in state ",
                  state, "; give a text drawn from this source");
    nats.push_back(-std::log(found->probability));
    state = found->next;
  }
  return nats;
}

}  // namespace HEED_NAMESPACE
