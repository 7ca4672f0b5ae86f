// tuning.cpp: the learning rates of a lesson are chosen by a sweep that a reader can run.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
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

std::vector<TuningRow> rows_of_variant(const std::vector<TuningRow>& rows,
                                       const std::string& variant) {
  std::vector<TuningRow> found;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
               [&](const TuningRow& row) { return row.variant == variant; });
  if (found.empty())
    throw_error("tuning.txt: no row of '" + variant + "'; run it with HEED_TUNE=1");
  return found;
}

// The loss over the base-10 logarithm of the rate.
Series curve_of(const std::vector<TuningRow>& rows) {
  Series curve{rows.front().variant, {}, {}, /*points=*/true};
  for (const TuningRow& row : rows) curve.append(std::log10(row.rate), row.loss);
  return curve;
}

double best_rate(const std::vector<TuningRow>& rows) {
  const auto less = [](const TuningRow& a, const TuningRow& b) { return a.loss < b.loss; };
  return std::min_element(rows.begin(), rows.end(), less)->rate;
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

void show_tuning(const std::string& y_title, const std::vector<ChosenRate>& chosen,
                 SourceLocation location) {
  const std::string text = read_text(file_beside(location).string());
  const std::vector<TuningRow> rows = rows_of(text);
  quote(text, location);
  std::vector<Series> curves;
  for (const ChosenRate& choice : chosen)
    curves.push_back(curve_of(rows_of_variant(rows, choice.variant)));
  const std::string lesson = fs::path(location.file).parent_path().filename().string();
  picture(lesson, "tuning", curves,
          {"loss over learning rate", "log10 of the learning rate", y_title}, location);
  std::string rates, best;
  for (const ChosenRate& choice : chosen) {
    rates += ", " + choice.variant + " " + number(choice.rate);
    best += ", " + choice.variant + " " + number(best_rate(rows_of_variant(rows, choice.variant)));
  }
  claim("each rate is the best of its sweep: " + rates.substr(2), rates == best, best.substr(2),
        location);
}

}  // namespace heed
