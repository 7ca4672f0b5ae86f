// loss_curve.cpp: plots the losses of a run and its loss.csv.

#include "commands/train/loss_curve.hpp"

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"

namespace heed::app {

std::vector<Series> loss_series(const LossCsv& losses) {
  return {{"training", losses.training.steps, losses.training.values},
          {"validation", losses.validation.steps, losses.validation.values, true}};
}

Plot draw_loss_curve(const std::string& folder, const CurveOptions& options) {
  try {
    const LossCsv losses = read_loss_csv(path_in(folder, "loss.csv"));
    return draw_curve_of_file(
        folder, "loss", {"loss.csv", losses.step_column, {losses.train_column, losses.val_column}},
        loss_series(losses), options);
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

}  // namespace heed::app
