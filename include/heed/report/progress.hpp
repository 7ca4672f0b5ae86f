// progress.hpp: training on one live line, as text made from numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace heed {

// What is not known yet is left out of the line.
struct ProgressState {
  std::size_t step = 0;              // steps done
  std::size_t total_steps = 0;       // 0: unknown, and no bar is drawn
  std::optional<double> train_loss;  // nats per token, as the next
  std::optional<double> val_loss;
  std::optional<double> tokens_per_second;
  std::optional<double> seconds_left;
};

// [=========>          ]  850/2000  loss 2.0413  val 2.1100  18,400 tokens/s  1:12 left
//
// At most `width` columns, without a newline: when it gets narrow the speed goes first, then the
// validation loss, the bar, the time left and the loss; a percentage is the last to go. ASCII only.
// To redraw it in place, write '\r', the line, and "\x1b[K", which wipes what a longer line left.
std::string progress_line(const ProgressState& state, std::size_t width = 80);

}  // namespace heed
