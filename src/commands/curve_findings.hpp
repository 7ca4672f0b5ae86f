// curve_findings.hpp: what the losses, learning rates and gradient norms of a run say about it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/finding.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

// The loss history of a run, with what is known about its text.
struct Curve {
  std::vector<LogRow> rows;             // at least one
  std::optional<TrainOptions> options;  // of the checkpoint; none if none was saved
  double uniform = NAN;                 // ln V, the loss of a uniform guess, in nats
  // The cross-entropies of the validation data under the frequencies of the training data's tokens
  // and pairs of tokens, in nats; NaN if the text is not available.
  double unigram = NAN, bigram = NAN;
  // The mean of bigram_losses_of_parts() of the training data, in nats; none if the text is not
  // available or too short.
  std::optional<double> bigram_training;
  std::string run;  // the run's folder, as a word of a command line
  // The command that trains again with other values of some flags.
  using Values = std::map<std::string, std::string>;
  std::function<std::string(const Values& changed)> again = [](const Values&) { return ""; };

  double peak_rate() const;  // the largest learning rate
  double mean_rate() const;  // of all steps
  // The mean training loss of the steps from `begin` to `end`, as fractions of all steps; NaN
  // without a row between them.
  double training_loss(double begin, double end) const;
  const LogRow* best() const;            // the row of the lowest validation loss, or null
  const LogRow* last_validated() const;  // the last row with a validation loss, or null
  // The last validation loss; if there is none, the training loss of the last tenth.
  double final_loss() const;
};

// Each function returns a finding, if it applies. docs/training.md says when each one does.
std::optional<Finding> divergence(const Curve& curve);
std::optional<Finding> long_warmup(const Curve& curve);
std::optional<Finding> high_rate(const Curve& curve);
std::optional<Finding> low_rate(const Curve& curve);
std::optional<Finding> overfitting(const Curve& curve);
std::optional<Finding> constant_clipping(const Curve& curve);
std::optional<Finding> short_training(const Curve& curve);

// The first finding that needs no knowledge of the text and leaves no doubt: a divergence, a
// warm-up that is longer than the run, or an overfitted model that is worse than a uniform guess.
std::optional<Finding> sure_finding(const Curve& curve);

}  // namespace heed::app
