// comparison.cpp: reads the runs of heed compare, and shows them: the curves and the page.

#include "commands/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <set>

#include "commands/compare/comparison_tables.hpp"
#include "commands/terminal.hpp"
#include "commands/train/loss_curve.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "page/chart.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

constexpr std::size_t most_in_picture = 8, most_in_text = 6;  // curves with a name
constexpr std::size_t most_with_training = 4;                 // more lines would hide the others

// The runs that the names stand for, without the folders that have no losses.
std::vector<std::string> all_runs(const std::vector<std::string>& names) {
  std::vector<std::string> all, without;
  for (const std::string& name : names) {
    const std::vector<std::string> runs = runs_of(name);
    if (runs.empty()) without.push_back(printable(name));
    all.insert(all.end(), runs.begin(), runs.end());
  }
  if (all.empty())
    throw_error(joined(without, ", "), ": no loss.csv; give the folder of a run or of a sweep");
  if (!without.empty()) note("without loss.csv, and left out: " + joined(without, ", "));
  return all;
}

std::vector<ComparedRun> read_runs(const std::vector<std::string>& names, const std::string& by) {
  std::vector<ComparedRun> runs;
  std::set<std::filesystem::path> seen;
  std::error_code ignored;
  for (const std::string& name : all_runs(names)) {
    runs.push_back(read_run(name));
    if (!seen.insert(std::filesystem::canonical(runs.back().folder.path, ignored)).second)
      throw_error(name, ": is given twice; give each run once");
    if (by == "tokens" && !runs.back().has_checkpoint())
      throw_error(name,
                  ": has no checkpoint yet, so the size of its batches is unknown; leave out ",
                  "--by tokens");
  }
  return runs;
}

// The lower bound on the loss of the longest context, if all groups have the same text and tokens,
// and its entropy is known. Nothing, if the text has changed or cannot be read.
std::vector<HorizontalLine> common_bound(const std::vector<RunGroup>& groups) {
  std::size_t longest = 0;
  for (const RunGroup& group : groups) {
    if (!group.first().has_checkpoint() || group.first().tokens != groups[0].first().tokens)
      return {};
    longest = std::max(longest, group.first().block_size);
  }
  return loss_bounds(ModelFile::open(groups[0].first().folder.checkpoint()), longest);
}

// The sample on one line, with " / " for line breaks.
std::string one_line(const std::string& sample) {
  std::string line;
  for (const std::string& part : lines_of(sample))
    if (!part.empty()) line += (line.empty() ? "" : " / ") + printable(part);
  return line;
}

}  // namespace

RunComparison::RunComparison(const std::vector<std::string>& runs, std::string by)
    : by_(std::move(by)),
      groups_(grouped_runs(read_runs(runs, by_))),
      bounds_(common_bound(groups_)) {}

std::string RunComparison::title() const {
  std::size_t runs = 0;
  for (const RunGroup& group : groups_) runs += group.runs.size();
  return "validation loss of " + counted(runs, "run");
}

std::vector<Series> RunComparison::curves(std::size_t shown) const {
  std::vector<Series> curves;
  for (std::size_t i = groups_.size(); i-- > 0;) {  // the others first, below those with a name
    if (groups_[i].validation.empty() || i < shown) continue;
    curves.push_back(groups_[i].curve(by_));
    curves.back().error.clear();
    curves.back().muted = true;
  }
  for (std::size_t i = 0; i < std::min(shown, groups_.size()); ++i)
    if (!groups_[i].validation.empty()) curves.push_back(groups_[i].curve(by_));
  return curves;
}

std::vector<Series> RunComparison::picture_curves() const {
  if (groups_.size() > most_with_training) return curves(most_in_picture);
  std::vector<Series> all;
  for (const RunGroup& group : groups_) {
    if (group.validation.empty()) continue;
    all.push_back(group.curve(by_));
    all.push_back(group.training_curve(by_));
  }
  return all;
}

CurveOptions RunComparison::curve_options() const {
  CurveOptions options;
  options.lines = bounds_;
  options.x_title = by_ == "seconds" ? "seconds of training" : by_;
  options.y_title = "loss (nats per token)";
  options.title = title();
  if (groups_.size() <= most_with_training) options.title += "; thin: training loss";
  if (groups_.size() > most_in_picture)
    options.title += "; grey: all but the " + std::to_string(most_in_picture) + " lowest";
  return options;
}

std::string RunComparison::curves_text() const {
  std::vector<Series> lines = curves(most_in_text);
  lines.erase(std::remove_if(lines.begin(), lines.end(), [](const Series& s) { return s.muted; }),
              lines.end());
  for (Series& line : lines) line.points = false;  // drawn without gaps
  if (std::all_of(lines.begin(), lines.end(), [](const Series& s) { return s.x.size() < 2; }))
    return "";  // the table says as much as points
  CurveOptions options = curve_options();
  options.title = title();
  if (groups_.size() > most_in_text)
    options.title += "; shown: the " + std::to_string(most_in_text) + " lowest";
  return curve_text(lines, options) + "\n";
}

std::string RunComparison::tables_text() const {
  std::string text = option_table(groups_).text() + "\n" + loss_table(groups_).text() + "\n",
              samples;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (const std::string& sample = groups_[i].first().sample; !sample.empty())
      samples += pad_left(std::to_string(i + 1), 2) + "  " + truncated(one_line(sample), 76) + "\n";
  text += samples + (samples.empty() ? "" : "\n");
  for (const std::string& note : notes_of(groups_)) text += note + "\n";
  return text;
}

std::string RunComparison::html() const {
  CurveOptions options = curve_options();
  std::string body = "<section>\n<h2>" + escaped_html(options.title) + "</h2>\n" +
                     chart_html(picture_curves(), options) +
                     "</section>\n<section>\n<h2>Runs</h2>\n" + option_table(groups_).html() +
                     "</section>\n<section>\n<h2>Losses</h2>\n" + loss_table(groups_).html() +
                     "<p class=\"note\">";
  for (const std::string& note : notes_of(groups_)) body += escaped_html(note) + ".<br>\n";
  body += "</p>\n</section>\n";
  std::string samples;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (const ComparedRun& run = groups_[i].first(); !run.sample.empty())
      samples += "<h3>" + std::to_string(i + 1) + ": " + escaped_html(printable(run.name)) +
                 "</h3>\n<pre>" + escaped_html(escaped_lines(run.sample)) + "</pre>\n";
  if (!samples.empty())
    body += "<section>\n<h2>What they wrote at the end</h2>\n" + samples + "</section>\n";
  return report_page("compare", body);
}

void RunComparison::show(const std::string& folder, const std::string& page) const {
  if (!page.empty()) write_file_atomically(page, html());
  make_folder(folder);
  const Plot plot = draw_curve(folder, "compare", picture_curves(), curve_options());
  std::cout << (plot.ok ? curves_text() : "") << tables_text();
  if (plot.ok) std::cout << printable(plot.message) << " shows the curves\n";
  if (!page.empty()) std::cout << printable(page) << " is the page; open it in a browser\n";
  std::cout << std::flush;
  if (!plot.ok) note(plot.message);
}

}  // namespace heed::app
