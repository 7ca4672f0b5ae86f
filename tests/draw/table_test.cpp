// table_test.cpp: tests of table.

#include "heed/draw/table.hpp"

#include <algorithm>
#include <limits>

#include "catch.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "message_of.hpp"

using namespace heed;
using heed::test::message_of;

namespace {

const Real infinity = std::numeric_limits<Real>::infinity();

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    widest = std::max(widest, display_width(text.substr(start, end - start)));
    start = end + 1;
  }
  return widest;
}

}  // namespace

TEST_CASE("a matrix is printed with four decimals, right-aligned", "[draw][table]") {
  const Array x = {{Real(0.3367), Real(0.1288)}, {Real(-1.1229), Real(12)}};  // (2, 2)
  CHECK(table(x, {"token vectors"}) ==
        "token vectors (2, 2)\n"
        "   0.3367   0.1288\n"
        "  -1.1229  12.0000\n");
}

TEST_CASE("rows and columns are printed with their names", "[draw][table]") {
  const Array x = {{1, 0}, {Real(0.25), Real(0.75)}};  // (2, 2)
  CHECK(table(x, {"weights", {"the", "door"}, {"the", "[a long one]"}}) ==
        "weights (2, 2)\n"
        "         the  [a long one]\n"
        " the  1.0000        0.0000\n"
        "door  0.2500        0.7500\n");
}

TEST_CASE("a vector is one row, and a scalar follows its title", "[draw][table]") {
  const Array x = {1, 2, 3};
  CHECK(table(x) == "  1.0000  2.0000  3.0000\n");
  CHECK(table(x, {"x", {}, {"a", "b", "c"}, 1}) == "x (3)\n    a    b    c\n  1.0  2.0  3.0\n");
  CHECK(table(scalar(Real(2.5)), {"loss"}) == "loss ()  2.5000\n");
}

TEST_CASE("the matrices of a batch are printed under their indices", "[draw][table]") {
  Array x = zeros({2, 1, 2});
  x(1, 0, 1) = -1;
  CHECK(table(x, {"x"}) ==
        "x (2, 1, 2)\n"
        "[0]\n"
        "   0.0000   0.0000\n"
        "[1]\n"
        "   0.0000  -1.0000\n");
  const std::string four = table(ones({2, 2, 1, 1}));
  CHECK(four == "[0, 0]\n  1.0000\n[0, 1]\n  1.0000\n[1, 0]\n  1.0000\n[1, 1]\n  1.0000\n");
}

TEST_CASE("masked scores are printed as -inf and NaN as nan", "[draw][table]") {
  const Array x = {{1, -infinity}, {std::numeric_limits<Real>::quiet_NaN(), infinity}};
  CHECK(table(x) == "  1.0000    -inf\n     nan     inf\n");
}

TEST_CASE("values too small or too large for four decimals use scientific notation",
          "[draw][table]") {
  const Array small = {Real(2e-7), 0}, large = {Real(3e9), 1}, mixed = {1, Real(2e-7)};
  CHECK(table(small) == "  2.0000e-07  0.0000e+00\n");
  CHECK(table(large) == "  3.0000e+09  1.0000e+00\n");
  CHECK(table(mixed) == "  1.0000  0.0000\n");
  CHECK(table(Array{Real(1e8)}) == "  1.0000e+08\n");
  CHECK(table(Array{Real(99999992)}) == "  99999992.0000\n");
}

TEST_CASE("zeros are printed without an exponent", "[draw][table]") {
  CHECK(table(zeros({1, 2}), {"zeros"}) == "zeros (1, 2)\n  0.0000  0.0000\n");
}

TEST_CASE("a matrix wider than the terminal is split into strips", "[draw][table]") {
  const Array x = ones({2, 5});
  TableOptions options;
  options.row_names = {"the", "door"};
  options.width = 30;  // 4 columns and three times 8
  CHECK(table(x, options) ==
        "columns 0 to 2\n"
        " the  1.0000  1.0000  1.0000\n"
        "door  1.0000  1.0000  1.0000\n"
        "columns 3 to 4\n"
        " the  1.0000  1.0000\n"
        "door  1.0000  1.0000\n");
  CHECK(widest_line(table(ones({3, 100}))) <= 80);
}

TEST_CASE("long axes show their first and last indices", "[draw][table]") {
  Array x = zeros({6, 6});
  for (std::size_t i = 0; i < 6; ++i) x(i, i) = static_cast<Real>(i);
  TableOptions options;
  options.max_shown = 2;
  options.decimals = 0;
  CHECK(table(x, options) ==
        "    0  ...    0\n"
        "  ...  ...  ...\n"
        "    0  ...    5\n");
}

TEST_CASE("an array without values is printed as (empty)", "[draw][table]") {
  CHECK(table(zeros({0, 3}), {"nothing"}) == "nothing (0, 3)\n  (empty)\n");
}

TEST_CASE("a newline in a name does not break the table", "[draw][table]") {
  CHECK(table(Array{1}, {"", {}, {"\n"}}) == "      \\n\n  1.0000\n");
}

TEST_CASE("table rejects a wrong number of names", "[draw][table]") {
  CHECK_THROWS_WITH(table(zeros({4, 2}), {"x", {"a", "b", "c"}}),
                    "table: 3 row names for 4 rows of x (4, 2)");
  CHECK_THROWS_WITH(table(zeros({4, 2}), {"x", {}, {"a"}}),
                    "table: 1 column names for 2 columns of x (4, 2)");
}

TEST_CASE("the rows of a table are its padded cells, and titles of one cell", "[draw]") {
  using Rows = std::vector<std::vector<std::string>>;
  const Array x = {{{1, -2}}, {{3, 4}}};  // (2, 1, 2)
  CHECK(table_rows(x, {"x", {"cat"}, {"a", "b"}, 1}) == Rows{{"[0]"},
                                                             {"   ", "   a", "   b"},
                                                             {"cat", " 1.0", "-2.0"},
                                                             {"[1]"},
                                                             {"   ", "   a", "   b"},
                                                             {"cat", " 3.0", " 4.0"}});
  CHECK(table_title(x, {"x"}) == "x (2, 1, 2)");
  CHECK(table_title(x, {}) == "");
}

TEST_CASE("a table has 0 to 100 decimals", "[draw][table]") {
  TableOptions options;
  for (const int decimals : {-1, 101, 2'000'000'000}) {
    options.decimals = decimals;
    CHECK(message_of([&] { table(ones({1}), options); }) ==
          "table: decimals is " + std::to_string(decimals) + "; give 0 to 100");
  }
  options.decimals = 100;
  CHECK(table(ones({1}), options).find("1." + std::string(100, '0')) != std::string::npos);
}
