// scatter_test.cpp: tests of scatter_text, draw_scatter and LabelPlacement.

#include "heed/draw/scatter.hpp"

#include <cmath>
#include <limits>
#include <sstream>

#include "catch.hpp"
#include "draw/label_places.hpp"
#include "draw/plot_programs.hpp"
#include "heed/array/random.hpp"
#include "heed/base/text.hpp"

using namespace heed;
using namespace heed_test;
using heed::test::message_of;

namespace {

// Three words as queries and keys.
ScatterOptions words() {
  ScatterOptions options;
  options.title = "layer 0, head 1";
  options.labels = {"it's", "[MASK]", "<5 %s", "it's", "[MASK]", "a,\"b\""};
  options.groups = {0, 0, 0, 1, 1, 1};
  options.group_names = {"query", "key"};
  return options;
}

Array six_points() { return {{0, 0}, {4, 0}, {4, 4}, {0, 4}, {2, 2}, {3, 1}}; }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++found;
  return found;
}

}  // namespace

TEST_CASE("a scatter plot as text has the labels beside the points", "[draw][scatter]") {
  ScatterOptions options;
  options.title = "t";
  options.width = 40, options.height = 10;
  options.labels = {"left", "right", "up", "down"};
  options.groups = {0, 0, 1, 1};
  options.group_names = {"query", "key"};
  CHECK(scatter_text(Array{{-2, 0}, {2, 0}, {0, Real(0.9)}, {0, Real(-0.9)}}, options) ==
        "t\n"
        "                    ▲ up\n"
        "\n"
        "\n"
        "\n"
        "  ● left                       right ●\n"
        "\n"
        "\n"
        "\n"
        "\n"
        "                    ▲ down\n"
        "● query   ▲ key\n");
}

TEST_CASE("a scatter plot as text keeps its size, and its labels do not overlap",
          "[draw][scatter]") {
  ScatterOptions options;
  options.width = 60, options.height = 14;
  const Array points = Generator(1).randn({120, 2});
  for (int i = 0; i < 120; ++i) options.labels.push_back("w" + std::to_string(1000 + i));
  const std::string text = scatter_text(points, options);
  INFO(text);
  std::istringstream lines(text);
  std::string line;
  for (int row = 0; row < 14; ++row) {
    REQUIRE(std::getline(lines, line));
    CHECK(display_width(line) <= 60);
  }
  REQUIRE(std::getline(lines, line));
  const std::size_t shown = count_of(text, "w1");
  CHECK(shown > 20);
  CHECK(line == "(" + std::to_string(120 - shown) + " labels left out)");
  for (int i = 0; i < 120; ++i) CHECK(count_of(text, "w" + std::to_string(1000 + i)) <= 1);
}

TEST_CASE("points of two groups in the same cell have their own symbol", "[draw][scatter]") {
  ScatterOptions options;
  options.groups = {0, 1, 0};
  options.group_names = {"query", "key"};
  const std::string text = scatter_text(Array{{0, 0}, {0, 0}, {1, 1}}, options);
  CHECK(count_of(text, "@") == 1);
  CHECK(count_of(text, "●") == 2);  // one of them in the legend
  options.groups = {0, 0, 0};
  CHECK(count_of(scatter_text(Array{{0, 0}, {0, 0}, {1, 1}}, options), "@") == 0);
}

