// compared_run.hpp: ComparedRun, what heed compare reads of a training run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "commands/run_folder.hpp"
#include "heed/train/loss_csv.hpp"

namespace heed::app {

// A run that may have ended, be in training, have been killed or have diverged.
struct ComparedRun {
  std::string name;              // the folder, as in error messages
  RunFolder folder;              // the folder of the run
  std::vector<LogRow> rows;      // of loss.csv, without rows of steps that diverged
  bool is_last_row_cut = false;  // whether loss.csv ends within a row, which is not read
  bool diverged = false;         // whether loss.csv ends with a loss that is not finite
  std::string sample;  // the beginning of sample.txt, on one line; "" before the run's end

  // From the checkpoint. A run that was killed before its first one has none of these.
  std::map<std::string, std::string> options;  // by flag, such as --lr; also TEXT and --steps
  std::string tokens;               // identifies the text and its tokens: losses are comparable
  std::int64_t steps = 0;           // the number of steps that the run should do
  std::size_t parameters = 0;       // number of parameters
  std::size_t block_size = 0;       // the context length in tokens
  std::size_t tokens_per_step = 0;  // batch size times block size

  bool has_checkpoint() const { return !options.empty(); }
  // The value of a flag, "default" if that is not in `options`, and "?" without a checkpoint.
  std::string value(const std::string& flag) const;
  double ms_per_step() const;           // the median over the rows; NaN without rows
  double tokens_per_s() const;          // NaN without a checkpoint
  std::vector<double> seconds() const;  // of training until each row, without validation
};

// The run `name`, or the runs in that folder, such as those of a sweep. None if there is no
// loss.csv: the folder of an imported model has none. Throws Error if there is no such folder.
std::vector<std::string> runs_of(const std::string& name);

// Reads a run from its folder `name`, or from runs/`name`. Throws Error if it has no
// loss.csv, or if one of its files is damaged.
ComparedRun read_run(const std::string& name);

}  // namespace heed::app
