// text_findings.cpp: findings about the training text: another encoding than expected, and
// validation data that is unlike the training data, or a copy of it.

#include <algorithm>
#include <unordered_set>

#include "commands/doctor/families.hpp"
#include "commands/doctor/ngrams.hpp"
#include "commands/terminal.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

using Tokens = std::vector<std::int64_t>;

// The validation data should be about as hard to predict as parts of the training data.
void compare_parts(const ExaminedRun& run, Findings& findings) {
  if (run.part_losses.empty()) return;
  const auto [low, high] = std::minmax_element(run.part_losses.begin(), run.part_losses.end());
  const double lowest = *low, highest = *high;
  const double loss =
      run.curve
          ? run.curve->bigram
          : NGrams(run.training, 1, run.model->vocabulary.size()).cross_entropy(run.validation);
  if (loss < highest + std::max(0.15 * highest, highest - lowest)) return;
  findings.push_back(
      {"validation text unlike the training text",
       "pairs of tokens counted in the training data predict the last tenth, the validation data, "
       "with " +
           decimal(loss, 4) +
           " nats per token, but parts of the training data, counted "
           "without them, with " +
           decimal(lowest, 4) + " to " + decimal(highest, 4),
       "tail -c " +
           std::to_string(run.text->corpus->text().size() -
                          run.text->corpus->training_text().size()) +
           " " + shell_path(run.text->path) + " | head"});
}

// The part of the validation data's sequences of `length` tokens that the training data has too.
double part_contained(const ExaminedRun& run, std::size_t length) {
  const auto hashes = [&](const Tokens& tokens, const auto& visit) {
    // A rolling hash (Karp and Rabin 1987), modulo 2^64.
    constexpr std::uint64_t base = 0x9e3779b97f4a7c15;
    std::uint64_t hash = 0, power = 1;
    for (std::size_t i = 0; i < length; ++i) power *= base;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      hash = hash * base + static_cast<std::uint64_t>(tokens[i]) + 1;
      if (i >= length) hash -= power * (static_cast<std::uint64_t>(tokens[i - length]) + 1);
      if (i + 1 >= length) visit(hash);
    }
  };
  std::unordered_set<std::uint64_t> known;
  hashes(run.training, [&](std::uint64_t hash) { known.insert(hash); });
  std::size_t all = 0, found = 0;
  hashes(run.validation, [&](std::uint64_t hash) {
    ++all;
    found += known.count(hash);
  });
  return all == 0 ? 0 : static_cast<double>(found) / static_cast<double>(all);
}

void find_copies(const ExaminedRun& run, Findings& findings) {
  constexpr std::size_t length = 100;
  const double part = part_contained(run, length);
  if (part < 0.5) return;
  const std::string percent = decimal(100 * part, 0) + " %";
  findings.push_back(
      {"leak",
       percent + " of the validation data's sequences of " + std::to_string(length) +
           " tokens are in the training data too: the validation loss says how well "
           "the model remembers them",
       run.curve ? "sort " + shell_path(run.text->path) + " | uniq -cd | sort -rn | head" : ""});
}

}  // namespace

Findings text_findings(const ExaminedRun& run) {
  Findings findings;
  if (!run.text) return findings;
  for (const TrainingText::Problem& problem : run.text->encoding_problems())
    findings.push_back({"text not what it seems", problem.what, problem.remedy});
  find_copies(run, findings);
  compare_parts(run, findings);
  return findings;
}

}  // namespace heed::app
