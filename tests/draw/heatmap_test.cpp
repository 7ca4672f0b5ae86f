// heatmap_test.cpp: tests of heatmap_text, draw_heatmap and heatmap_range.

#include "heed/draw/heatmap.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "catch.hpp"
#include "heed/base/text.hpp"
#include "message_of.hpp"
#include "scratch_folder.hpp"

using namespace heed;
using heed::test::message_of;
using namespace heed_test;

namespace {

const Real infinity = std::numeric_limits<Real>::infinity();
const Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

Array causal_scores() {  // (3, 3), masked above the diagonal
  return {{1, -infinity, -infinity}, {0, 1, -infinity}, {Real(0.5), Real(0.25), not_a_number}};
}

}  // namespace

TEST_CASE("the shades range from the smallest to the largest value", "[draw][heatmap]") {
  const Array x = {{0, Real(0.25)}, {Real(0.5), 1}};
  CHECK(heatmap_text(x, {"weights"}) ==
        "weights (2, 2)\n"
        " │  ░░│\n"
        " │▒▒██│\n"
        "  0.0000   ░░▒▒▓▓██ 1.0000\n");
}

TEST_CASE("masked cells and NaN have their own symbols", "[draw][heatmap]") {
  CHECK(heatmap_text(causal_scores()) ==
        " │██····│\n"
        " │  ██··│\n"
        " │▒▒░░??│\n"
        "  0.0000   ░░▒▒▓▓██ 1.0000   ·· masked   ?? not a number\n");
}

TEST_CASE("the ASCII shades use only ASCII characters", "[draw][heatmap]") {
  HeatmapOptions options;
  options.shades = Shades::ascii;
  const std::string text = heatmap_text(causal_scores(), options);
  CHECK(text ==
        " |@@////|\n"
        " |  @@//|\n"
        " |++::??|\n"
        "  0.0000   ..::--==++**##%%@@ 1.0000   // masked   ?? not a number\n");
}

TEST_CASE("the ANSI shades reset every colour that they set", "[draw][heatmap]") {
  HeatmapOptions options;
  options.shades = Shades::ansi;
  const std::string text = heatmap_text(ones({2, 2}), options);
  std::size_t num_set = 0, num_reset = 0;
  for (std::size_t i = 0; i + 3 < text.size(); ++i) {
    num_set += text.compare(i, 4, "\x1b[48") == 0;
    num_reset += text.compare(i, 4, "\x1b[0m") == 0;
  }
  CHECK(num_set == num_reset);
  CHECK(num_set == 4 + 11);
}

TEST_CASE("names are beside the rows and vertically above the columns", "[draw][heatmap]") {
  const Array x = {{1, 0}, {0, 1}};
  HeatmapOptions options;
  options.row_names = {"the", "door"};
  options.column_names = {"the", "door"};
  options.row_title = "query position", options.column_title = "key position";
  CHECK(heatmap_text(x, options) ==
        "rows: query position, columns: key position\n"
        "        d\n"
        "      t o\n"
        "      h o\n"
        "      e r\n"
        " the │██  │\n"
        "door │  ██│\n"
        "      0.0000   ░░▒▒▓▓██ 1.0000\n");
}

TEST_CASE("options set the scale, and values outside it are clamped", "[draw][heatmap]") {
  const Array x = {{-5, 5}};
  HeatmapOptions options;
  options.low = 0, options.high = 1;
  CHECK(heatmap_text(x, options) == " │  ██│\n  0.0000   ░░▒▒▓▓██ 1.0000\n");
}

TEST_CASE("a heat map never exceeds the width of the terminal", "[draw][heatmap]") {
  for (const std::size_t size : {1u, 20u, 37u, 39u, 64u, 77u, 78u, 100u, 256u}) {
    const std::string text = heatmap_text(ones({2, size}));
    const std::string first = text.substr(0, text.find('\n'));
    CHECK(display_width(first) <= 80);
    CHECK(has(text, "each cell: maximum of") == (size > 77));
  }
}

