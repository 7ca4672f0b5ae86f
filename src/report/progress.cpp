// progress.cpp: what fits is shown, and what matters most is dropped last.

#include "heed/report/progress.hpp"

#include <algorithm>

#include "heed/base/text.hpp"

namespace heed {
namespace {

constexpr std::size_t shortest_bar = 12, longest_bar = 32;  // with its brackets

std::string steps(const ProgressState& state) {
  if (state.total_steps == 0) return "step " + std::to_string(state.step);
  const std::string total = std::to_string(state.total_steps);
  return pad_left(std::to_string(state.step), total.size()) + "/" + total;
}

std::string bar(const ProgressState& state, std::size_t width) {
  const std::size_t inside = width - 2;
  const double done =
      std::min(1.0, static_cast<double>(state.step) / static_cast<double>(state.total_steps));
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(inside));
  std::string text(filled, '=');
  if (filled < inside && filled > 0) text.back() = '>';
  return "[" + pad_right(text, inside) + "]";
}

// The parts from left to right; `dropped` of them are left out, the least important first.
std::string facts(const ProgressState& state, int dropped) {
  std::string text = steps(state);
  if (dropped < 5 && state.train_loss) text += "  loss " + decimal(*state.train_loss, 4);
  if (dropped < 2 && state.val_loss) text += "  val " + decimal(*state.val_loss, 4);
  if (dropped < 1 && state.tokens_per_second)
    text += "  " + grouped(*state.tokens_per_second) + " tokens/s";
  if (dropped < 4 && state.seconds_left) text += "  " + duration(*state.seconds_left) + " left";
  return text;
}

std::string percent(const ProgressState& state) {
  if (state.total_steps == 0) return "";
  return std::to_string(100 * state.step / state.total_steps) + "%";
}

}  // namespace

std::string progress_line(const ProgressState& state, std::size_t width) {
  constexpr int without_bar = 3, only_steps = 5;
  const bool has_bar = state.total_steps > 0;
  for (int dropped = 0; dropped <= only_steps; ++dropped) {
    const std::string text = facts(state, dropped);
    const bool bar_wanted = has_bar && dropped < without_bar;
    const std::size_t needed = text.size() + (bar_wanted ? shortest_bar + 1 : 0);
    if (needed > width) continue;
    if (!bar_wanted) return text;
    return bar(state, std::min(longest_bar, width - text.size() - 1)) + " " + text;
  }
  return percent(state).size() <= width ? percent(state) : "";
}

}  // namespace heed
