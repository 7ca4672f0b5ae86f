// markov_entropy.cpp: the stationary distribution and the entropies of a Markov source.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "heed/base/error.hpp"
#include "heed/study/markov_source.hpp"

namespace HEED_NAMESPACE {
namespace {

using States = std::vector<MarkovSource::State>;

// The posterior probability of each state that is possible after the letters read so far.
using Posterior = std::map<std::size_t, double>;

// Compares posteriors rounded to 12 decimals, so that rounding errors do not create new map keys.
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

// All posterior distributions over the states that are possible after k letters, each with the
// total probability of the texts that lead to it.
using Posteriors = std::map<Posterior, double, LessUpToRounding>;
constexpr std::size_t max_posteriors = 100000;

double total(const Posterior& probabilities) {
  double sum = 0;
  for (const auto& entry : probabilities) sum += entry.second;
  return sum;
}

// The joint probabilities of the next letter and the state after that letter.
std::map<char, Posterior> next_letters(const States& states, const Posterior& posterior) {
  std::map<char, Posterior> joint;
  for (const auto& [s, state_probability] : posterior)
    for (const MarkovSource::Letter& letter : states[s].letters)
      if (const double p = state_probability * letter.probability; p > 0)  // p can underflow to 0
        joint[letter.letter][letter.next] += p;
  return joint;
}

// The entropy of the next letter in nats, averaged over the posteriors.
double next_letter_entropy(const States& states, const Posteriors& posteriors) {
  double entropy = 0;
  for (const auto& [posterior, weight] : posteriors)
    for (const auto& entry : next_letters(states, posterior)) {
      const double p = total(entry.second);
      entropy -= weight * p * std::log(p);
    }
  return entropy;
}

// Updates the posteriors by Bayes' rule for one more letter, letter number `count`. All texts
// that determine the same state have the same posterior (probability 1 for this state), so the
// result has one entry for all these texts.
Posteriors after_next_letter(const States& states, const Posteriors& posteriors,
                             std::size_t count) {
  Posteriors next;
  for (const auto& [posterior, weight] : posteriors)
    for (auto& next_letter : next_letters(states, posterior)) {
      Posterior& updated = next_letter.second;
      const double p = total(updated);
      for (auto& entry : updated) entry.second /= p;
      next[updated] += weight * p;
      if (next.size() > max_posteriors)
        throw_error("source: after ", count,
                    " letters there are more than 100,000 posteriors over the states; ",
                    "ask for fewer letters");
    }
  return next;
}

}  // namespace

// The stationary distribution by the algorithm of Grassmann, Taksar and Heyman 1985, "Regenerative
// analysis and steady state distributions for Markov chains": state elimination without
// subtraction, so rounding errors stay small.
std::vector<double> MarkovSource::stationary_distribution_of(const States& states) {
  const std::size_t n = states.size();
  std::vector<std::vector<double>> transition(n, std::vector<double>(n));
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
  std::vector<double> result(n);
  result[0] = 1;
  for (std::size_t k = 1; k < n; ++k)
    for (std::size_t i = 0; i < k; ++i) result[k] += result[i] * transition[i][k];
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& probability : result) probability /= sum;
  return result;
}

std::string MarkovSource::letters() const {
  std::set<char> result;
  for (const State& state : states_)
    for (const Letter& letter : state.letters) result.insert(letter.letter);
  return {result.begin(), result.end()};
}

double MarkovSource::entropy_rate() const {
  double nats = 0;
  for (std::size_t s = 0; s < states_.size(); ++s)
    for (const Letter& letter : states_[s].letters)
      nats -= stationary_distribution_[s] * letter.probability * std::log(letter.probability);
  return nats;
}

std::vector<double> MarkovSource::conditional_entropies(std::size_t max_context) const {
  if (max_context > 1'000'000)
    throw_error("source: entropies after ", max_context, " letters; give at most 1000000");
  Posterior prior;
  for (std::size_t s = 0; s < states_.size(); ++s) prior[s] = stationary_distribution_[s];
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

}  // namespace HEED_NAMESPACE
