// context_findings.cpp: findings about what the model uses to predict a token: the token itself (a
// leak), or nothing but the token before it.

#include <algorithm>
#include <cmath>

#include "commands/doctor/families.hpp"
#include "commands/doctor/ngrams.hpp"
#include "heed/array/random.hpp"
#include "heed/base/text.hpp"
#include "heed/ops/shape.hpp"

namespace heed::app {
namespace {

// The output of the last block (B, T, C).
Tensor hidden(const nn::Gpt& model, const Indices& tokens) {
  Tensor x = model.embed(tokens);
  for (const nn::Block& block : model.blocks) x = block(x, model.attention_mask());
  return x;
}

// -ln p of the target (B) of the last token of each window (B, T).
std::vector<double> last_losses(const nn::Gpt& model, const Indices& tokens,
                                const std::vector<std::int64_t>& targets) {
  const auto T = static_cast<std::int64_t>(tokens.shape()[1]);
  const Tensor logits = model.logits(slice(hidden(model, tokens), 1, T - 1, T));  // (B, 1, V)
  std::vector<double> losses;
  const std::size_t V = model.config.vocab_size;
  for (std::size_t b = 0; b < targets.size(); ++b) {
    const Real* const row = logits.value().data() + b * V;
    const auto largest = static_cast<double>(*std::max_element(row, row + V));
    double sum = 0;
    for (std::size_t v = 0; v < V; ++v) sum += std::exp(static_cast<double>(row[v]) - largest);
    losses.push_back(std::log(sum) + largest -
                     static_cast<double>(row[static_cast<std::size_t>(targets[b])]));
  }
  return losses;
}

// Whether an output depends on later tokens: by how much it changes, relative to its largest value.
double change_by_later_token(const ExaminedRun& run, const Indices& windows) {
  const std::size_t T = windows.shape()[1];
  if (T < 2) return 0;
  Indices changed = windows;
  for (std::size_t b = 0; b < windows.shape()[0]; ++b)
    changed(b, T - 1) =
        (windows(b, T - 1) + 1) % static_cast<std::int64_t>(run.model->vocabulary.size());
  const Array before = hidden(run.model->model, windows).value(),
              after = hidden(run.model->model, changed).value();
  double change = 0, largest = 0;
  const std::size_t C = before.shape()[2];
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i / C % T == T - 1) continue;
    const auto x = static_cast<double>(before.data()[i]), y = static_cast<double>(after.data()[i]);
    largest = std::max(largest, std::abs(x));
    change = std::max(change, std::abs(x - y));
  }
  return largest > 0 ? change / largest : 0;
}

void find_leak(const ExaminedRun& run, const Indices& windows, Findings& findings) {
  if (const double change = change_by_later_token(run, windows); change > 1e-3)
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

// The tokens before the last one, of the window after it: an unrelated context.
Indices with_other_context(const Indices& windows) {
  Indices other = windows;
  const std::size_t B = windows.shape()[0], T = windows.shape()[1];
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t + 1 < T; ++t) other(b, t) = windows((b + B / 2) % B, t);
  return other;
}

// Whether the loss has been about that of a bigram model for half of the run. A model learns pairs
// of tokens first, and the use of its context after them.
bool stays_at_bigrams(const ExaminedRun& run) {
  if (!run.curve) return false;
  const auto is_near = [&](double loss) { return std::abs(loss / run.curve->bigram - 1) < 0.05; };
  return is_near(run.curve->final_loss()) && is_near(run.curve->training_loss(0.45, 0.55));
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
  const std::size_t B = windows.shape()[0], T = windows.shape()[1];
  if (B < 8 || T < 2 || !stays_at_bigrams(run)) return;
  // Without a text whose longer contexts say more than pairs, there is nothing to use.
  const double trigram =
      NGrams(run.training, 2, run.model->vocabulary.size()).cross_entropy(run.validation);
  if (trigram > 0.9 * run.curve->bigram) return;
  std::vector<std::int64_t> targets;
  for (std::size_t b = 0; b < B; ++b) targets.push_back(run.validation[(b + 1) * T]);
  const std::vector<double> with = last_losses(run.model->model, windows, targets),
                            without =
                                last_losses(run.model->model, with_other_context(windows), targets);
  double gain = 0, squares = 0;
  for (std::size_t b = 0; b < B; ++b) {
    gain += (without[b] - with[b]) / static_cast<double>(B);
    squares += (without[b] - with[b]) * (without[b] - with[b]) / static_cast<double>(B);
  }
  const double error = std::sqrt(squares / static_cast<double>(B));
  if (gain + 2 * error > 0.02) return;
  findings.push_back(
      {"context unused",
       "with the earlier tokens of another window in place of its own, the loss of the last token "
       "rises by " +
           decimal(gain, 4) + " (standard error " + decimal(error, 4) + "); the loss is " +
           decimal(run.curve->final_loss(), 4) + ", pairs of tokens give " +
           decimal(run.curve->bigram, 4) + ", and triples " + decimal(trigram, 4),
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