TEST_CASE("a heat map without space for a column has one column", "[draw][heatmap]") {
  for (const std::size_t width : {1u, 2u, 3u, 4u}) {
    HeatmapOptions options;
    options.width = width;
    const std::string text = heatmap_text(ones({1, 3}), options);
    CHECK(display_width(text.substr(0, text.find('\n'))) == 4);  // a space, two borders, a cell
  }
}

TEST_CASE("max pooling keeps the largest values", "[draw][heatmap]") {
  Array x = zeros({2, 100});
  x(1, 99) = 1;
  const std::string text = heatmap_text(x);
  CHECK(has(text, "█│\n"));
  CHECK(has(text, "2 x 2"));
}

TEST_CASE("a matrix of equal values, or without finite ones, has a scale too", "[draw][heatmap]") {
  CHECK(heatmap_range({ones({2, 2})}, {}).span() == 1);
  CHECK(heatmap_range({filled({2, 2}, not_a_number)}, {}).span() == 1);
  const double large = heatmap_range({filled({2, 2}, Real(1e20))}, {}).span();  // 1e20 + 1 == 1e20
  CHECK((large > 0.9e14 && large < 1.1e14));
  CHECK(heatmap_range({filled({2, 2}, Real(-1e20))}, {}).span() > 0.9e14);
  CHECK(heatmap_text(filled({1, 1}, -infinity)) ==
        " │··│\n  0.0000   ░░▒▒▓▓██ 1.0000   ·· masked\n");
}

TEST_CASE("a diverging scale is symmetric around zero", "[draw][heatmap]") {
  HeatmapOptions options;
  options.diverging = true;
  const Range range = heatmap_range({Array{{-1, 3}}}, options);
  CHECK(range.low == -3);
  CHECK(range.high == 3);
}

TEST_CASE("a diverging heat map as text is blank at zero and has other characters below it",
          "[draw][heatmap]") {
  HeatmapOptions options;
  options.diverging = true;
  CHECK(heatmap_text(Array{{-3, -2, -1, 0, 1, 2, 3}}, options) ==
        " │≡≡==--  ░░▒▒██│\n  -3.0000 ≡≡==--  ░░▒▒██ 3.0000\n");
  options.shades = Shades::ascii;
  CHECK(heatmap_text(Array{{-2, -1, 0, 1, 2}}, options) ==
        " |==--  ++##|\n  -2.0000 ==--  ++## 2.0000\n");
}

TEST_CASE("equal values are in the middle of the scale, and zero is blank if it is diverging",
          "[draw][heatmap]") {
  HeatmapOptions options;
  CHECK(heatmap_text(ones({1, 2}), options) == " │▒▒▒▒│\n  0.5000   ░░▒▒▓▓██ 1.5000\n");
  options.diverging = true;
  CHECK(heatmap_text(zeros({1, 2}), options) == " │    │\n  -1.0000 ≡≡==--  ░░▒▒██ 1.0000\n");
  CHECK(heatmap_sheet_text({zeros({1, 2})}, {"a"}, options) ==
        "  a\n │    │\n  -1.0000 ≡≡==--  ░░▒▒██ 1.0000\n");
  CHECK(heatmap_text(ones({1, 2}), options) == " │████│\n  -1.0000 ≡≡==--  ░░▒▒██ 1.0000\n");
  const ScratchFolder folder("zeros");
  draw_heatmap(folder.path, "x", zeros({2, 2}), options);
  CHECK(has(folder.read("x.gp"), "set cbrange [-1:1]\n"));
}