TEST_CASE("wide characters and combining marks in labels keep the alignment", "[draw][scatter]") {
  ScatterOptions options;
  options.width = 40, options.height = 10;
  options.labels = {"日本", "e\u0301t"};
  const std::string text = scatter_text(Array{{0, 0}, {1, 0}}, options);
  CHECK(has(text, "● 日本 "));
  CHECK(has(text, "e\u0301t"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= 40);
  const auto width_with = [&](const std::string& label) {
    options.labels = {label, ""};
    std::istringstream shown(scatter_text(Array{{0, 0}, {1, 0}}, options));
    for (std::string line; std::getline(shown, line);)
      if (has(line, label)) return display_width(line);
    return std::size_t{0};
  };
  CHECK(width_with("日本") == width_with("abcd"));
}

TEST_CASE("a combining mark without a character before it is dropped", "[draw][scatter]") {
  ScatterOptions options;
  options.width = 40, options.height = 10;
  options.labels = {"\u0301left", "\u200Bright"};
  const std::string text = scatter_text(Array{{0, 0}, {1, 0}}, options);
  CHECK(has(text, "● left"));
  CHECK(has(text, "right ●"));
  CHECK(!has(text, "\u0301"));
  options.labels = {std::string(30, 'a'), "\u0301" + std::string(35, 'b')};  // in column 0
  CHECK(!has(scatter_text(Array{{0, 0}, {0, 1}}, options), "\u0301"));
  options.labels = {"\u200B", "\u0301"};  // nothing else
  CHECK(!has(scatter_text(Array{{0, 0}, {0, 1}}, options), "\u200B"));
}

TEST_CASE("both axes have the same scale, with a margin around the points", "[draw][scatter]") {
  const PlotView view = scatter_view(Array{{0, 0}, {10, 1}}, 200, 100);
  CHECK(std::abs(view.x.span() - 11.2) < 1e-6);
  CHECK(std::abs(view.y.span() - 5.6) < 1e-6);
  CHECK(std::abs(view.x.low + 0.6) < 1e-6);
  CHECK(std::abs(view.y.low + 2.3) < 1e-6);
  CHECK(scatter_view(Array{{3, 3}, {3, 3}}, 200, 100).x.span() == 200);
  const Real huge = Real(1e20);  // huge + 1 == huge
  for (const Array& points : {Array{{huge, huge}, {huge, huge}}, Array{{-huge, 0}, {-huge, 1}}}) {
    const PlotView view_of_huge = scatter_view(points, 200, 100);
    CHECK(view_of_huge.x.span() > 0);
    CHECK(view_of_huge.y.span() > 0);
    CHECK(has(scatter_text(points), "●"));
  }
}

TEST_CASE("best_position is the first candidate with the smallest covered area",
          "[draw][scatter]") {
  LabelPlacement placement{{0, 0, 100, 100}};
  const std::vector<Box> sides = {{10, 0, 20, 10}, {20, 0, 30, 10}, {30, 0, 40, 10}};
  CHECK(placement.best_position(sides) == 0);
  placement.occupied.push_back({0, 0, 12, 100});
  CHECK(placement.covered_area(sides[0]) == 20);
  CHECK(placement.best_position(sides) == 1);
  placement.occupied.push_back({20, 0, 100, 5});
  CHECK(placement.best_position(sides) == 0);                // covers 20, the other 50
  CHECK(placement.covered_area({-5, 0, 5, 10}) == 50 + 50);  // half outside, half occupied
  CHECK(overlap({0, 0, 1, 1}, {1, 0, 2, 1}) == 0);
  CHECK(overlap({0, 0, 1, 1}, {2, 2, 3, 3}) == 0);
}

TEST_CASE("scatter plots reject invalid points, labels, groups and sizes", "[draw][scatter]") {
  CHECK_THROWS_WITH(scatter_text(zeros({3})), "scatter: needs points (n, 2), got shape (3)");
  CHECK_THROWS_WITH(scatter_text(zeros({2, 3})), "scatter: needs points (n, 2), got shape (2, 3)");
  CHECK_THROWS_WITH(scatter_text(zeros({0, 2})), "scatter: needs points (n, 2), got shape (0, 2)");
  const Array bad = {{0, 0}, {std::numeric_limits<Real>::infinity(), 0}};
  CHECK_THROWS_WITH(draw_scatter(".", "x", bad), "scatter: point 1 is not finite");
  ScatterOptions options;
  options.labels = {"a"};
  CHECK_THROWS_WITH(scatter_text(zeros({2, 2}), options), "scatter: 1 labels for points (2, 2)");
  options = {};
  options.groups = {0};
  CHECK_THROWS_WITH(scatter_text(zeros({2, 2}), options), "scatter: 1 groups for points (2, 2)");
  options.groups = {0, 1}, options.group_names = {"query"};
  CHECK_THROWS_WITH(scatter_text(zeros({2, 2}), options),
                    "scatter: group 1 is out of range for 1 group name");
  options.group_names = {"a", "b", "c", "d"};
  CHECK_NOTHROW(scatter_text(zeros({2, 2}), options));
  options.group_names = {"a", "b", "c", "d", "e"};
  CHECK_THROWS_WITH(scatter_text(zeros({2, 2}), options),
                    "scatter: can show up to 4 groups, got 5");
  options = {};
  options.height = 9;
  CHECK_THROWS_WITH(scatter_text(zeros({2, 2}), options),
                    "scatter: a text plot needs 40 x 10 to 1000 x 1000 characters, got 78 x 9");
}

TEST_CASE("draw_scatter writes the data, the script and the picture", "[draw][scatter]") {
  const ScratchFolder folder("it's scatter");
  const Plot plot = draw_scatter(folder.path, "head 1", six_points(), words());
  CHECK(folder.read("head 1.csv") ==
        "x,y,group,label\n0,0,0,it's\n4,0,0,[MASK]\n4,4,0,<5 %s\n0,4,1,it's\n2,2,1,[MASK]\n"
        "3,1,1,\"a,\"\"b\"\"\"\n");
  if (not_installed(plot.message)) return;
  INFO(plot.message);
  CHECK(plot.ok);
  const std::string svg = folder.read("head 1.svg");
  for (const char* text :
       {"layer 0, head 1", "[MASK]", "&lt;5 %s", "query", "key", "rgb(  0, 114, 178)"})
    CHECK(has(svg, text));
  CHECK(!has(svg, "left out"));
}

// The position of a label in a script, in pixels from the top left corner, and its alignment.
struct LabelPosition {
  double x, y;
  std::string alignment;
};

LabelPosition position_of(const std::string& script, const std::string& label) {
  const std::string begin = "set label '" + label + "' at screen ";
  const std::size_t at = script.find(begin);
  REQUIRE(at != script.npos);
  std::istringstream rest(script.substr(at + begin.size()));
  LabelPosition p{};
  std::string comma, screen;
  rest >> p.x >> comma >> screen >> p.y >> p.alignment;
  p.x *= 900, p.y = (1 - p.y) * 720;
  return p;
}

TEST_CASE("each label is near its point and aligned towards it", "[draw][scatter]") {
  const ScratchFolder folder("label positions");
  const EmptyPath no_programs;  // the picture itself is not needed
  const Array points = Array{{0, 0}, {9, 1}, {9, 7}, {1, 5}, {4, 3}, {4, Real(3.2)}};
  ScatterOptions options;
  options.labels = {"one", "a long name at the edge", "three", "four", "five", "six"};
  draw_scatter(folder.path, "x", points, options);
  const std::string script = folder.read("x.gp");
  const double width = 900 - 54 - 24, height = 720 - 78 - 40;  // within the margins
  const PlotView view = scatter_view(points, width, height);
  for (std::size_t i = 0; i < 6; ++i) {
    INFO(options.labels[i]);
    const double x = 54 + width * (points(i, 0) - view.x.low) / view.x.span();
    const double y = 720 - 40 - height * (points(i, 1) - view.y.low) / view.y.span();
    const LabelPosition label = position_of(script, options.labels[i]);
    CHECK(std::abs(label.x - x) < 30);
    CHECK(std::abs(label.y - y) < 30);
    if (label.alignment == "left") CHECK(label.x > x);
    if (label.alignment == "right") CHECK(label.x < x);
    if (label.alignment == "center") CHECK(std::abs(label.x - x) < 1);
  }
  CHECK(position_of(script, "a long name at the edge").alignment == "right");
}

TEST_CASE("a label may end just before the mark of another point", "[draw][scatter]") {
  const ScratchFolder folder("label before a mark");
  const EmptyPath no_programs;  // the picture itself is not needed
  const auto alignment_at = [&](double pixels) {
    const double unit = 1.12 / 822;  // of the x axis, for each pixel
    const Array points = {
        {0, 0}, {1, 0}, {Real(0.5), 0}, {static_cast<Real>(0.5 + pixels * unit), 0}};
    ScatterOptions options;
    options.labels = {"", "", "abc", ""};
    draw_scatter(folder.path, "x", points, options);
    return position_of(folder.read("x.gp"), "abc").alignment;
  };
  // The label begins 8.5 pixels after its point and is 25.5 pixels wide; a mark has a radius of 5.
  CHECK(alignment_at(40.5) == "left");
  CHECK(alignment_at(37.5) == "right");
}

TEST_CASE("points that are very close together are not drawn as one", "[draw][scatter]") {
  const double span = scatter_view(Array{{0, 0}, {Real(1e-12), 0}}, 100, 100).x.span();
  CHECK(std::abs(span - 1.12e-12) < 1e-15);
}

TEST_CASE("labels, groups and a title are optional", "[draw][scatter]") {
  const ScratchFolder folder("plain scatter");
  const Plot plot = draw_scatter(folder.path, "plain", six_points());
  if (not_installed(plot.message)) return;
  INFO(plot.message);
  CHECK(plot.ok);
}

TEST_CASE("labels without space are left out and counted", "[draw][scatter]") {
  const ScratchFolder folder("crowd");
  ScatterOptions options;
  options.labels = std::vector<std::string>(40, "crowd");
  draw_scatter(folder.path, "crowd", zeros({40, 2}), options);
  const std::string script = folder.read("crowd.gp");
  const std::size_t shown = count_of(script, "set label 'crowd'");
  CHECK(shown >= 4);
  CHECK(shown < 20);
  CHECK(has(script, "'" + std::to_string(40 - shown) + " labels left out"));
}

TEST_CASE("scatter_view rejects points of another shape than (n, 2)", "[draw][scatter]") {
  CHECK(message_of([] {
          scatter_view(ones({2, 1}), 78, 26);
        }) == "scatter: needs points (n, 2), got shape (2, 1)");
}
