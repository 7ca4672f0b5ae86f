// articles_test.cpp: every number of the two articles that the lessons follow is in what they
// print.
//
// articles.json has each number as the article prints it, with the calls that make it; and what its
// modules make of which it prints the shape.

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

// The numbers a line ends in: of "the  0.3367  -inf" those are 0.3367 and -infinity.
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

// A tensor's rows: of a scalar or a vector one, of (1, 3, 5) three.
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

bool ends_in(const Row& line, const Row& wanted, double tolerance) {
  if (line.size() < wanted.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), line.end() - std::ptrdiff_t(wanted.size()),
                    [&](double a, double b) { return a == b || std::abs(a - b) <= tolerance; });
}

// Whether the rows stand one below the other, each at the end of its line.
bool has_table(const std::vector<Row>& lines, const std::vector<Row>& rows, double tolerance) {
  for (std::size_t first = 0; first + rows.size() <= lines.size(); ++first) {
    std::size_t r = 0;
    while (r < rows.size() && ends_in(lines[first + r], rows[r], tolerance)) ++r;
    if (r == rows.size()) return true;
  }
  return false;
}

std::vector<std::string> everything_printed() {
  std::vector<std::string> lines;
  for (const std::filesystem::path& lesson : numbered("lessons")) {
    if (trains(lesson)) continue;  // no article does
    const ScratchFolder folder(lesson.stem().string());
    const LessonRun run = run_in(folder.path, HEED_BINARY_DIR "/lessons/" + lesson.stem().string());
    for (const std::string& line : lines_of(run.output)) lines.push_back(line);
  }
  return lines;
}

bool has_line_with(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != line.npos; });
}

}  // namespace

TEST_CASE("all 219 numbers of the articles' tables, and nine dot products, are in the lessons",
          "[lessons][articles]") {
  const std::vector<std::string> lines = everything_printed();
  std::vector<Row> numbers;
  for (const std::string& line : lines) numbers.push_back(last_numbers(line));
  std::size_t in_tables = 0, dot_products = 0, made = 0, shapes = 0;
  for (const Json& tensor : Json::parse(contents(HEED_TESTS_DIR "/lessons/articles.json"))) {
    INFO("article " << tensor.at("article") << ": " << tensor.at("name") << " = "
                    << tensor.at("calls"));
    if (tensor.contains("line")) {  // a shape, which is all the article prints
      CHECK(has_line_with(lines, tensor.at("line")));
      ++shapes;
      continue;
    }
    const bool printed = tensor.contains("printed");  // else made, by its calls, and not printed
    const std::vector<Row> rows = rows_of(tensor.at(printed ? "printed" : "made"));
    const bool scalar = tensor.at("shape").empty();  // printed to its last digit
    CHECK(has_table(numbers, rows, scalar ? 1.3e-7 : 5.1e-5));
    for (const Row& row : rows) (!printed ? made : scalar ? dot_products : in_tables) += row.size();
  }
  CHECK(in_tables == 219);
  CHECK(dot_products == 9);
  CHECK(made == 48);
  CHECK(shapes == 3);
}

TEST_CASE("a table is found at the ends of its lines only, and all of it", "[lessons][articles]") {
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