TEST_CASE("a limit that was set is kept if all values are equal to it or beyond it",
          "[draw][heatmap]") {
  const auto range = [](std::optional<double> low, std::optional<double> high) {
    HeatmapOptions options;
    options.low = low, options.high = high;
    const Range found = heatmap_range({filled({2, 2}, 3)}, options);
    return std::make_pair(found.low, found.high);
  };
  CHECK(range({}, {}) == std::make_pair(2.5, 3.5));
  CHECK(range(3, {}) == std::make_pair(3.0, 4.0));
  CHECK(range(5, {}) == std::make_pair(5.0, 6.0));
  CHECK(range({}, 3) == std::make_pair(2.0, 3.0));
  CHECK(range({}, 1) == std::make_pair(0.0, 1.0));
  CHECK(range(1, 1) == std::make_pair(0.5, 1.5));
}

TEST_CASE("infinite values have a symbol of their own", "[draw][heatmap]") {
  const Array x = {{infinity, Real(0.5), 1}};
  HeatmapOptions options;
  CHECK(heatmap_text(x, options) == " │∞∞  ██│\n  0.5000   ░░▒▒▓▓██ 1.0000   ∞∞ infinite\n");
  options.shades = Shades::ascii;
  CHECK(has(heatmap_text(x, options), " |^^  @@|\n"));
  CHECK(has(heatmap_text(filled({1, 1}, infinity), options), "@@ 1.0000   ^^ infinite\n"));
  const ScratchFolder folder("infinite");
  const Plot plot = draw_heatmap(folder.path, "x", x);
  CHECK(has(folder.read("x.gp"), "eq 'inf' ? $1 : NaN) with points pointtype 8"));
  INFO(plot.message);
  CHECK((plot.ok || has(plot.message, "not installed")));
}

TEST_CASE("tiny, huge and nearly equal limits of the scale have significant digits",
          "[draw][heatmap]") {
  const auto scale = [](Real low, Real high) {
    const std::string text = heatmap_text(Array{{low, high}});
    return text.substr(text.find('\n') + 1);
  };
  CHECK(scale(Real(1e-5), Real(2e-5)) == "  1e-05   ░░▒▒▓▓██ 2e-05\n");
  CHECK(scale(0, Real(0.00051234)) == "  0   ░░▒▒▓▓██ 0.0005123\n");
  CHECK(scale(Real(-1e38), Real(1e38)) == "  -1e+38   ░░▒▒▓▓██ 1e+38\n");
  CHECK(scale(Real(0.5), Real(0.50001)) == "  0.5   ░░▒▒▓▓██ 0.50001\n");
  CHECK(scale(Real(0.00001), 1) == "  0.0000   ░░▒▒▓▓██ 1.0000\n");
  CHECK(scale(Real(0.001), Real(0.0012)) == "  0.0010   ░░▒▒▓▓██ 0.0012\n");
  CHECK(scale(Real(-12345), Real(99999)) == "  -12345.0000   ░░▒▒▓▓██ 99999.0000\n");
}

TEST_CASE("tiny and huge values in the cells of a picture have two significant digits",
          "[draw][heatmap]") {
  const ScratchFolder folder("tiny");
  const auto format = [&](const Array& x) {
    draw_heatmap(folder.path, "x", x);
    const std::string script = folder.read("x.gp");
    const std::size_t begin = script.find("sprintf('") + 9;
    return script.substr(begin, 4);
  };
  CHECK(format(Array{{Real(1e-5), Real(2e-5), infinity}}) == "%.2g");
  CHECK(format(Array{{0, Real(-1e38)}}) == "%.2g");
  CHECK(format(Array{{Real(1e-5), Real(0.02)}}) == "%.2f");
  CHECK(format(zeros({2, 2})) == "%.2f");
}

TEST_CASE("heat maps reject invalid shapes and numbers of names", "[draw][heatmap]") {
  CHECK_THROWS_WITH(heatmap_text(zeros({3})), "heatmap: needs a matrix with values, got x (3)");
  CHECK_THROWS_WITH(heatmap_text(zeros({0, 3})),
                    "heatmap: needs a matrix with values, got x (0, 3)");
  CHECK_THROWS_WITH(heatmap_text(zeros({2, 3}), {"", {"a"}}), "heatmap: 1 row names for x (2, 3)");
  CHECK_THROWS_WITH(draw_heatmap(".", "x", zeros({2, 3}), {"", {}, {"a"}}),
                    "heatmap: 1 column names for x (2, 3)");
}

