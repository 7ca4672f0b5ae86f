// three_languages_test.cpp: heed's column of lessons/THREE_LANGUAGES.md, compiled, run and compared
// with the outputs on the page.

#include <cmath>
#include <optional>

#include "heed/heed.hpp"
#include "lessons/programs.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed_test;

// clang-format off
// page: AttentionHead
struct AttentionHead {
AttentionHead(Scope scope, std::size_t embed_dim, std::size_t head_size)
: query(scope / "query", embed_dim, head_size, false),
key(scope / "key", embed_dim, head_size, false),
value(scope / "value", embed_dim, head_size, false) {}
Tensor operator()(const Tensor& x) const {
const Tensor q = query(x);
const Tensor k = key(x);
const Tensor v = value(x);
const Tensor scores = matmul(q, transpose(k, -2, -1));
const Tensor scaled = scores / std::sqrt(double(k.shape().back()));
const Tensor weights = softmax(scaled, -1);
return matmul(weights, v);
}
nn::Linear query, key, value;
};
// page ends
Array masked_scores(const Tensor& scaled, std::size_t T) {
// page: causal
const Mask later = future_mask(T);
const Tensor masked = masked_fill(scaled, later, -INFINITY);
// page ends
return masked.value();
}
// page: MultiHeadAttention
struct MultiHeadAttention {
MultiHeadAttention(Scope scope, std::size_t embed_dim, std::size_t num_heads) {
const std::size_t size = embed_dim / num_heads;
for (std::size_t h = 0; h < num_heads; ++h)
heads.emplace_back(scope / "heads" / h, embed_dim, size);
out.emplace(scope / "out", embed_dim, embed_dim);
} Tensor operator()(const Tensor& x) const {
std::vector<Tensor> outputs;
for (const AttentionHead& head : heads) outputs.push_back(head(x));
return (*out)(concat(outputs, -1));
}
std::vector<AttentionHead> heads;
std::optional<nn::Linear> out;
};
// page ends
// clang-format on

std::string page() { return content(HEED_SOURCE_DIR "/lessons/THREE_LANGUAGES.md"); }

// The cells of a row of a Markdown table: {"W_Q", "`self$query`", ...}, or none for another line.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.empty() || line[0] != '|') return cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
    cells.push_back(first == cell.npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

// The code in column `column` of all tables with four columns, without empty cells.
std::vector<std::string> code_column(std::size_t column) {
  std::vector<std::string> code;
  for (const std::string& line : lines_of(page())) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != 4 || cells[column].size() < 3 || cells[column].front() != '`') continue;
    code.push_back(cells[column].substr(1, cells[column].size() - 2));
  }
  return code;
}

// The lines of this file between "// page: NAME" and "// page ends".
std::vector<std::string> compiled_code() {
  std::vector<std::string> code;
  bool inside = false;
  for (const std::string& line :
       lines_of(content(HEED_TESTS_DIR "/lessons/three_languages_test.cpp"))) {
    if (line == "// page ends") inside = false;
    if (inside) code.push_back(line);
    if (line.rfind("// page: ", 0) == 0) inside = true;
  }
  return code;
}

// The rows of numbers of the table whose first cell is `title`.
std::vector<std::vector<double>> numbers_below(const std::string& title) {
  std::vector<std::vector<double>> rows;
  bool inside = false;
  for (const std::string& line : lines_of(page())) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) inside = false;
    if (inside && cells[0].find_first_of("0123456789") != std::string::npos) {
      rows.emplace_back();
      for (const std::string& cell : cells) rows.back().push_back(std::stod(cell));
    }
    if (!cells.empty() && cells[0] == title) inside = true;
  }
  return rows;
}

// Checks that the first columns of x (1, 3, C) are the numbers of the page, with four decimals.
void check_numbers(const std::string& title, const Array& x) {
  const std::vector<std::vector<double>> rows = numbers_below(title);
  REQUIRE(rows.size() == 3);
  for (std::size_t t = 0; t < 3; ++t) {
    REQUIRE(rows[t].size() == 8);
    for (std::size_t c = 0; c < 8; ++c) {
      INFO(title << ", row " << t << ", column " << c);
      CHECK(std::abs(double(x(0, t, c)) - rows[t][c]) < 5.1e-5);
    }
  }
}

}  // namespace

TEST_CASE("heed's column of the three languages is the code that this test compiles",
          "[lessons][three_languages]") {
  CHECK(code_column(3) == compiled_code());
  CHECK(compiled_code().size() == 32);
}

TEST_CASE("the modules of the three languages have the outputs on the page",
          "[lessons][three_languages]") {
  Generator g(89);
  g.randn({1, 3, 5});
  for (int n = 0; n < 3; ++n) nn::init::linear_weight(g, 5, 16);
  Parameters of_head, of_heads;
  const Tensor x(g.randn({1, 3, 32}));
  check_numbers("AttentionHead(32, 8)", AttentionHead({of_head, g}, 32, 8)(x).value());
  const Tensor other(g.randn({1, 3, 32}));
  const MultiHeadAttention attention({of_heads, g}, 32, 4);
  check_numbers("MultiHeadAttention(32, 4), columns 0 to 7", attention(other).value());
  CHECK(attention(other).shape() == Shape{1, 3, 32});
}

TEST_CASE("the causal rows of the three languages mask the later keys",
          "[lessons][three_languages]") {
  const Array scores = masked_scores(Tensor(ones({1, 2, 2})), 2);
  CHECK(scores(0, 0, 0) == 1);
  CHECK(scores(0, 0, 1) == -INFINITY);
  CHECK(scores(0, 1, 0) == 1);
}
