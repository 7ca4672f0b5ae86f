// loss_csv.hpp: the loss history of a training run as CSV text, written and read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

// One row of the history: the state after `step` updates.
struct LogRow {
  std::int64_t step = 0;
  double train_loss = 0;           // nats, the mean over the updates since the row before
  std::optional<double> val_loss;  // nats, where it was measured
  double learning_rate = 0;        // of the last update
  double grad_norm = 0;            // of the last update, before clipping
  double ms = 0;                   // a step, the mean since the row before; evaluation aside
};

// step,train_loss,val_loss,learning_rate,grad_norm,ms, with that as the first line. Numbers are
// written so that they read back exactly.
std::string csv(const std::vector<LogRow>& rows);
std::string csv_header();
std::string csv(const LogRow& row);

// The losses in a loss.csv: a loss for each step at which it was measured, in the order of the
// file.
struct LossCsv {
  struct Losses {
    std::vector<double> steps, values;
  };
  Losses training, validation;
  std::size_t step_column, train_column, val_column;  // counted from 0
};

// Reads the columns step, train_loss and val_loss of a file that names its columns in its first
// line, in any order and among others. A cell may be empty: validation is not measured at every
// step. Throws Error with file, line and cell when a number cannot be read.
LossCsv read_loss_csv(const std::string& path);

}  // namespace heed
