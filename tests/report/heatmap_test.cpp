// heatmap_test.cpp: matrices as shades, in a terminal and in a file.

#include "heed/report/heatmap.hpp"

#include <limits>

#include "catch.hpp"
#include "heed/base/text.hpp"
#include "scratch_folder.hpp"

using namespace heed;

namespace {

const Real infinity = std::numeric_limits<Real>::infinity();
const Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

Array causal_scores() {  // (3, 3), masked above the diagonal
  return {{1, -infinity, -infinity}, {0, 1, -infinity}, {Real(0.5), Real(0.25), not_a_number}};
}

}  // namespace

TEST_CASE("a heat map shades from the least to the largest value", "[report][heatmap]") {
  const Array x = {{0, Real(0.25)}, {Real(0.5), 1}};
  CHECK(heatmap_text(x, {"weights"}) ==
        "weights (2, 2)\n"
        " │  ░░│\n"
        " │▒▒██│\n"
        "  0.0000   ░░▒▒▓▓██ 1.0000\n");
}

TEST_CASE("masked cells and cells that are not numbers have signs of their own",
          "[report][heatmap]") {
  CHECK(heatmap_text(causal_scores()) ==
        " │██····│\n"
        " │  ██··│\n"
        " │▒▒░░??│\n"
        "  0.0000   ░░▒▒▓▓██ 1.0000   ·· masked   ?? not a number\n");
}

TEST_CASE("the ASCII form has no character outside ASCII", "[report][heatmap]") {
  HeatmapOptions options;
  options.shades = Shades::ascii;
  const std::string text = heatmap_text(causal_scores(), options);
  CHECK(text ==
        " |@@////|\n"
        " |  @@//|\n"
        " |++::??|\n"
        "  0.0000   ..::--==++**##%%@@ 1.0000   // masked   ?? not a number\n");
}

TEST_CASE("the ANSI form ends every colour it begins", "[report][heatmap]") {
  HeatmapOptions options;
  options.shades = Shades::ansi;
  const std::string text = heatmap_text(ones({2, 2}), options);
  std::size_t begun = 0, ended = 0;
  for (std::size_t i = 0; i + 3 < text.size(); ++i) {
    begun += text.compare(i, 4, "\x1b[48") == 0;
    ended += text.compare(i, 4, "\x1b[0m") == 0;
  }
  CHECK(begun == ended);
  CHECK(begun == 4 + 11);
}

TEST_CASE("names stand beside rows and downwards above columns", "[report][heatmap]") {
  const Array x = {{1, 0}, {0, 1}};
  HeatmapOptions options;
  options.row_names = {"the", "door"};
  options.column_names = {"the", "door"};
  options.row_title = "query", options.column_title = "key";
  CHECK(heatmap_text(x, options) ==
        "rows: query, columns: key\n"
        "        d\n"
        "      t o\n"
        "      h o\n"
        "      e r\n"
        " the │██  │\n"
        "door │  ██│\n"
        "      0.0000   ░░▒▒▓▓██ 1.0000\n");
}

TEST_CASE("the scale can be given, and values outside it are at its ends", "[report][heatmap]") {
  const Array x = {{-5, 5}};
  HeatmapOptions options;
  options.low = 0, options.high = 1;
  CHECK(heatmap_text(x, options) == " │  ██│\n  0.0000   ░░▒▒▓▓██ 1.0000\n");
}

TEST_CASE("a heat map never exceeds the width of the terminal", "[report][heatmap]") {
  for (const std::size_t size : {1u, 20u, 37u, 39u, 64u, 77u, 78u, 100u, 256u}) {
    const std::string text = heatmap_text(ones({2, size}));
    const std::string first = text.substr(0, text.find('\n'));
    CHECK(display_width(first) <= 80);
    CHECK(contains(text, "each cell the largest of") == (size > 77));
  }
}

TEST_CASE("a coarser heat map keeps the largest values", "[report][heatmap]") {
  Array x = zeros({2, 100});
  x(1, 99) = 1;
  const std::string text = heatmap_text(x);
  CHECK(contains(text, "█│\n"));
  CHECK(contains(text, "2 x 2"));
}

