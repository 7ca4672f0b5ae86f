// comparison_tables.cpp: the tables and notes of heed compare.

#include "commands/compare/comparison_tables.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/text.hpp"
#include "heed/draw/series.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

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

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  std::string lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i == 0 ? "" : "  ") + (text_columns.count(i) != 0 ? pad_right(row[i], widths[i])
                                                                 : pad_left(row[i], widths[i]));
    lines += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  return lines;
}

std::string Table::html() const {
  std::string table = "<div class=\"scroll\"><table>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    table += r == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      const std::string element = r == 0 ? "th" : "td";
      const std::string style = text_columns.count(i) != 0 ? " class=\"text\"" : "";
      table += "<" + element + style + ">" + escaped_html(rows[r][i]) + "</" + element + ">";
    }
    table += r == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  return table + "</tbody></table></div>\n";
}

Table option_table(const std::vector<RunGroup>& groups) {
  const std::vector<std::string> flags = differing_flags(groups);
  Table table{{{"", "run"}}, {1}};
  for (const std::string& flag : flags) table.rows[0].push_back(flag);
  for (const char* title : {"parameters", "seeds"}) table.rows[0].push_back(title);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const ComparedRun& run = groups[i].first();
    std::vector<std::string> row = {std::to_string(i + 1), printable(groups[i].name())};
    for (const std::string& flag : flags) row.push_back(run.value(flag));
    row.push_back(run.has_checkpoint() ? grouped(static_cast<double>(run.parameters)) : "?");
    row.push_back(std::to_string(groups[i].runs.size()));
    table.rows.push_back(row);
  }
  return table;
}

Table loss_table(const std::vector<RunGroup>& groups) {
  Table table{{{"", "steps", "loss", "± 95 %", "lowest", "at step", "tokens/s", ""}}, {7}};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const RunGroup& group = groups[i];
    std::vector<std::string> row = {std::to_string(i + 1), progress(group)};
    if (const MeanLoss* const last = group.final()) {
      const double half = last->loss.half_interval();
      row.insert(row.end(),
                 {loss_text(last->loss.mean), std::isfinite(half) ? loss_text(half) : "-",
                  loss_text(group.best->loss.mean), std::to_string(group.best->step)});
    } else {
      row.insert(row.end(), {"-", "-", "-", "-"});
    }
    row.push_back(number_cell(tokens_per_s(group)));
    row.push_back(groups.size() > 1 || group.final() == nullptr ? verdict(i, groups) : "");
    table.rows.push_back(row);
  }
  return table;
}

std::vector<std::string> notes_of(const std::vector<RunGroup>& groups) {
  std::vector<std::string> notes, cut;
  std::set<std::string> tokens;
  std::set<std::int64_t> steps;
  bool has_single = false, has_several = false, has_unknown = false;
  for (const RunGroup& group : groups) {
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

}  // namespace heed::app
