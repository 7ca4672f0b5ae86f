// Tests exercise 18 mask_words: the number of masked tokens in each sentence, and the 80/10/10
// frequencies over many sentences.

#include <cmath>
#include <functional>

#include "exercise.hpp"
#include "fill_in_the_blank.hpp"

using namespace heed;

Masked mask_words(const Indices& tokens, std::int64_t mask_token, std::int64_t stop,
                  std::int64_t vocabulary_size, Generator& generator);

namespace {

constexpr std::int64_t V = 12, mask_token = 3, stop = 7;  // neither the first nor the last index

// (N, T) random words, which are neither [MASK] nor full stops: 0 1 2 4 5 6 8 9 10 11.
Indices random_words(std::size_t N, std::size_t T) {
  Indices tokens = Generator(T).randint(0, V - 2, {N, T});
  for (std::int64_t& token : tokens) {
    token += token >= 3 ? 1 : 0;
    token += token >= 7 ? 1 : 0;
  }
  return tokens;
}

// N sentences of `words` random words and of full stops at the positions `stops`.
Indices sentences(std::size_t N, std::size_t words, const std::vector<std::size_t>& stops) {
  Indices tokens = random_words(N, words + stops.size());
  for (std::size_t i = 0; i < N; ++i)
    for (const std::size_t t : stops) tokens(i, t) = stop;
  return tokens;
}

// Seven sentences of twelve words and two full stops, which are elsewhere in each.
Indices moving_stops() {
  Indices tokens = random_words(7, 14);
  for (std::size_t i = 0; i < 7; ++i) tokens(i, i) = tokens(i, i + 7) = stop;
  return tokens;
}

// Five sentences of 20, 12, 8, 3 and 0 words, with full stops to their end.
const std::vector<std::size_t> words_of_padded = {20, 12, 8, 3, 0};
Indices padded() {
  Indices tokens = random_words(5, 20);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t t = words_of_padded[i]; t < 20; ++t) tokens(i, t) = stop;
  return tokens;
}

bool chosen(const Masked& m, std::size_t i, std::size_t t) { return m.targets(i, t) != -100; }

bool shapes_fit(const Masked& m, const Indices& tokens) {
  return m.seen.shape() == tokens.shape() && m.targets.shape() == tokens.shape();
}

std::string position(std::size_t i, std::size_t t) {
  return "sentence " + std::to_string(i) + ", word " + std::to_string(t);
}

// The first message that wrong(n, t) returns, with its position.
using Complaint = std::function<std::string(std::size_t i, std::size_t t)>;
std::string first_wrong(const Indices& tokens, const Complaint& wrong) {
  for (std::size_t i = 0; i < tokens.shape(0); ++i)
    for (std::size_t t = 0; t < tokens.shape(1); ++t) {
      const std::string found = wrong(i, t);
      if (!found.empty()) return position(i, t) + ": " + found;
    }
  return "";
}

// The message if all words are chosen, or none: then the other checks would pass, but test nothing.
std::string all_or_none(const Masked& m, bool expects_some) {
  std::size_t count = 0;
  for (const std::int64_t target : m.targets) count += target != -100 ? 1 : 0;
  if (count == m.targets.size()) return "every word is chosen, no target is -100";
  return count == 0 && expects_some ? "no word is chosen, every target is -100" : "";
}

void expect_nothing(const std::string& what, const std::string& wrong) {
  expect(what, wrong.empty(), wrong);
}

std::string wrong_number(const Masked& m, const std::vector<std::size_t>& wanted) {
  for (std::size_t i = 0; i < m.targets.shape(0); ++i) {
    std::size_t count = 0;
    for (std::size_t t = 0; t < m.targets.shape(1); ++t) count += chosen(m, i, t) ? 1 : 0;
    if (count != wanted[i])
      return "sentence " + std::to_string(i) + ": expected " + std::to_string(wanted[i]) +
             ", got " + std::to_string(count);
  }
  return "";
}

// The properties that do not depend on the random numbers. `wanted`: the number of words to choose
// in each sentence.
void judge(const std::string& name, const Indices& tokens, const std::vector<std::size_t>& wanted) {
  const bool expects_some = wanted[0] > 0;
  Generator generator(1), again(1), other(2);
  const Masked m = mask_words(tokens, mask_token, stop, V, generator);
  expect(name + ": seen and targets have the shape of tokens", shapes_fit(m, tokens),
         "they do not");
  if (!shapes_fit(m, tokens)) return;
  const std::string trivial = all_or_none(m, expects_some);
  const auto expect_none = [&](const std::string& what, const Complaint& wrong) {
    expect_nothing(name + what, trivial.empty() ? first_wrong(tokens, wrong) : trivial);
  };
  expect_nothing(name + ": the number of chosen words is right", wrong_number(m, wanted));
  expect_none(": a target is the original word, or -100", [&](std::size_t i, std::size_t t) {
    const bool right = !chosen(m, i, t) || m.targets(i, t) == tokens(i, t);
    return right ? "" : "the target is " + std::to_string(m.targets(i, t));
  });
  expect_none(": no full stop is chosen", [&](std::size_t i, std::size_t t) {
    return tokens(i, t) == stop && chosen(m, i, t) ? "a full stop" : "";
  });
  expect_none(": words that are not chosen do not change", [&](std::size_t i, std::size_t t) {
    const bool right = chosen(m, i, t) || m.seen(i, t) == tokens(i, t);
    return right ? "" : "changed";
  });
  const Masked twin = mask_words(tokens, mask_token, stop, V, again);
  expect(name + ": the same generator gives the same choice",
         trivial.empty() && twin.seen == m.seen && twin.targets == m.targets,
         trivial.empty() ? "another choice" : trivial);
  if (!expects_some) return;
  const Masked others = mask_words(tokens, mask_token, stop, V, other);
  expect(name + ": another generator gives another choice", others.targets != m.targets,
         "the same words are chosen");
}