TEST_CASE("a matrix of one value, or of none that is finite, has a scale too",
          "[report][heatmap]") {
  CHECK(heatmap_range(ones({2, 2}), {}).span() == 1);
  CHECK(heatmap_range(filled({2, 2}, not_a_number), {}).span() == 1);
  const double large = heatmap_range(filled({2, 2}, Real(1e20)), {}).span();  // 1e20 + 1 is 1e20
  CHECK((large > 0.9e14 && large < 1.1e14));
  CHECK(heatmap_range(filled({2, 2}, Real(-1e20)), {}).span() > 0.9e14);
  CHECK(heatmap_text(filled({1, 1}, -infinity)) ==
        " │··│\n  0.0000   ░░▒▒▓▓██ 1.0000   ·· masked\n");
}

TEST_CASE("a diverging scale is as long on both sides of zero", "[report][heatmap]") {
  HeatmapOptions options;
  options.diverging = true;
  const Range range = heatmap_range(Array{{-1, 3}}, options);
  CHECK(range.low == -3);
  CHECK(range.high == 3);
}

TEST_CASE("what is not a matrix, or has other names than rows, is refused", "[report][heatmap]") {
  CHECK_THROWS_WITH(heatmap_text(zeros({3})), "heatmap: needs a matrix with values, got x (3)");
  CHECK_THROWS_WITH(heatmap_text(zeros({0, 3})),
                    "heatmap: needs a matrix with values, got x (0, 3)");
  CHECK_THROWS_WITH(heatmap_text(zeros({2, 3}), {"", {"a"}}), "heatmap: 1 row names for x (2, 3)");
  CHECK_THROWS_WITH(draw_heatmap(".", "x", zeros({2, 3}), {"", {}, {"a"}}),
                    "heatmap: 1 column names for x (2, 3)");
}

TEST_CASE("a heat map's file has names, values and the matrix beside it", "[report][heatmap]") {
  const ScratchFolder folder("heat map");
  HeatmapOptions options;
  options.title = "head 2";
  options.row_names = options.column_names = {"it's", "[MASK]", "<5 %s"};
  const Plot plot = draw_heatmap(folder.path, "head 2", causal_scores(), options);
  CHECK(folder.read("head 2.csv").rfind("row,column,value\n0,0,1\n0,1,-inf\n", 0) == 0);
  CHECK(contains(folder.read("head 2.csv"), "2,2,nan\n"));
  if (contains(plot.message, "not installed")) {
    WARN(plot.message);
    return;
  }
  INFO(plot.message);
  CHECK(plot.ok);
  const std::string svg = folder.read("head 2.svg");
  CHECK(contains(svg, "head 2 (3, 3)"));
  CHECK(contains(svg, "[MASK]"));
  CHECK(contains(svg, "&lt;5 %s"));
  CHECK(contains(svg, "0.25"));
}

TEST_CASE("a diverging heat map's file is blue below zero, brown above, pale at zero",
          "[report][heatmap]") {
  const ScratchFolder folder("diverging");
  HeatmapOptions options;
  options.diverging = true;
  const Array x = {{-1, 0, 3}, {-3, Real(1.5), Real(-1.5)}};
  const Plot plot = draw_heatmap(folder.path, "change", x, options);
  CHECK(contains(folder.read("change.gp"), "set cbrange [-3:3]\n"));
  if (contains(plot.message, "not installed")) {
    WARN(plot.message);
    return;
  }
  INFO(plot.message);
  CHECK(plot.ok);
  const std::string svg = folder.read("change.svg");
  for (const char* color : {"rgb( 33, 102, 172)", "rgb(247, 247, 247)", "rgb(178,  80,  11)"})
    CHECK(contains(svg, color));
  CHECK(draw_heatmap(folder.path, "plain", x).ok);
  for (const char* color : {"rgb( 33, 102, 172)", "rgb(178,  80,  11)"})
    CHECK_FALSE(contains(folder.read("plain.svg"), color));
}

TEST_CASE("values are written in white where cells are dark, else in black", "[report][heatmap]") {
  const ScratchFolder folder("white on dark");
  const Plot plot = draw_heatmap(folder.path, "x", Array{{0, Real(0.5)}, {Real(0.6), 1}});
  if (contains(plot.message, "not installed")) return;
  const std::string svg = folder.read("x.svg");
  const auto is_white = [&](const std::string& value) {
    const std::size_t at = svg.find("<text>" + value + "</text>");
    REQUIRE(at != svg.npos);
    const std::size_t fill = svg.rfind("fill=\"", at);
    return svg.compare(fill, 22, "fill=\"rgb(255,255,255)") == 0;
  };
  CHECK_FALSE(is_white("0.00"));
  CHECK_FALSE(is_white("0.50"));
  CHECK(is_white("0.60"));
  CHECK(is_white("1.00"));
}
