// loss_csv.cpp: writes and reads the loss history of a training run as CSV.

#include "heed/train/loss_csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return split(line, ',');
}

// The number in a cell, which may be nan or inf; NaN if the cell is empty.
double number_in(const std::vector<std::string>& cells, std::size_t column, const std::string& path,
                 std::size_t line) {
  if (column >= cells.size()) throw_error(path, ":", line, ": a cell is missing");
  const std::string& cell = cells[column];
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const char* const end = cell.data() + cell.size();
  const char* const begin = cell.data() + std::min(cell.find_first_not_of(' '), cell.size());
  if (const auto read = std::from_chars(begin, end, value);
      read.ec != std::errc() || read.ptr != end)
    throw_error(path, ":", line, ": '", printable(cell), "' is not a number");
  return value;
}

// The file's text. Throws Error for a pipe or a device, which could have no end.
std::string text_of(const std::string& path) {
  constexpr std::size_t most_bytes = 1'000'000'000;  // more than ten million rows
  const InputFile file(path);
  if (file.size() > most_bytes)
    throw_error(path, ": has ", grouped(static_cast<double>(file.size())), " bytes, more than ",
                grouped(static_cast<double>(most_bytes)), "; it is not a loss.csv of heed's");
  return file.read_to_end();
}

void append(LossCsv::Losses& losses, double step, double loss) {
  if (std::isnan(loss)) return;
  losses.steps.push_back(step);
  losses.values.push_back(loss);
}

}  // namespace

std::string csv(const LogRow& row) {
  return std::to_string(row.step) + "," + exact(row.train_loss) + "," +
         (row.val_loss ? exact(*row.val_loss) : "") + "," + exact(row.learning_rate) + "," +
         exact(row.grad_norm) + "," + exact(row.ms) + "\n";
}

std::string csv(const std::vector<LogRow>& rows) {
  std::string text = "step,train_loss,val_loss,learning_rate,grad_norm,ms\n";
  for (const LogRow& row : rows) text += csv(row);
  return text;
}

namespace {

// The lines of a CSV file as cells. Its first line has the names of the columns, in any order.
class Table {
 public:
  explicit Table(const std::string& path) : path_(path) {
    std::string text = text_of(path), line;
    const std::size_t whole = text.rfind('\n') + 1;  // 0 without a line
    is_last_row_cut_ = whole < text.size();
    file_.str(text.erase(whole));
    if (!std::getline(file_, line))
      throw_error(path, ": is empty; heed train --resume writes it again");
    header_ = cells_of(line);
  }

  bool is_last_row_cut() const { return is_last_row_cut_; }
  std::size_t column(const char* name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) throw_error(path_, ": its first line has no column '", name, "'");
    return static_cast<std::size_t>(found - header_.begin());
  }
  // Goes to the next line that is not empty. Returns false after the last line.
  bool next() {
    for (std::string line; std::getline(file_, line);) {
      ++number_;
      cells_ = cells_of(line);
      if (cells_.size() > 1 || !cells_[0].empty()) return true;
    }
    return false;
  }
  double at(std::size_t column) const { return number_in(cells_, column, path_, number_); }
  double step_at(std::size_t column) const {
    const double step = at(column);
    if (!std::isfinite(step))
      throw_error(path_, ":", number_, ": the step must be a finite number");
    return step;
  }

 private:
  std::string path_;
  std::istringstream file_;  // the lines that have an end
  bool is_last_row_cut_;
  std::vector<std::string> header_, cells_;
  std::size_t number_ = 1;  // of the current line
};

}  // namespace

LossCsv read_loss_csv(const std::string& path) {
  Table table(path);
  LossCsv csv{{}, {}, table.column("step"), table.column("train_loss"), table.column("val_loss")};
  while (table.next()) {
    const double step = table.step_at(csv.step_column);
    append(csv.training, step, table.at(csv.train_column));
    append(csv.validation, step, table.at(csv.val_column));
  }
  return csv;
}

LogRows read_log_rows(const std::string& path) {
  Table table(path);
  const std::size_t step = table.column("step"), train = table.column("train_loss"),
                    val = table.column("val_loss"), lr = table.column("learning_rate"),
                    norm = table.column("grad_norm"), ms = table.column("ms");
  LogRows result{{}, table.is_last_row_cut()};
  while (table.next()) {
    LogRow row;
    row.step = static_cast<std::int64_t>(table.step_at(step));
    row.train_loss = table.at(train);
    if (const double loss = table.at(val); !std::isnan(loss)) row.val_loss = loss;
    row.learning_rate = table.at(lr);
    row.grad_norm = table.at(norm);
    row.ms = table.at(ms);
    result.rows.push_back(row);
  }
  return result;
}

}  // namespace HEED_NAMESPACE