TEST_CASE("draw_heatmap writes names and values into the picture", "[draw][heatmap]") {
  const ScratchFolder folder("heat map");
  HeatmapOptions options;
  options.title = "head 2";
  options.row_names = options.column_names = {"it's", "[MASK]", "<5 %s"};
  const Plot plot = draw_heatmap(folder.path, "head 2", causal_scores(), options);
  CHECK(folder.read("head 2.csv").rfind("row,column,value\n0,0,1\n0,1,-inf\n", 0) == 0);
  CHECK(has(folder.read("head 2.csv"), "2,2,nan\n"));
  if (has(plot.message, "not installed")) {
    WARN(plot.message);
    return;
  }
  INFO(plot.message);
  CHECK(plot.ok);
  const std::string svg = folder.read("head 2.svg");
  CHECK(has(svg, "head 2 (3, 3)"));
  CHECK(has(svg, "[MASK]"));
  CHECK(has(svg, "&lt;5 %s"));
  CHECK(has(svg, "0.25"));
}

TEST_CASE("a diverging heat map is blue below zero, orange above and white at zero",
          "[draw][heatmap]") {
  const ScratchFolder folder("diverging");
  HeatmapOptions options;
  options.diverging = true;
  const Array x = {{-1, 0, 3}, {-3, Real(1.5), Real(-1.5)}};
  const Plot plot = draw_heatmap(folder.path, "change", x, options);
  CHECK(has(folder.read("change.gp"), "set cbrange [-3:3]\n"));
  if (has(plot.message, "not installed")) {
    WARN(plot.message);
    return;
  }
  INFO(plot.message);
  CHECK(plot.ok);
  const std::string svg = folder.read("change.svg");
  for (const char* color : {"rgb( 33, 102, 172)", "rgb(247, 247, 247)", "rgb(178,  80,  11)"})
    CHECK(has(svg, color));
  CHECK(draw_heatmap(folder.path, "plain", x).ok);
  for (const char* color : {"rgb( 33, 102, 172)", "rgb(178,  80,  11)"})
    CHECK_FALSE(has(folder.read("plain.svg"), color));
}

TEST_CASE("values are white in dark cells and black in light cells", "[draw][heatmap]") {
  const ScratchFolder folder("white on dark");
  const Plot plot = draw_heatmap(folder.path, "x", Array{{0, Real(0.5)}, {Real(0.6), 1}});
  if (has(plot.message, "not installed")) return;
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

TEST_CASE("max_pooled rejects arrays that are no matrix and blocks of size 0", "[draw][heatmap]") {
  const std::string error = "max_pooled: x must be a matrix and side at least 1, got ";
  CHECK(message_of([] { max_pooled(ones({3}), 1); }) == error + "(3) and 1");
  CHECK(message_of([] { max_pooled(ones({3, 3}), 0); }) == error + "(3, 3) and 0");
  CHECK((max_pooled(ones({3, 3}), std::numeric_limits<std::size_t>::max()) == ones({1, 1})));
}

TEST_CASE("limits of the scale that are not finite, or in the wrong order, are rejected",
          "[draw][heatmap]") {
  HeatmapOptions options;
  options.low = std::nan("");
  CHECK(message_of([&] {
          heatmap_text(ones({2, 2}), options);
        }) == "heatmap: a limit of the scale is nan; give finite numbers");
  options.low = 2, options.high = 1;
  CHECK(message_of([&] {
          heatmap_text(ones({2, 2}), options);
        }) == "heatmap: low is 2 and high is 1; give low <= high");
  options = {}, options.row_title = options.column_title = "A\x1b[31mB";
  CHECK_FALSE(has(heatmap_text(ones({2, 2}), options), "\x1b"));
}
