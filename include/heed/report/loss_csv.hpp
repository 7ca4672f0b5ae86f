// loss_csv.hpp: reading back what a training run wrote about itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/report/series.hpp"

namespace heed {

struct LossCsv {
  Series training, validation;                        // losses by step, in the order of the file
  std::size_t step_column, train_column, val_column;  // where they stand, counted from 0
};

// Reads the columns step, train_loss and val_loss of a file that names its columns in its first
// line, in any order and among others. A cell may be empty: validation is not measured at every
// step. Throws Error with file, line and cell when a number cannot be read.
LossCsv read_loss_csv(const std::string& path);

}  // namespace heed
