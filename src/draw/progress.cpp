// progress.cpp: progress_line formats the progress bar of a training run.

#include "draw/progress.hpp"

#include <algorithm>

#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t min_bar_width = 12, max_bar_width = 32;  // characters, with brackets

std::string steps(const ProgressState& state) {
  if (state.total_steps == 0) return "step " + std::to_string(state.step);
  const std::string total = std::to_string(state.total_steps);
  return pad_left(std::to_string(state.step), total.size()) + "/" + total;
}

std::string bar(const ProgressState& state, std::size_t width) {
  const std::size_t inner_width = width - 2;
  const double fraction =
      std::min(1.0, static_cast<double>(state.step) / static_cast<double>(state.total_steps));
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(inner_width));
  std::string text(filled, '=');
  if (filled < inner_width && filled > 0) text.back() = '>';
  return "[" + pad_right(text, inner_width) + "]";
}

// The text beside the progress bar. A larger `dropped` (0 to 5) omits more parts to save space.
std::string status(const ProgressState& state, int dropped) {
  std::string text = steps(state);
  if (dropped < 5 && state.train_loss) text += "  loss " + decimal(*state.train_loss, 4);
  if (dropped < 2 && state.val_loss) text += "  val " + decimal(*state.val_loss, 4);
  if (dropped < 1 && state.tokens_per_second)
    text += "  " + grouped(*state.tokens_per_second) + " tokens/s";
  if (dropped < 4 && state.seconds_left) text += "  " + duration(*state.seconds_left) + " left";
  return text;
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t width) {
  constexpr int without_bar = 3, only_steps = 5;
  const bool has_bar = state.total_steps > 0;
  for (int dropped = 0; dropped <= only_steps; ++dropped) {
    const std::string text = status(state, dropped);
    const bool shows_bar = has_bar && dropped < without_bar;
    const std::size_t needed = text.size() + (shows_bar ? min_bar_width + 1 : 0);
    if (needed > width) continue;
    if (!shows_bar) return text;
    return bar(state, std::min(max_bar_width, width - text.size() - 1)) + " " + text;
  }
  const std::string percent =
      has_bar ? std::to_string(100 * state.step / state.total_steps) + "%" : "";
  return percent.size() <= width ? percent : "";
}

}  // namespace HEED_NAMESPACE
