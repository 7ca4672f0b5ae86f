// loss_curve.cpp: plots the losses of a run and its loss.csv.

#include "commands/train/loss_curve.hpp"

#include <algorithm>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"

namespace heed::app {

std::vector<Series> loss_series(const LossCsv& losses) {
  return {{"training", losses.training.steps, losses.training.values},
          {"validation", losses.validation.steps, losses.validation.values, true}};
}

namespace {

std::vector<HorizontalLine> bounds_of(std::string_view text, Unit unit, std::size_t block_size) {
  constexpr std::size_t long_context = 1024;  // letters; the entropies after more take seconds
  if (unit != Unit::code_point && unit != Unit::byte) return {};
  const std::optional<MarkovSource> source = source_of_text(text);
  if (!source) return {};
  return {{"lower bound: the entropy", block_size <= long_context
                                           ? source->window_entropy(block_size)
                                           : source->entropy_rate()}};
}

}  // namespace

std::vector<HorizontalLine> loss_bounds(const TrainingText& text, std::size_t block_size) {
  return bounds_of(text.corpus->text(), text.vocabulary->unit(), block_size);
}

std::vector<HorizontalLine> loss_bounds(const ModelFile& checkpoint, std::size_t block_size) {
  // The text of heed train without TEXT has no known entropy, and standard input is gone.
  if (const std::string path = checkpoint.text().path; path.empty() || path == "-") return {};
  TrainingText text{checkpoint.text().path};
  try {
    text.read();
    text.identify("");
  } catch (const Error&) {
    return {};
  }
  if (text.fingerprint.hash != checkpoint.text().hash) return {};
  return bounds_of(text.content, checkpoint.vocabulary().unit(), block_size);
}

std::vector<MarkedPoint> lowest_loss(const LossCsv::Losses& validation) {
  const auto& [steps, values] = validation;
  const auto best = std::min_element(values.begin(), values.end());
  if (best == values.end()) return {};
  const double step = steps[static_cast<std::size_t>(best - values.begin())];
  return {{"lowest validation, step " + exact(step), step, *best}};
}

Plot draw_loss_curve(const std::string& folder, CurveOptions options) {
  try {
    const LossCsv losses = read_loss_csv(path_in(folder, "loss.csv"));
    options.marks = lowest_loss(losses.validation);
    return draw_curve_of_file(
        folder, "loss", {"loss.csv", losses.step_column, {losses.train_column, losses.val_column}},
        loss_series(losses), options);
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

}  // namespace heed::app
