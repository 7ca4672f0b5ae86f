// curve_findings.cpp: what the losses, learning rates and gradient norms of a run say about it.

#include "commands/curve_findings.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/text.hpp"

namespace heed::app {
namespace {

constexpr double initial_std = 0.02;  // of most weights of a GPT
// A step of AdamW changes a weight by about the learning rate: 2.5 times the initial deviation.
constexpr double extreme_rate = 2.5 * initial_std;
// A model that has learned the frequencies of tokens has a loss at most this part of their entropy.
constexpr double learned = 0.97;

std::string number(double value) { return significant(value, 3); }
std::string loss_text(double value) { return decimal(value, 4); }
std::string text(std::int64_t step) { return std::to_string(step); }

// The number of steps of which row i has the mean loss.
std::int64_t steps_of(const std::vector<LogRow>& rows, std::size_t i) {
  return rows[i].step - (i == 0 ? 0 : rows[i - 1].step);
}

bool finite(const LogRow& row) {
  return std::isfinite(row.train_loss) && std::isfinite(row.grad_norm);
}

bool is_finished(const Curve& c) { return c.options && c.rows.back().step >= c.options->steps; }

std::string compared_with_unigrams(const Curve& c) {
  return "the loss is " + loss_text(c.final_loss()) + " after " + text(c.rows.back().step) +
         " steps; knowing only the frequencies of the tokens gives " + loss_text(c.unigram);
}

// Whether the model has not even learned the frequencies of the tokens.
bool knows_little(const Curve& c) { return c.final_loss() > learned * c.unigram; }

// Whether much of what the model learned about the training data does not hold for other text:
// a gap of a fifth of the loss, and of a quarter of what training gained.
bool has_gap(const Curve& c) {
  const double training = c.training_loss(0.9, 1);
  // A text whose last tenth is harder to predict has a gap without overfitting.
  const double harder = std::max(1.0, c.bigram / c.bigram_training.value_or(c.bigram));
  const double loss = c.final_loss() / harder;
  const double begin = std::isnan(c.unigram) ? c.rows.front().train_loss : c.unigram;
  return training < 0.8 * loss && loss - training > 0.25 * (begin - training);
}

Finding high_rate_finding(const Curve& c, const std::string& evidence) {
  return {"learning rate too high",
          "--lr " + number(c.peak_rate()) + " moves each weight by up to " +
              number(c.peak_rate() / initial_std) +
              " times its initial standard deviation in one step; " + evidence,
          c.again({{"--lr", "0.001"}})};
}

}  // namespace

// ---- the curve

double Curve::peak_rate() const {
  double peak = 0;
  for (const LogRow& row : rows) peak = std::max(peak, row.learning_rate);
  return peak;
}

double Curve::mean_rate() const {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    sum += rows[i].learning_rate * static_cast<double>(steps_of(rows, i));
  return sum / static_cast<double>(rows.back().step);
}

double Curve::training_loss(double begin, double end) const {
  double sum = 0, steps = 0;
  const auto last = static_cast<double>(rows.back().step);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double at = static_cast<double>(rows[i].step) / last;
    if (at <= begin || at > end || !finite(rows[i])) continue;
    sum += rows[i].train_loss * static_cast<double>(steps_of(rows, i));
    steps += static_cast<double>(steps_of(rows, i));
  }
  return steps > 0 ? sum / steps : NAN;
}

const LogRow* Curve::best() const {
  const LogRow* best = nullptr;
  for (const LogRow& row : rows)
    if (row.val_loss && (best == nullptr || *row.val_loss < *best->val_loss)) best = &row;
  return best;
}

const LogRow* Curve::last_validated() const {
  const auto found = std::find_if(rows.rbegin(), rows.rend(),
                                  [](const LogRow& row) { return row.val_loss.has_value(); });
  return found == rows.rend() ? nullptr : &*found;
}

double Curve::final_loss() const {
  const LogRow* const row = last_validated();
  return row == nullptr ? training_loss(0.9, 1) : *row->val_loss;
}

// ---- the findings

std::optional<Finding> divergence(const Curve& c) {
  const bool extreme = c.peak_rate() >= extreme_rate;
  const auto failed = std::find_if_not(c.rows.begin(), c.rows.end(), finite);
  if (failed != c.rows.end()) {
    const std::string evidence = "in step " + text(failed->step) + ", at learning rate " +
                                 number(failed->learning_rate) +
                                 ", the loss or the gradient is not finite";
    if (extreme) return high_rate_finding(c, evidence);
    return Finding{"diverged", evidence, "./heed first " + c.run + " 'not finite'"};
  }
  const auto lowest = std::min_element(
      c.rows.begin(), c.rows.end(),
      [](const LogRow& a, const LogRow& b) { return a.train_loss < b.train_loss; });
  const double final = c.training_loss(0.9, 1), rise = final - lowest->train_loss;
  // A loss above that of a uniform guess after a lower one was not noise.
  const double begin = c.rows.front().train_loss;
  if (!(rise > 0.5 && final > 1.3 * lowest->train_loss && final > begin)) return {};
  const std::string evidence = "the training loss rose from " + loss_text(lowest->train_loss) +
                               " after step " + text(lowest->step) + " to " + loss_text(final) +
                               ", above the " + loss_text(begin) + " at its beginning";
  if (extreme) return high_rate_finding(c, evidence);
  return Finding{"diverged", evidence + ", at a learning rate of " + number(c.peak_rate()),
                 "./heed first " + c.run + " 'train_loss > 1.3 * median'"};
}

