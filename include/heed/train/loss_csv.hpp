// loss_csv.hpp: the loss history of a training run as lines of CSV, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// One row of the loss history of a training run, recorded after `step` updates.
struct LogRow {
  std::int64_t step = 0;           // number of updates done
  double train_loss = 0;           // training loss in nats, mean since the previous row
  std::optional<double> val_loss;  // validation loss in nats; empty if not measured
  double learning_rate = 0;        // learning rate of the latest update
  double grad_norm = 0;            // gradient norm of the latest update, before clipping
  double ms = 0;                   // mean ms per step since the previous row, without evaluation
};

// Formats rows of the loss history as CSV, with enough digits to read the numbers back exactly. The
// overload for several rows adds the header step,train_loss,val_loss,learning_rate,grad_norm,ms.
std::string csv(const std::vector<LogRow>& rows);
std::string csv(const LogRow& row);

// The losses in a file loss.csv, in the order of the file, without the steps that have no loss.
struct LossCsv {
  // Losses, and the step at which each loss was measured.
  struct Losses {
    std::vector<double> steps, values;  // values[i] is the loss of steps[i] in nats
  };
  Losses training, validation;                        // losses on training and validation data
  std::size_t step_column, train_column, val_column;  // column indices, counted from 0
};

// Reads the columns step, train_loss and val_loss of a CSV file. The first line contains the column
// names, in any order; other columns are ignored. A cell may be empty, since not every step
// measures the validation loss. A last line without an end is not read: the run was killed while it
// wrote the line, or is writing it. Throws Error with file, line and cell when a number cannot be
// read.
LossCsv read_loss_csv(const std::string& path);

// The rows of a loss.csv.
struct LogRows {
  std::vector<LogRow> rows;      // in the order of the file
  bool is_last_row_cut = false;  // whether the file ends within a line, which is not in `rows`
};

// Reads all columns of a loss.csv as csv() writes it. A row of a step that diverged has NaN as its
// training loss. Throws the errors of read_loss_csv().
LogRows read_log_rows(const std::string& path);

}  // namespace HEED_NAMESPACE
