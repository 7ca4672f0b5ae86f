// context_findings.cpp: findings about what the model sees when it predicts a token: the token
// itself (a leak), or nothing but the token before it.

#include <algorithm>
#include <cmath>

#include "commands/doctor/families.hpp"
#include "commands/doctor/ngrams.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

// A smaller change of an output, relative to its largest value, is no more than rounding.
constexpr double least_change = 1e-3;

// The output of the last block (B, T, C).
Tensor hidden(const nn::Gpt& model, const Indices& tokens) {
  Tensor x = model.embed(tokens);
  for (const nn::Block& block : model.blocks) x = block(x, model.attention_mask());
  return x;
}

// The windows (B, T) with other tokens at the positions from `begin` to `end`.
Indices with_other_tokens(const ExaminedRun& run, Indices windows, std::size_t begin,
                          std::size_t end) {
  const auto V = static_cast<std::int64_t>(run.model->vocabulary.size());
  for (std::size_t b = 0; b < windows.shape()[0]; ++b)
    for (std::size_t t = begin; t < end; ++t) windows(b, t) = (windows(b, t) + 1) % V;
  return windows;
}

// By how much the outputs at the positions from `begin` to `end` change if the windows (B, T) do,
// relative to the largest of their values; NaN if one is not finite, or if all are zero.
double change_of_output(const ExaminedRun& run, const Indices& windows, const Indices& changed,
                        std::size_t begin, std::size_t end) {
  const Array before = hidden(run.model->model, windows).value(),
              after = hidden(run.model->model, changed).value();
  double change = 0, largest = 0;
  const std::size_t T = before.shape()[1], C = before.shape()[2];
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t t = i / C % T;
    if (t < begin || t >= end) continue;
    const auto x = static_cast<double>(before.data()[i]), y = static_cast<double>(after.data()[i]);
    if (!std::isfinite(x) || !std::isfinite(y)) return NAN;
    largest = std::max(largest, std::abs(x));
    change = std::max(change, std::abs(x - y));
  }
  return largest > 0 ? change / largest : NAN;
}

void find_leak(const ExaminedRun& run, const Indices& windows, Findings& findings) {
  const std::size_t last = windows.shape()[1] - 1;
  const Indices changed = with_other_tokens(run, windows, last, last + 1);
  if (const double change = change_of_output(run, windows, changed, 0, last); change > least_change)
    return findings.push_back({"leak",
                               "the output at earlier positions changes by " +
                                   significant(100 * change, 2) +
                                   " % of its largest value when the last token changes: the model "
                                   "sees the token that it must predict",
                               "./heed test -R nn"});
  if (!run.curve || !(run.curve->final_loss() < 0.7 * run.curve->bigram)) return;
  constexpr std::size_t order = 12;
  const double bound =
      NGrams(run.training, order, run.model->vocabulary.size()).cross_entropy(run.validation);
  if (run.curve->final_loss() > 0.25 * bound) return;
  findings.push_back({"leak",
                      "the validation loss is " + decimal(run.curve->final_loss(), 4) + " after " +
                          std::to_string(run.curve->rows.back().step) +
                          " steps, less than a quarter of " + decimal(bound, 4) + ", which the " +
                          std::to_string(order) +
                          " tokens before give when counted in the training data: it is too low to "
                          "be learned from the context",
                      "./heed sample " + run.curve->run + " --temperature 0.8"});
}

void find_unused_context(const ExaminedRun& run, const Indices& windows, Findings& findings) {
  if (run.model->model.config.block_size == 1)
    return findings.push_back(
        {"context unused",
         "--block-size 1: the model sees one token, so it can learn no more "
         "than the frequencies of pairs of tokens" +
             (run.curve ? ", which give " + decimal(run.curve->bigram, 4) + "; its loss is " +
                              decimal(run.curve->final_loss(), 4)
                        : std::string()),
         run.curve ? run.curve->again({{"--block-size", "64"}}) : ""});
  const std::size_t last = windows.shape()[1] - 1;
  if (last == 0 || run.model->vocabulary.size() < 2) return;
  const double change =
      change_of_output(run, windows, with_other_tokens(run, windows, 0, last), last, last + 1);
  if (!(change <= least_change)) return;
  findings.push_back(
      {"context unused",
       "the output at the last position changes by " + significant(100 * change, 2) +
           " % of its largest value when all tokens before it change: the model sees "
           "one token, so it can learn no more than the frequencies of pairs",
       "./heed look " + run.folder.path.string()});
}

}  // namespace

Indices validation_windows(const ExaminedRun& run, std::size_t windows, std::size_t length) {
  if (!run.text || run.validation.empty()) return Indices::from_shape({0, 0});
  const std::size_t T =
      std::min({length, run.model->model.config.block_size, run.validation.size() - 1});
  const std::size_t B = T == 0 ? 0 : std::min(windows, (run.validation.size() - 1) / T);
  Indices result = Indices::from_shape({B, T});
  std::copy_n(run.validation.begin(), B * T, result.begin());
  return result;
}

Findings context_findings(const ExaminedRun& run) {
  Findings findings;
  const Indices windows = validation_windows(run, 128, 64);
  if (windows.size() == 0 || !run.model->model.config.causal) return findings;
  const NoGrad no_grad;
  find_leak(run, windows, findings);
  find_unused_context(run, windows, findings);
  return findings;
}

}  // namespace heed::app
