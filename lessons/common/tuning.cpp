// tuning.cpp: chooses the learning rates of a lesson by a sweep, which a reader can repeat.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "lesson.hpp"
#include "tuning.hpp"

namespace heed {

namespace fs = std::filesystem;

namespace {

// The file tuning.txt beside the source of the call.
fs::path file_beside(SourceLocation location) {
  return fs::path(HEED_DATA_DIR "/..") / fs::path(location.file).parent_path() / "tuning.txt";
}

std::string number(double rate) {
  std::ostringstream text;
  text << rate;
  return text.str();
}

// One line of the file: "linear attention | 0.003 | 1.2345 | 0.0123".
std::string line_of(const TuningRow& row) {
  return row.variant + " | " + number(row.rate) + " | " + decimal(row.loss, 4) + " | " +
         decimal(row.standard_error, 4);
}

TuningRow row_of(const std::string& line) {
  const auto cell = [&](int index) {
    std::istringstream cells(line);
    std::string text;
    for (int i = 0; i <= index; ++i) std::getline(cells, text, '|');
    return text;
  };
  std::string variant = cell(0);
  variant.erase(variant.find_last_not_of(' ') + 1);
  return {variant, std::atof(cell(1).c_str()), std::atof(cell(2).c_str()),
          std::atof(cell(3).c_str())};
}

// The first two lines of the file say what was measured, and name the columns.
std::vector<TuningRow> rows_of(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  std::vector<TuningRow> rows;
  for (std::size_t i = 2; i < lines.size(); ++i)
    if (!lines[i].empty()) rows.push_back(row_of(lines[i]));
  return rows;
}

// What the file says that was measured: its first line is "# loss on the tuning windows".
std::string title_of(const std::string& text) { return text.substr(2, text.find('\n') - 2); }

// The rates of all rows, ascending.
std::set<double> rates_of(const std::vector<TuningRow>& rows) {
  std::set<double> rates;
  for (const TuningRow& row : rows) rates.insert(row.rate);
  return rates;
}

// The rows of one variant, with ascending rates.
std::vector<TuningRow> rows_of_variant(const std::vector<TuningRow>& rows,
                                       const std::string& variant) {
  std::vector<TuningRow> found;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
               [&](const TuningRow& row) { return row.variant == variant; });
  if (found.empty())
    throw_error("tuning.txt: no row of '" + variant + "'; run it with HEED_TUNE=1");
  std::sort(found.begin(), found.end(),
            [](const TuningRow& a, const TuningRow& b) { return a.rate < b.rate; });
  return found;
}

// The row with the lowest loss.
std::vector<TuningRow>::const_iterator best_of(const std::vector<TuningRow>& rows) {
  return std::min_element(rows.begin(), rows.end(),
                          [](const TuningRow& a, const TuningRow& b) { return a.loss < b.loss; });
}

// One line of the matrix: the variant's loss for each rate, the lowest in brackets.
std::string matrix_line(const std::vector<TuningRow>& rows, const std::set<double>& rates) {
  std::string line = pad_right(rows.front().variant, 25);
  for (const double rate : rates) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const TuningRow& each) { return each.rate == rate; });
    std::string cell = row == rows.end() ? "" : decimal(row->loss, 3);
    cell = row == best_of(rows) ? "[" + cell + "]" : cell + " ";
    line += pad_left(cell, 10);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

// Whether the chosen rate is the best of its sweep, and lies inside the sweep or, if the choice
// says so, at its edge.
bool is_well_chosen(const ChosenRate& choice, const std::vector<TuningRow>& rows) {
  const auto best = best_of(rows);
  const bool at_edge = best == rows.begin() || best + 1 == rows.end();
  return best->rate == choice.rate && at_edge == choice.open_edge;
}

}  // namespace

bool tuning() {
  const char* const value = std::getenv("HEED_TUNE");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

int write_tuning(const std::string& measured, const std::vector<TuningRow>& rows,
                 SourceLocation location) {
  std::string text = "# " + measured + "\nvariant | learning rate | mean | standard error\n";
  for (const TuningRow& row : rows) text += line_of(row) + "\n";
  std::ofstream(file_beside(location)) << text;
  std::cout << text;
  return 0;
}

void show_tuning(const std::vector<ChosenRate>& chosen, SourceLocation location) {
  const std::string text = read_text(file_beside(location).string());
  const std::vector<TuningRow> rows = rows_of(text);
  const std::set<double> rates = rates_of(rows);
  std::string matrix = title_of(text) + ", by learning rate\n" + pad_right("", 24);
  for (const double rate : rates) matrix += pad_left(number(rate), 10);
  std::string at_edge, wrong;
  for (const ChosenRate& choice : chosen) {
    const std::vector<TuningRow> of_variant = rows_of_variant(rows, choice.variant);
    const std::string name = ", " + choice.variant + " " + number(choice.rate);
    matrix += "\n" + matrix_line(of_variant, rates);
    if (choice.open_edge) at_edge += name;
    if (!is_well_chosen(choice, of_variant)) wrong += name;
  }
  quote(matrix, location);
  std::string exception;
  if (!at_edge.empty()) exception = ", but at its edge: " + at_edge.substr(2);
  claim("each chosen rate is the best of its sweep, and inside it" + exception, wrong.empty(),
        "not " + wrong.substr(std::min<std::size_t>(2, wrong.size())), location);
}

}  // namespace heed
