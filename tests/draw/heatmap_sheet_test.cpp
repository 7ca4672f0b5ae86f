// heatmap_sheet_test.cpp: tests of draw_heatmap_sheet and heatmap_sheet_text.

#include <limits>

#include "catch.hpp"
#include "draw/plot_programs.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/heatmap.hpp"

using namespace heed;
using namespace heed_test;

namespace {

const Real infinity = std::numeric_limits<Real>::infinity();

const std::vector<std::string> heads = {"layer 0, head 0", "layer 0, head 1", "layer 1, head 0"};

std::vector<Array> three_heads() {  // (2, 2) each, masked above the diagonal
  return {Array{{1, -infinity}, {Real(0.75), Real(0.25)}},
          Array{{1, -infinity}, {Real(0.5), Real(0.5)}}, Array{{1, -infinity}, {0, 1}}};
}

HeatmapOptions named(std::vector<std::string> names) {
  HeatmapOptions options;
  options.title = "three heads";
  options.row_names = options.column_names = std::move(names);
  options.row_title = "query position", options.column_title = "key position";
  return options;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t i = text.find(part); i != text.npos; i = text.find(part, i + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("the data of a sheet contains every cell of every matrix", "[draw][heatmap]") {
  const ScratchFolder folder("sheet data");
  draw_heatmap_sheet(folder.path, "look", three_heads(), heads);
  CHECK(folder.read("look.csv") ==
        "panel,row,column,value\n"
        "0,0,0,1\n0,0,1,-inf\n0,1,0,0.75\n0,1,1,0.25\n"
        "1,0,0,1\n1,0,1,-inf\n1,1,0,0.5\n1,1,1,0.5\n"
        "2,0,0,1\n2,0,1,-inf\n2,1,0,0\n2,1,1,1\n");
}

TEST_CASE("a sheet shows each matrix under its title, and the scale once", "[draw][heatmap]") {
  const ScratchFolder folder("sheet");
  const Plot plot =
      draw_heatmap_sheet(folder.path, "look", three_heads(), heads, named({" ", "\n"}), 2);
  if (not_installed(plot.message)) return;
  INFO(plot.message);
  CHECK(plot.ok);
  const std::string svg = folder.read("look.svg");
  for (const std::string& title : heads) CHECK(count(svg, ">" + title + "<") == 1);
  for (const char* once : {">three heads<", "> 0.8<"}) CHECK(count(svg, once) == 1);
  CHECK(count(svg, "query position<") == 1);
  CHECK(count(svg, ">key position") == 1);
  CHECK(count(svg, ">␣<") == 6);  // the name of a row and of a column in each
  CHECK(count(svg, ">\\n<") == 6);
  CHECK(count(svg, ">0.25<") == 1);
  CHECK(count(svg, ">0.50<") == 2);
}

TEST_CASE("all matrices of a sheet have the same scale", "[draw][heatmap]") {
  const ScratchFolder folder("sheet scale");
  const std::vector<std::string> two = {"a", "b"};
  const auto scale = [&](const std::vector<Array>& panels, const HeatmapOptions& options = {}) {
    draw_heatmap_sheet(folder.path, "x", panels, two, options);
    const std::string script = folder.read("x.gp");
    const std::size_t from = script.find("set cbrange ") + 12;
    return script.substr(from, script.find('\n', from) - from);
  };
  const Array small = {{Real(-0.5), Real(0.25)}}, large = {{2, 3}}, none = {{-infinity, -infinity}};
  CHECK(scale({small, large}) == "[-0.5:3]");
  CHECK(scale({large, none}) == "[2:3]");
  CHECK(scale({none, none}) == "[0:1]");
  HeatmapOptions options;
  options.diverging = true;
  CHECK(scale({small, large}, options) == "[-3:3]");
  options.low = 0, options.high = 1;
  CHECK(scale({small, large}, options) == "[0:1]");
}

TEST_CASE("panels do not overlap and lie inside the sheet", "[draw][heatmap]") {
  const ScratchFolder folder("sheet layout");
  const auto margins = [&](const std::string& script, const std::string& side) {
    std::vector<double> found;
    const std::string begin = "set " + side + "margin at screen ";
    for (std::size_t i = script.find(begin); i != script.npos; i = script.find(begin, i + 1))
      found.push_back(std::stod(script.substr(i + begin.size())));
    return found;
  };
  for (const std::size_t size : {1u, 5u, 64u, 128u}) {
    const std::vector<Array> panels(6, ones({size, size}));
    const std::vector<std::string> titles(6, "layer 0, head 0"), names(size, "extraordinary");
    draw_heatmap_sheet(folder.path, "x", panels, titles, named(names), 3);
    const std::string script = folder.read("x.gp");
    const auto l = margins(script, "l"), r = margins(script, "r"), t = margins(script, "t"),
               b = margins(script, "b");
    REQUIRE(l.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK((0 < l[i] && l[i] < r[i] && r[i] < 1 && 0 < b[i] && b[i] < t[i] && t[i] < 1));
      if (i % 3 > 0) CHECK(r[i - 1] < l[i]);
      if (i >= 3) CHECK(t[i] < b[i - 3]);
    }
  }
}

TEST_CASE("large matrices in a sheet are max-pooled", "[draw][heatmap]") {
  const ScratchFolder folder("sheet coarser");
  Array x = zeros({129, 129});
  x(128, 127) = 1;
  const std::vector<std::string> names(129, "a");
  draw_heatmap_sheet(folder.path, "x", {x}, {"one"}, named(names));
  const std::string csv = folder.read("x.csv"), script = folder.read("x.gp");
  CHECK(count(csv, "\n") == 1 + 65 * 65);
  CHECK(has(csv, "\n0,64,63,1\n"));
  CHECK(has(script, "'three heads, each cell: maximum of 2 x 2'"));
}

TEST_CASE("the matrices of a large sheet are max-pooled", "[draw][heatmap]") {
  const ScratchFolder folder("sheet of many");
  const EmptyPath no_programs;  // the picture itself is not needed
  const auto lines = [&](std::size_t panels, std::size_t size) {
    draw_heatmap_sheet(folder.path, "x", std::vector<Array>(panels, ones({size, size})),
                       std::vector<std::string>(panels, "head"));
    return count(folder.read("x.csv"), "\n") - 1;
  };
  CHECK(lines(16, 128) == 16 * 128 * 128);  // 512 x 512 in all
  CHECK(lines(17, 128) == 17 * 64 * 64);
  CHECK(lines(48, 128) == 48 * 64 * 64);
  CHECK(lines(48, 64) == 48 * 64 * 64);
}

TEST_CASE("draw_heatmap_sheet rejects invalid matrices, titles and names", "[draw][heatmap]") {
  const auto sheet = [](const std::vector<Array>& panels, const std::vector<std::string>& titles,
                        const HeatmapOptions& options = {}) {
    draw_heatmap_sheet(".", "x", panels, titles, options);
  };
  CHECK_THROWS_WITH(sheet({}, {}), "heatmap: there is no matrix; give at least one");
  CHECK_THROWS_WITH(sheet(three_heads(), {"a"}), "heatmap: 1 titles for 3 matrices");
  CHECK_THROWS_WITH(sheet({zeros({2, 2}), zeros({2, 3})}, {"a", "b"}),
                    "heatmap: all matrices must have the same shape, got (2, 2) and (2, 3)");
  CHECK_THROWS_WITH(sheet({zeros({2})}, {"a"}), "heatmap: needs a matrix with values, got x (2)");
  CHECK_THROWS_WITH(sheet({zeros({2, 2})}, {"a"}, named({"a"})),
                    "heatmap: 1 row names for x (2, 2)");
}

TEST_CASE("a sheet as text has the matrices side by side, and the scale once", "[draw][heatmap]") {
  HeatmapOptions options;
  options.title = "three", options.row_title = "query", options.column_title = "key";
  options.width = 40;
  CHECK(heatmap_sheet_text(three_heads(), {"a", "b", "third"}, options, 2) ==
        "three\n"
        "rows: query, columns: key\n"
        "  a        b\n"
        " │██··│   │██··│\n"
        " │▓▓░░│   │▒▒▒▒│\n"
        "  third\n"
        " │██··│\n"
        " │  ██│\n"
        "  0.0000   ░░▒▒▓▓██ 1.0000   ·· masked\n");
}

TEST_CASE("a sheet as text never exceeds the width of the terminal", "[draw][heatmap]") {
  for (const std::size_t width : {20u, 40u, 80u, 200u})
    for (const std::size_t size : {1u, 2u, 17u, 64u, 100u})
      for (const std::size_t count : {1u, 3u, 16u}) {
        HeatmapOptions options;
        options.width = width;
        const std::vector<Array> panels(count, ones({size, size}));
        const std::vector<std::string> titles(count, "layer 0, head 0");
        const std::string text = heatmap_sheet_text(panels, titles, options, 4);
        const std::string scale = text.substr(text.rfind('\n', text.size() - 2) + 1);
        std::size_t shown = 0;
        for (std::size_t begin = 0; begin < text.size() - scale.size();) {
          const std::string line = text.substr(begin, text.find('\n', begin) - begin);
          begin += line.size() + 1;
          CHECK(display_width(line) <= width);
          shown += line.rfind("  l", 0) == 0;
        }
        CHECK(shown >= 1);
      }
}

TEST_CASE("a sheet without space for a matrix shows one column of it", "[draw][heatmap]") {
  HeatmapOptions options;
  options.width = 3;
  const std::string text = heatmap_sheet_text({ones({2, 2})}, {"t"}, options, 1);
  const std::size_t row = text.find("│");
  REQUIRE(row != text.npos);
  CHECK(display_width(text.substr(row, text.find('\n', row) - row)) == 3);  // two borders, a cell
}

TEST_CASE("a title wider than its matrix is shown in full if there is space", "[draw][heatmap]") {
  CHECK(heatmap_sheet_text({ones({1, 1}), ones({1, 1})}, {"the first", "b"}, {}, 2) ==
        "  the first    b\n"
        " │▒▒│         │▒▒│\n"
        "  0.5000   ░░▒▒▓▓██ 1.5000\n");
}

TEST_CASE("a sheet as text is max-pooled if it is too wide", "[draw][heatmap]") {
  HeatmapOptions options;
  const std::vector<std::string> titles(4, "x");
  const auto text = [&](std::size_t size) {
    return heatmap_sheet_text(std::vector<Array>(4, ones({size, size})), titles, options, 4);
  };
  CHECK_FALSE(has(text(15), "maximum of"));
  CHECK(has(text(16), "each cell: maximum of 2 x 2"));  // 4 x (15 + 3) + 3 x 2 is 78
  CHECK(has(text(64), "each cell: maximum of 5 x 5"));
}