std::optional<Finding> long_warmup(const Curve& c) {
  if (!is_finished(c) || c.options->warmup < c.options->steps) return {};
  const double reached = c.rows.back().learning_rate;
  return Finding{"warm-up longer than the run",
                 "the last of " + text(c.options->steps) + " steps is within the warm-up of " +
                     text(c.options->warmup) + " steps: the learning rate reached " +
                     number(reached) + ", " + decimal(100 * reached / c.options->lr, 0) +
                     " % of --lr " + number(c.options->lr),
                 c.again({{"--warmup", text(std::max<std::int64_t>(1, c.options->steps / 20))}})};
}

std::optional<Finding> high_rate(const Curve& c) {
  if (c.peak_rate() < extreme_rate || !(c.final_loss() > 1.15 * c.bigram)) return {};
  return high_rate_finding(c, "the loss is " + loss_text(c.final_loss()) +
                                  "; knowing only the frequencies of pairs of tokens gives " +
                                  loss_text(c.bigram));
}

std::optional<Finding> low_rate(const Curve& c) {
  constexpr double lowest_rate = 1e-4;
  const double path = c.mean_rate() * static_cast<double>(c.rows.back().step);
  if (!knows_little(c) || c.mean_rate() >= lowest_rate || path >= 5 * initial_std) return {};
  const bool decays = c.peak_rate() >= lowest_rate;
  return Finding{"learning rate too low",
                 "all " + text(c.rows.back().step) + " steps together move a weight by at most " +
                     number(path) + ", the sum of the learning rates (initial standard deviation " +
                     number(initial_std) + "); " + compared_with_unigrams(c),
                 decays ? c.again({{"--decay-steps", text(c.rows.back().step)}})
                        : c.again({{"--lr", "0.001"}})};
}

std::optional<Finding> overfitting(const Curve& c) {
  const LogRow *const best = c.best(), *const last = c.last_validated();
  if (last == nullptr) return {};
  const double loss = *last->val_loss, training = c.training_loss(0.9, 1);
  const bool rises = loss > 1.03 * *best->val_loss && training < 0.9 * loss;
  if (!rises && !has_gap(c)) return {};
  std::string evidence = "the validation loss is " + loss_text(loss) + " after " +
                         text(last->step) + " steps, the training loss " + loss_text(training);
  if (loss > c.uniform)
    evidence += "; a uniform guess has " + loss_text(c.uniform) + ", which is better";
  if (best == last) {
    evidence += "; no earlier validation was lower, but the run has " +
                counted(static_cast<std::size_t>(std::count_if(
                            c.rows.begin(), c.rows.end(),
                            [](const LogRow& row) { return row.val_loss.has_value(); })),
                        "validation");
    return Finding{"overfitting", evidence,
                   c.again({{"--eval-every", text(std::max<std::int64_t>(1, last->step / 20))}})};
  }
  evidence += "; the best step was " + text(best->step) + ", with " + loss_text(*best->val_loss);
  return Finding{"overfitting", evidence, c.again({{"--steps", text(best->step)}})};
}

std::optional<Finding> constant_clipping(const Curve& c) {
  if (!c.options || c.options->clip <= 0) return {};
  std::vector<double> norms;
  for (const LogRow& row : c.rows)
    if (finite(row)) norms.push_back(row.grad_norm);
  if (norms.size() < 5) return {};
  std::sort(norms.begin(), norms.end());
  const double tenth = norms[norms.size() / 10], median = norms[norms.size() / 2];
  if (tenth < 5 * c.options->clip) return {};
  return Finding{"gradients always clipped",
                 "the gradient norm was above --clip " + number(c.options->clip) + " in " +
                     std::to_string(norms.end() -
                                    std::upper_bound(norms.begin(), norms.end(), c.options->clip)) +
                     " of " + std::to_string(norms.size()) + " rows of loss.csv, median " +
                     number(median),
                 c.again({{"--clip", number(2 * median)}})};
}

std::optional<Finding> short_training(const Curve& c) {
  double before = c.training_loss(0.6, 0.8), now = c.training_loss(0.8, 1);
  const bool few_rows = std::isnan(before) || std::isnan(now);
  if (few_rows && c.rows.size() > 1) {
    before = c.rows[c.rows.size() - 2].train_loss;
    now = c.rows.back().train_loss;
  }
  const double first = c.rows.front().train_loss;
  const bool falls = before - now > 0.05 * (first - now) && before - now > 0.01 * now;
  if (!(falls && (knows_little(c) || before - now > 0.2 * (first - now)))) return {};
  return Finding{"training too short",
                 "the training loss still falls: " + loss_text(before) +
                     (few_rows ? " in the last row but one of " : " in the fourth fifth of the ") +
                     text(c.rows.back().step) + " steps, " + loss_text(now) + " in the last",
                 c.again({{"--steps", text(10 * c.rows.back().step)}})};
}

std::optional<Finding> sure_finding(const Curve& c) {
  if (const auto found = divergence(c)) return found;
  if (const auto found = long_warmup(c)) return found;
  const auto found = overfitting(c);
  return found && *c.last_validated()->val_loss > c.uniform ? found : std::nullopt;
}

}  // namespace heed::app