void judge(const std::string& name, const Indices& tokens, std::size_t wanted) {
  judge(name, tokens, std::vector<std::size_t>(tokens.shape(0), wanted));
}

// Expects count / trials to be within five standard errors of the probability p.
void expect_fraction(const std::string& what, double count, double trials, double p) {
  const double fraction = trials > 0 ? count / trials : 0;
  const bool near = trials > 0 && std::abs(fraction - p) <= 5 * std::sqrt(p * (1 - p) / trials);
  expect(what, near, "expected about " + decimal(p, 4) + ", got " + decimal(fraction, 4));
}

// Checks the fraction that is furthest from p.
void expect_fractions(const std::string& what, const std::vector<double>& counts, double trials,
                      double p) {
  double worst = counts.at(0);
  for (const double count : counts)
    if (std::abs(count - trials * p) > std::abs(worst - trials * p)) worst = count;
  expect_fraction(what, worst, trials, p);
}

// Fractions in 60,000 sentences of 20 words, of which 3 are chosen.
void judge_positions(const Indices& tokens, const Masked& m) {
  const std::size_t N = tokens.shape(0), T = tokens.shape(1);
  std::vector<double> at, pairs;
  for (std::size_t t = 0; t < T; ++t) {
    double here = 0, with_next = 0;
    for (std::size_t i = 0; i < N; ++i) {
      here += chosen(m, i, t) ? 1 : 0;
      with_next += t + 1 < T && chosen(m, i, t) && chosen(m, i, t + 1) ? 1 : 0;
    }
    if (tokens(0, t) != stop) at.push_back(here);
    if (t + 1 < T && tokens(0, t) != stop && tokens(0, t + 1) != stop) pairs.push_back(with_next);
  }
  expect_fractions("each of 20 words is chosen in 3 of 20 sentences", at, double(N), 3.0 / 20);
  expect_fractions("two neighbours are chosen together in 6 of 380", pairs, double(N), 6.0 / 380);
}

void judge_actions(const Indices& tokens, const Masked& m) {
  double all = 0, hidden = 0, replaced = 0, forbidden = 0, two = 0, both = 0;
  std::vector<double> by(std::size_t(V), 0);
  for (std::size_t i = 0; i < tokens.shape(0); ++i) {
    std::vector<bool> masks;
    for (std::size_t t = 0; t < tokens.shape(1); ++t) {
      if (!chosen(m, i, t)) continue;
      const std::int64_t seen = m.seen(i, t);
      all += 1, masks.push_back(seen == mask_token);
      if (seen == mask_token) hidden += 1;
      forbidden += seen == stop || seen < 0 || seen >= V ? 1 : 0;
      if (seen == mask_token || seen == tokens(i, t) || seen < 0 || seen >= V) continue;
      replaced += 1, by[std::size_t(seen)] += 1;
    }
    if (masks.size() < 2) continue;
    two += 1, both += masks[0] && masks[1] ? 1 : 0;
  }
  expect_fraction("80 % of the chosen become [MASK]", hidden, all, 0.8);
  expect("none becomes a full stop or a number outside the vocabulary", forbidden == 0,
         decimal(forbidden, 0) + " do");
  // A word drawn uniformly from ten equals the original with probability 1/10.
  expect_fraction("9 % become another word", replaced, all, 0.09);
  expect_fraction("of two chosen words of a sentence, both are [MASK] in 64 %", both, two, 0.64);
  by.erase(by.begin() + stop);
  by.erase(by.begin() + mask_token);
  expect_fractions("each of ten words is drawn equally often", by, replaced, 0.1);
}

}  // namespace

int main() {
  judge("3 words and a full stop", sentences(6, 3, {3}), 1);
  judge("8 words and a full stop", sentences(6, 8, {8}), 1);
  judge("12 words, a full stop first", sentences(6, 12, {0}), 2);
  judge("20 words, full stops first, last and between", sentences(6, 20, {0, 9, 10, 22, 23}), 3);
  judge("40 words", sentences(6, 40, {}), 6);
  judge("60 words, of which 15 % are 9", sentences(6, 60, {}), 9);
  judge("12 words, full stops elsewhere in each sentence", moving_stops(), 2);
  judge("20, 12, 8, 3 and no words", padded(), {3, 2, 1, 1, 0});
  judge("full stops alone", sentences(2, 0, {0, 1, 2}), 0);
  const Indices tokens = sentences(60000, 20, {3, 11});
  Generator generator(3);
  const Masked m = mask_words(tokens, mask_token, stop, V, generator);
  if (shapes_fit(m, tokens)) judge_positions(tokens, m), judge_actions(tokens, m);
  return verdict();
}
