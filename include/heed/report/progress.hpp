// progress.hpp: progress_line formats the progress bar of a training run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// progress_line leaves out members without a value.
struct ProgressState {
  std::size_t step = 0;              // completed steps
  std::size_t total_steps = 0;       // 0 if unknown: then no bar is drawn
  std::optional<double> train_loss;  // in nats per token, like val_loss
  std::optional<double> val_loss;
  std::optional<double> tokens_per_second;
  std::optional<double> seconds_left;
};

// [=========>          ]  850/2000  loss 2.0413  val 2.1100  18,400 tokens/s  1:12 left
//
// At most `width` ASCII characters without a newline. A line that is too long loses, in this order,
// the speed, the validation loss, the bar, the time left, the loss, and then all but a percentage.
// To redraw the line, write '\r', the line, and "\x1b[K", which erases the rest of the old line.
std::string progress_line(const ProgressState& state, std::size_t width = 80);

}  // namespace HEED_NAMESPACE
