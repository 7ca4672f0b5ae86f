// progress.hpp: progress_line formats the progress bar of a training run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// The state of a training run. progress_line omits members without a value.
struct ProgressState {
  std::size_t step = 0;                     // number of completed steps
  std::size_t total_steps = 0;              // 0 if unknown; the progress bar is omitted if 0
  std::optional<double> train_loss;         // training loss in nats per token
  std::optional<double> val_loss;           // latest validation loss in nats per token
  std::optional<double> tokens_per_second;  // speed of the training
  std::optional<double> seconds_left;       // estimated time to the last step
};

// Formats the state of a training run as a progress line:
//   [=========>          ]  850/2000  loss 2.0413  val 2.1100  18,400 tokens/s  1:12 left
// The line has at most `width` ASCII characters and no newline. Parts that do not fit are
// omitted in this order: speed, validation loss, bar, time left, loss; a percentage remains. To
// redraw the line, write '\r', the line, and "\x1b[K" (erase to end of line).
std::string progress_line(const ProgressState& state, std::size_t width = 80);

}  // namespace HEED_NAMESPACE
