// watch.cpp: the page of heed train --watch: three charts, and the generated texts.

#include "commands/train/watch.hpp"

#include <algorithm>

#include "commands/terminal.hpp"
#include "commands/train/loss_curve.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "page/chart.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

constexpr int refresh_seconds = 2;
constexpr std::size_t max_texts = 20;

std::string section(const std::string& title, const std::string& html) {
  return "<section>\n<h2>" + title + "</h2>\n" + html + "</section>\n";
}

// A chart of series whose names in the legend end with their last value.
std::string chart(std::vector<Series> series, CurveOptions options) {
  for (Series& s : series)
    if (!s.y.empty()) s.name = legend({s.name, s.y.back()});
  return chart_html(series, options);
}

std::string loss_chart(const std::vector<LogRow>& rows, const std::vector<HorizontalLine>& bounds) {
  LossCsv losses{};
  for (const LogRow& row : rows) {
    const auto step = static_cast<double>(row.step);
    losses.training.steps.push_back(step);
    losses.training.values.push_back(row.train_loss);
    if (!row.val_loss) continue;
    losses.validation.steps.push_back(step);
    losses.validation.values.push_back(*row.val_loss);
  }
  CurveOptions options;
  options.lines = bounds;
  options.marks = lowest_loss(losses.validation);
  return chart(loss_series(losses), options);
}

// A chart of one column of the rows.
std::string column_chart(const std::vector<LogRow>& rows, const std::string& name,
                         double LogRow::*column) {
  Series series{name, {}, {}};
  for (const LogRow& row : rows) series.append(static_cast<double>(row.step), row.*column);
  CurveOptions options;
  options.y_title = name;
  options.height = 9;
  return chart({series}, options);
}

}  // namespace

void Watch::show(const std::filesystem::path& file, const LogRow& row, const std::string& text) {
  if (!text.empty()) texts_.emplace_back(row.step, text);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  write(file, "training", true);
  const auto taken = std::chrono::steady_clock::now() - now;
  next_ = now + std::max<decltype(taken)>(std::chrono::seconds(1), 50 * taken);
}

void Watch::end(const std::filesystem::path& file, const std::string& how) {
  write(file, how, false);
}

// A full disk must not end the training, which notes it at the first page.
void Watch::write(const std::filesystem::path& file, const std::string& state, bool reloads) {
  if (failed_) return;
  try {
    write_file_atomically(file, page(state, reloads));
  } catch (const Error& error) {
    note(std::string(error.what()) + "; training continues without --watch");
    failed_ = true;
  }
}

std::string Watch::page(const std::string& state, bool reloads) const {
  const std::vector<LogRow>& rows = trainer_.history();
  const std::string status = state + ": step " + std::to_string(trainer_.steps_done()) + " of " +
                             std::to_string(trainer_.options().steps);
  std::string texts;
  for (std::size_t i = texts_.size(); i-- > texts_.size() - std::min(texts_.size(), max_texts);)
    texts += "<h3>step " + std::to_string(texts_[i].first) + "</h3>\n<pre>" +
             escaped_html(texts_[i].second) + "</pre>\n";
  return report_page(
      title_,
      "<p class=\"note\">" + escaped_html(status) + "</p>\n" +
          section("Loss in nats per token", loss_chart(rows, bounds_)) +
          section("Gradient norm before clipping",
                  column_chart(rows, "gradient norm", &LogRow::grad_norm)) +
          section("Learning rate", column_chart(rows, "learning rate", &LogRow::learning_rate)) +
          section("Generated texts", texts),
      reloads ? refresh_seconds : 0);
}

}  // namespace heed::app
