// curve_test.cpp: loss curves as text and as SVG files beside their data and script.

#include "heed/report/curve.hpp"

#include <cmath>
#include <locale>
#include <sstream>

#include "catch.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "scratch_folder.hpp"

using namespace heed;

namespace {

double loss_at(int step) { return 1.4 + 2.8 * std::exp(-step / 200.0); }

std::vector<Series> run() {
  Series training{"training", {}, {}}, validation{"validation", {}, {}, true};
  for (int step = 0; step <= 2000; step += 10) training.append(step, loss_at(step));
  for (int step = 250; step <= 2000; step += 250) validation.append(step, loss_at(step) + 0.125);
  return {training, validation};
}

bool missing(const std::string& message) {
  if (contains(message, "not installed")) WARN(message);
  return contains(message, "not installed");
}

struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

}  // namespace

TEST_CASE("a curve as text shows its name, its legend and its last validation loss",
          "[report][curve]") {
  CurveOptions options;
  options.title = "harbour.txt";
  const std::string text = curve_text(run(), options);
  if (missing(text)) return;
  INFO(text);
  CHECK(text.rfind("harbour.txt\nloss (nats per character), from 4.20 above the picture\n", 0) ==
        0);
  CHECK(contains(text, "training    ."));
  CHECK(contains(text, "validation  1.5251    o"));
  CHECK(contains(text, "step\n"));
}

TEST_CASE("a curve as text keeps to its size", "[report][curve]") {
  for (const std::size_t width : {40u, 72u, 100u}) {
    CurveOptions options;
    options.width = width, options.height = 12;
    const std::string text = curve_text(run(), options);
    if (missing(text)) return;
    std::size_t lines = 0;
    for (std::size_t start = 0; start < text.size(); ++lines) {
      const std::size_t end = text.find('\n', start);
      if (lines > 0) CHECK(display_width(text.substr(start, end - start)) <= width);
      start = end + 1;
    }
    CHECK(lines <= 13);
  }
}

TEST_CASE("a point alone is larger than those of a curve, so that it can mark one of them",
          "[report][curve]") {
  const ScratchFolder folder;
  std::vector<Series> curves = run();
  curves.push_back({"turning point", {500}, {curves[1].y[1]}, true});
  draw_curve(folder.path, "marked", curves);
  const std::string script = folder.read("marked.gp");
  CHECK(contains(script, "1:3 with linespoints linewidth 2 pointtype 7 pointsize 0.7"));
  CHECK(contains(script, "1:4 with linespoints linewidth 2 pointtype 7 pointsize 1.1"));
  CHECK(contains(script, "title 'turning point  " + decimal(curves[1].y[1], 4) + "'"));
  CHECK_FALSE(contains(script, "set label '" + decimal(curves[1].y[1], 4) + "'"));
}

TEST_CASE("a curve without a single finite value is not drawn", "[report][curve]") {
  const std::vector<Series> nothing = {Series{"loss", {1}, {std::nan("")}}};
  CHECK(curve_text(nothing) == "nothing to draw: no finite values yet\n");
  CHECK(draw_curve(".", "nothing", nothing).message == "nothing to draw: no finite values yet");
}

TEST_CASE("a text too small for a curve is refused", "[report][curve]") {
  CurveOptions options;
  options.width = 20;
  CHECK_THROWS_WITH(curve_text(run(), options),
                    "curve: a text needs at least 40 x 10 characters, got 20 x 18");
}

TEST_CASE("curves of any kind leave their data, script and picture", "[report][curve]") {
  const ScratchFolder folder;
  CurveOptions options;
  options.levels = {{"bigram", 2.25}};
  const Plot plot = draw_curve(folder.path, "copy task", run(), options);
  CHECK(folder.read("copy task.csv").rfind("x,training,validation\n0,4.2,\n", 0) == 0);
  CHECK(contains(folder.read("copy task.csv"), "\n2000,,1.5251"));
  if (missing(plot.message)) return;
  INFO(plot.message);
  CHECK(plot.ok);
  CHECK(contains(folder.read("copy task.svg"), "bigram  2.2500"));
}

TEST_CASE("a locale with a decimal comma draws the same curve", "[report][curve]") {
  const ScratchFolder folder;
  draw_curve(folder.path, "a", run());
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new DecimalComma));
  draw_curve(folder.path, "b", run());
  std::locale::global(before);
  CHECK(folder.read("a.csv") == folder.read("b.csv"));
  CHECK(folder.read("a.svg").size() == folder.read("b.svg").size());
}

TEST_CASE("last values that lie close together are written one above the other",
          "[report][curve]") {
  const ScratchFolder folder;
  std::vector<Series> series;
  for (const double end : {1.51, 1.5, 1.505, 4.0})  // not in their order
    series.push_back({decimal(end, 4), {0, 1}, {5, end}, true});
  draw_curve(folder.path, "close", series);
  const std::string script = folder.read("close.gp");
  INFO(script);
  const auto height_of = [&](const std::string& label) {
    const std::string begin = "set label '" + label + "' at graph 1, first ";
    const std::size_t at = script.find(begin);
    return at == script.npos ? -1 : std::stod(script.substr(at + begin.size()));
  };
  const double room = 0.045 * view_of(series, {}).y.span();
  CHECK(height_of("1.5000") == 1.5);
  CHECK(std::abs(height_of("1.5050") - (1.5 + room)) < 1e-6);
  CHECK(std::abs(height_of("1.5100") - (1.5 + 2 * room)) < 1e-6);
  CHECK(height_of("4.0000") == 4);  // has room enough
}

TEST_CASE("eight curves have eight colours", "[report][curve]") {
  const ScratchFolder folder;
  std::vector<Series> curves;
  for (int i = 0; i < 8; ++i) curves.push_back({std::to_string(i), {0, 1}, {0, double(i)}});
  draw_curve(folder.path, "eight", curves);
  const std::string script = folder.read("eight.gp");
  for (const char* color :
       {"#56B4E9", "#009E73", "#CC79A7", "#E69F00", "#D55E00", "#0072B2", "#000000", "#882255"})
    CHECK(contains(script, color));
}

TEST_CASE("a level is a row of marks in the text, from one side to the other", "[report][curve]") {
  CurveOptions options;
  options.levels = {{"bigram", 2.25}, {"entropy", 1.25}};
  const std::string text = curve_text(run(), options);
  if (missing(text)) return;
  INFO(text);
  CHECK(contains(text, "bigram  2.2500    -"));
  CHECK(contains(text, "entropy  1.2500    ="));
  CHECK(contains(text, std::string(40, '=')));  // below the curve: nothing crosses it
  CHECK(contains(text, std::string(10, '-')));
}

TEST_CASE("the numbers beside a curve are round, about five of them", "[report][curve]") {
  const std::vector<std::pair<double, std::vector<std::string>>> cases = {
      {4, {"0", "1", "2", "3", "4"}},
      {8, {"0", "2", "4", "6", "8"}},
      {10, {"0", "2.5", "5", "7.5", "10"}},
      {20, {"0", "5", "10", "15", "20"}},
      {40, {"0", "10", "20", "30", "40"}}};
  for (const auto& [top, numbers] : cases) {
    const std::string text = curve_text({Series{"loss", {0, 1}, {0, top}}});
    if (missing(text)) return;
    std::vector<std::string> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t begin = line.find_first_not_of(' '), end = line.find_first_of("|+");
      if (end == line.npos || begin >= end) continue;
      found.push_back(line.substr(begin, line.find(' ', begin) - begin));
    }
    INFO(text);
    CHECK(found == std::vector<std::string>(numbers.rbegin(), numbers.rend()));
  }
}
