// comparison.cpp: the tables, plots and page of heed compare.

#include "commands/compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

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

// The runs that the names stand for. A folder without losses, as runs/*/ may have them, is left
// out.
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

std::string loss_text(double loss) { return label_number(loss, 4); }

std::string number_cell(double value) { return std::isfinite(value) ? grouped(value) : "-"; }

// The steps that all runs of the group have done, and those that they should do.
std::string progress(const RunGroup& group) {
  std::int64_t done = INT64_MAX;
  bool diverged = false;
  for (const ComparedRun& run : group.runs) {
    done = std::min(done, run.rows.empty() ? 0 : run.rows.back().step);
    diverged = diverged || run.diverged;
  }
  const std::int64_t planned = group.first().steps;
  return std::to_string(done) + (diverged         ? ", diverged"
                                 : done < planned ? " of " + std::to_string(planned)
                                                  : "");
}

double tokens_per_s(const RunGroup& group) {
  std::vector<double> speeds;
  for (const ComparedRun& run : group.runs) speeds.push_back(run.tokens_per_s());
  return mean_of(speeds).mean;
}

// The sample on one line, with " / " for line breaks.
std::string one_line(const std::string& sample) {
  std::string line;
  for (const std::string& part : lines_of(sample))
    if (!part.empty()) line += (line.empty() ? "" : " / ") + printable(part);
  return line;
}

std::string number_of(std::size_t group) { return std::to_string(group + 1); }

}  // namespace

RunComparison::RunComparison(const std::vector<std::string>& runs, std::string by)
    : by_(std::move(by)),
      groups_(grouped_runs(read_runs(runs, by_))),
      bounds_(common_bound(groups_)) {}

RunComparison::Cells RunComparison::options() const {
  const std::vector<std::string> flags = differing_flags(groups_);
  Cells cells{{{"", "run"}}, {1}};
  for (const std::string& flag : flags) cells.rows[0].push_back(flag);
  for (const char* title : {"parameters", "seeds"}) cells.rows[0].push_back(title);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const ComparedRun& run = groups_[i].first();
    std::vector<std::string> row = {number_of(i), printable(groups_[i].name())};
    for (const std::string& flag : flags) row.push_back(run.value(flag));
    row.push_back(run.has_checkpoint() ? grouped(static_cast<double>(run.parameters)) : "?");
    row.push_back(std::to_string(groups_[i].runs.size()));
    cells.rows.push_back(row);
  }
  return cells;
}

RunComparison::Cells RunComparison::losses() const {
  Cells cells{{{"", "steps", "loss", "± 95 %", "lowest", "at step", "tokens/s", ""}}, {7}};
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const RunGroup& group = groups_[i];
    std::vector<std::string> row = {number_of(i), progress(group)};
    if (const MeanLoss* const last = group.final()) {
      const double half = last->loss.half_interval();
      row.insert(row.end(),
                 {loss_text(last->loss.mean), std::isfinite(half) ? loss_text(half) : "-",
                  loss_text(group.best->loss.mean), std::to_string(group.best->step)});
    } else {
      row.insert(row.end(), {"-", "-", "-", "-"});
    }
    row.push_back(number_cell(tokens_per_s(group)));
    row.push_back(groups_.size() > 1 || group.final() == nullptr ? verdict(i, groups_) : "");
    cells.rows.push_back(row);
  }
  return cells;
}

std::vector<std::string> RunComparison::notes() const {
  std::vector<std::string> notes, cut;
  std::set<std::string> tokens;
  std::set<std::int64_t> steps;
  bool has_single = false, has_several = false, has_unknown = false;
  for (const RunGroup& group : groups_) {
    (group.runs.size() > 1 ? has_several : has_single) = true;
    has_unknown = has_unknown || !group.first().has_checkpoint();
    if (group.first().has_checkpoint()) tokens.insert(group.first().tokens);
    if (group.final() != nullptr) steps.insert(group.final()->step);
    for (const ComparedRun& run : group.runs)
      if (run.is_last_row_cut) cut.push_back(printable(run.name));
  }
  notes.push_back(
      "loss: nats per token of the validation data, at the last step at which all seeds have it");
  if (has_several)
    notes.push_back(
        "± 95 %: confidence interval of the mean over seeds, by Student's t distribution; runs "
        "whose intervals overlap are not distinguishable. Bands show the standard error");
  if (has_single)
    notes.push_back(
        "A single seed has no interval: how much of a difference is chance, only more seeds show "
        "(--seed)");
  if (tokens.size() > 1)
    notes.push_back("The runs have different texts or tokens, so their losses cannot be compared");
  if (steps.size() > 1) notes.push_back("The losses are of different steps");
  if (has_unknown)
    notes.push_back("?: the run has saved no checkpoint, so its options are unknown");
  if (!cut.empty())
    notes.push_back("The last row of loss.csv is not complete, and left out, in: " +
                    joined(cut, ", "));
  return notes;
}

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

std::string RunComparison::text_of(const Cells& cells) {
  std::vector<std::size_t> widths(cells.rows[0].size());
  for (const auto& row : cells.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  std::string text;
  for (const auto& row : cells.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line +=
          (i == 0 ? "" : "  ") + (cells.text_columns.count(i) != 0 ? pad_right(row[i], widths[i])
                                                                   : pad_left(row[i], widths[i]));
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string RunComparison::html_of(const Cells& cells) {
  std::string html = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < cells.rows.size(); ++r) {
    html += r == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t i = 0; i < cells.rows[r].size(); ++i) {
      const std::string element = r == 0 ? "th" : "td";
      const std::string style = cells.text_columns.count(i) != 0 ? " class=\"text\"" : "";
      html += "<" + element + style + ">" + escaped_html(cells.rows[r][i]) + "</" + element + ">";
    }
    html += r == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
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
  std::string text = text_of(options()) + "\n" + text_of(losses()) + "\n", samples;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (const std::string& sample = groups_[i].first().sample; !sample.empty())
      samples += pad_left(number_of(i), 2) + "  " + truncated(one_line(sample), 76) + "\n";
  text += samples + (samples.empty() ? "" : "\n");
  for (const std::string& note : notes()) text += note + "\n";
  return text;
}

std::string RunComparison::html() const {
  CurveOptions options = curve_options();
  std::string body = "<section>\n<h2>" + escaped_html(options.title) + "</h2>\n" +
                     chart_html(picture_curves(), options) +
                     "</section>\n<section>\n<h2>Runs</h2>\n" + html_of(this->options()) +
                     "</section>\n<section>\n<h2>Losses</h2>\n" + html_of(losses()) +
                     "<p class=\"note\">";
  for (const std::string& note : notes()) body += escaped_html(note) + ".<br>\n";
  body += "</p>\n</section>\n";
  std::string samples;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (const ComparedRun& run = groups_[i].first(); !run.sample.empty())
      samples += "<h3>" + number_of(i) + ": " + escaped_html(printable(run.name)) + "</h3>\n<pre>" +
                 escaped_html(escaped_lines(run.sample)) + "</pre>\n";
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
