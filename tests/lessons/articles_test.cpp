// articles_test.cpp: the lessons print every number of the two articles that they follow.
//
// articles.json has each tensor that an article prints, with the calls that compute the tensor, and
// the outputs of modules for which an article prints only the shape.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "lessons/programs.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed_test;
using Json = nlohmann::json;
using Row = std::vector<double>;

// The numbers at the end of a line: 0.3367 and -infinity for "the  0.3367  -inf".
Row last_numbers(const std::string& line) {
  Row row;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (*end == '\0')
      row.push_back(value);
    else
      row.clear();
  }
  return row;
}

// The rows of a tensor: one for a scalar or a vector, three for shape (1, 3, 5).
std::vector<Row> rows_of(const Json& printed) {
  if (!printed.is_array()) return {{printed.get<double>()}};
  std::vector<Row> rows;
  if (printed.at(0).is_array()) {
    for (const Json& part : printed)
      for (const Row& row : rows_of(part)) rows.push_back(row);
    return rows;
  }
  rows.emplace_back();
  for (const Json& number : printed)
    rows.back().push_back(number.is_string() ? -INFINITY : number.get<double>());
  return rows;
}

bool ends_in(const Row& line, const Row& row, double tolerance) {
  if (line.size() < row.size()) return false;
  return std::equal(row.begin(), row.end(), line.end() - std::ptrdiff_t(row.size()),
                    [&](double a, double b) { return a == b || std::abs(a - b) <= tolerance; });
}

// Whether consecutive lines end in these rows.
bool has_table(const std::vector<Row>& lines, const std::vector<Row>& rows, double tolerance) {
  for (std::size_t first = 0; first + rows.size() <= lines.size(); ++first) {
    std::size_t r = 0;
    while (r < rows.size() && ends_in(lines[first + r], rows[r], tolerance)) ++r;
    if (r == rows.size()) return true;
  }
  return false;
}

// The output of lessons 00 to 12, which follow the articles. (Other tests compare it with a run.)
std::vector<std::string> output_lines() {
  std::vector<std::string> lines;
  for (const std::filesystem::path& lesson : lesson_folders()) {
    if (lesson.filename().string() >= "13") break;
    for (const std::string& line : lines_of(content(lesson / "output.txt"))) lines.push_back(line);
  }
  return lines;
}

bool has_line_with(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != line.npos; });
}

}  // namespace

TEST_CASE("the lessons print all 219 numbers of the articles' tables and nine dot products",
          "[lessons][articles]") {
  const std::vector<std::string> lines = output_lines();
  std::vector<Row> numbers;
  for (const std::string& line : lines) numbers.push_back(last_numbers(line));
  std::size_t in_tables = 0, dot_products = 0, not_printed = 0, shapes = 0;
  for (const Json& tensor : Json::parse(content(HEED_TESTS_DIR "/lessons/articles.json"))) {
    INFO("article " << tensor.at("article") << ": " << tensor.at("name") << " = "
                    << tensor.at("calls"));
    if (tensor.contains("line")) {  // the article prints only a shape
      CHECK(has_line_with(lines, tensor.at("line")));
      ++shapes;
      continue;
    }
    const bool printed = tensor.contains("printed");  // otherwise the calls compute it
    const std::vector<Row> rows = rows_of(tensor.at(printed ? "printed" : "made"));
    const bool scalar = tensor.at("shape").empty();  // printed with all digits
    CHECK(has_table(numbers, rows, scalar ? 1.3e-7 : 5.1e-5));
    for (const Row& row : rows)
      (!printed ? not_printed : scalar ? dot_products : in_tables) += row.size();
  }
  CHECK(in_tables == 219);
  CHECK(dot_products == 9);
  CHECK(not_printed == 48);
  CHECK(shapes == 3);
}

TEST_CASE("has_table finds only a complete table at the ends of consecutive lines",
          "[lessons][articles]") {
  const std::vector<Row> rows = rows_of(Json::parse(R"([[1.5, "-inf"], [0.25, 2]])"));
  const auto found = [&](const std::string& text) {
    std::vector<Row> lines;
    for (const std::string& line : lines_of(text)) lines.push_back(last_numbers(line));
    return has_table(lines, rows, 5.1e-5);
  };
  CHECK(found("T (2, 2)\nthe  1.5000    -inf\ncat  0.2500  2.0000\n"));
  CHECK(found("1.50005 -inf\n0.25 2"));
  CHECK_FALSE(found("1.5001 -inf\n0.25 2"));
  CHECK_FALSE(found("1.5 0\n0.25 2"));
  CHECK_FALSE(found("1.5 -inf\n\n0.25 2"));
  CHECK_FALSE(found("1.5 -inf the\n0.25 2"));
  CHECK_FALSE(found("1.5 -inf"));
}
