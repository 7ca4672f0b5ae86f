// curve_test.cpp: tests of curve_text, draw_curve and the files that draw_curve writes.

#include "heed/draw/curve.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "catch.hpp"
#include "draw/plot_programs.hpp"
#include "foreign_locale.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/heatmap.hpp"
#include "heed/draw/scatter.hpp"
#include "message_of.hpp"

using namespace heed;
using namespace heed_test;
using heed::test::message_of;

namespace {

double loss_at(int step) { return 1.4 + 2.8 * std::exp(-step / 200.0); }

std::vector<Series> training_run() {
  Series training{"training", {}, {}}, validation{"validation", {}, {}, true};
  for (int step = 0; step <= 2000; step += 10) training.append(step, loss_at(step));
  for (int step = 250; step <= 2000; step += 250) validation.append(step, loss_at(step) + 0.125);
  return {training, validation};
}

}  // namespace

TEST_CASE("a curve as text shows its name, its legend and its last validation loss",
          "[draw][curve]") {
  CurveOptions options;
  options.title = "harbour.txt";
  const std::string text = curve_text(training_run(), options);
  if (not_installed(text)) return;
  INFO(text);
  CHECK(text.rfind("harbour.txt\nloss (nats per character), values up to 4.20 not shown\n", 0) ==
        0);
  CHECK(has(text, "training    ."));
  CHECK(has(text, "validation  1.5251    o"));
  CHECK(text.substr(text.size() - 5) == "step\n");  // the last line, and no empty one after it
}

TEST_CASE("a curve as text does not exceed the given size", "[draw][curve]") {
  for (const std::size_t width : {40u, 72u, 100u}) {
    CurveOptions options;
    options.width = width, options.height = 12;
    const std::string text = curve_text(training_run(), options);
    if (not_installed(text)) return;
    std::size_t lines = 0;
    for (std::size_t start = 0; start < text.size(); ++lines) {
      const std::size_t end = text.find('\n', start);
      if (lines > 0) CHECK(display_width(text.substr(start, end - start)) <= width);
      start = end + 1;
    }
    CHECK(lines <= 13);
  }
}

TEST_CASE("a single point is drawn larger than the points of a curve", "[draw][curve]") {
  const ScratchFolder folder;
  std::vector<Series> curves = training_run();
  curves.push_back({"minimum", {500}, {curves[1].y[1]}, true});
  draw_curve(folder.path, "marked", curves);
  const std::string script = folder.read("marked.gp");
  CHECK(has(script, "1:3 with linespoints linewidth 2 pointtype 7 pointsize 0.7"));
  CHECK(has(script, "1:4 with linespoints linewidth 2 pointtype 7 pointsize 1.1"));
  CHECK(has(script, "title 'minimum  " + decimal(curves[1].y[1], 4) + "'"));
  CHECK_FALSE(has(script, "set label '" + decimal(curves[1].y[1], 4) + "'"));
}

TEST_CASE("a curve without a single finite value is not drawn", "[draw][curve]") {
  const std::vector<Series> series = {Series{"loss", {1}, {std::nan("")}}};
  CHECK(curve_text(series) == "nothing to plot: no finite values yet\n");
  CHECK(draw_curve(".", "nothing", series).message == "nothing to plot: no finite values yet");
}

TEST_CASE("curve_text rejects a size that is too small or too large", "[draw][curve]") {
  CurveOptions options;
  options.width = 20;
  CHECK_THROWS_WITH(curve_text(training_run(), options),
                    "curve: a text plot needs 40 x 10 to 1000 x 1000 characters, got 20 x 18");
  for (const auto& [width, height] : {std::pair(39, 10), {40, 9}, {1001, 10}, {40, 1001}}) {
    options.width = static_cast<std::size_t>(width);
    options.height = static_cast<std::size_t>(height);
    CHECK_THROWS_AS(curve_text(training_run(), options), heed::Error);
  }
  options.width = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_AS(curve_text(training_run(), options), heed::Error);
  options.width = options.height = 1000;
  CHECK_NOTHROW(curve_text(training_run(), options));
}

TEST_CASE("draw_curve writes the data, the script and the picture", "[draw][curve]") {
  const ScratchFolder folder;
  CurveOptions options;
  options.lines = {{"bigram", 2.25}};
  const Plot plot = draw_curve(folder.path, "copy task", training_run(), options);
  CHECK(folder.read("copy task.csv").rfind("x,training,validation\n0,4.2,\n", 0) == 0);
  CHECK(has(folder.read("copy task.csv"), "\n2000,,1.5251"));
  if (not_installed(plot.message)) return;
  INFO(plot.message);
  CHECK(plot.ok);
  CHECK(has(folder.read("copy task.svg"), "bigram  2.2500"));
}

TEST_CASE("a curve does not depend on the decimal separator of the locale", "[draw][curve]") {
  const ScratchFolder folder;
  draw_curve(folder.path, "a", training_run());
  {
    const ForeignLocale locale;
    draw_curve(folder.path, "b", training_run());
  }
  CHECK(folder.read("a.csv") == folder.read("b.csv"));
  CHECK(folder.read("a.svg").size() == folder.read("b.svg").size());
}

TEST_CASE("a plot names the largest value that it does not show", "[draw][curve]") {
  const ScratchFolder folder;
  draw_curve(folder.path, "peak", training_run());
  CHECK(has(folder.read("peak.gp"), "set label 'up to 4.20 ↑' at graph 0, "));
}

TEST_CASE("labels of last values that are close together are moved apart", "[draw][curve]") {
  const ScratchFolder folder;
  std::vector<Series> series;
  for (const double end : {1.51, 1.5, 1.505, 4.0})  // not sorted
    series.push_back({decimal(end, 4), {0, 1}, {5, end}, true});
  draw_curve(folder.path, "close", series);
  const std::string script = folder.read("close.gp");
  INFO(script);
  const auto height_of = [&](const std::string& label) {
    const std::string begin = "set label '" + label + "' at graph 1, first ";
    const std::size_t at = script.find(begin);
    return at == script.npos ? -1 : std::stod(script.substr(at + begin.size()));
  };
  const double distance = 0.045 * view_of(series, {}).y.span();
  CHECK(height_of("1.5000") == 1.5);
  CHECK(std::abs(height_of("1.5050") - (1.5 + distance)) < 1e-6);
  CHECK(std::abs(height_of("1.5100") - (1.5 + 2 * distance)) < 1e-6);
  CHECK(height_of("4.0000") == 4);  // not moved
}

TEST_CASE("eight curves have eight different colours", "[draw][curve]") {
  const ScratchFolder folder;
  std::vector<Series> curves;
  for (int i = 0; i < 8; ++i) curves.push_back({std::to_string(i), {0, 1}, {0, double(i)}});
  draw_curve(folder.path, "eight", curves);
  const std::string script = folder.read("eight.gp");
  for (const char* color :
       {"#56B4E9", "#009E73", "#CC79A7", "#E69F00", "#D55E00", "#0072B2", "#000000", "#882255"})
    CHECK(has(script, color));
}

TEST_CASE("a horizontal line crosses the whole text plot", "[draw][curve]") {
  CurveOptions options;
  options.lines = {{"bigram", 2.25}, {"entropy", 1.25}};
  const std::string text = curve_text(training_run(), options);
  if (not_installed(text)) return;
  INFO(text);
  CHECK(has(text, "bigram  2.2500    -"));
  CHECK(has(text, "entropy  1.2500    ="));
  CHECK(has(text, std::string(40, '=')));  // below the curve: nothing crosses it
  CHECK(has(text, std::string(10, '-')));
}

TEST_CASE("the last point of a text plot is not averaged with the points before it",
          "[draw][curve]") {
  Series jump{"loss", {}, {}};
  for (int i = 0; i <= 30; ++i) jump.append(i, i < 30 ? 1 : 3);
  const std::string text = curve_text({jump});
  if (not_installed(text)) return;
  INFO(text);
  CHECK(has(text, "\n     3 +"));
}

TEST_CASE("the y axis has about five tics at round numbers", "[draw][curve]") {
  const std::vector<std::pair<double, std::vector<std::string>>> cases = {
      {4, {"0", "1", "2", "3", "4"}},
      {8, {"0", "2", "4", "6", "8"}},
      {10, {"0", "2.5", "5", "7.5", "10"}},
      {20, {"0", "5", "10", "15", "20"}},
      {40, {"0", "10", "20", "30", "40"}}};
  for (const auto& [highest, numbers] : cases) {
    const std::string text = curve_text({Series{"loss", {0, 1}, {0, highest}}});
    if (not_installed(text)) return;
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

TEST_CASE("names of pictures that gnuplot would run, or with a folder, are rejected",
          "[draw][curve]") {
  const heed_test::ScratchFolder folder;
  const std::vector<Series> curve = {{"a", {1, 2}, {1, 2}}};
  std::ofstream(folder / "out.csv") << "mine";
  std::filesystem::create_directory(folder / "sub");
  const std::string inner = (folder / "sub").string();
  for (const std::string name : {"< touch run", "| touch run", "$x", "", "../out", "no/out"}) {
    const std::string message = "gnuplot: the name of a picture must ";
    const auto rejected = [&](const auto& draw) { return has(message_of(draw), message); };
    CHECK(rejected([&] { draw_curve(inner, name, curve, {}); }));
    CHECK(rejected([&] { draw_curve_of_file(inner, "ok", {name, 0, {1}}, curve, {}); }));
    CHECK(rejected([&] { draw_heatmap(inner, name, ones({2, 2}), {}); }));
    CHECK(rejected([&] { draw_heatmap_sheet(inner, name, {ones({2, 2})}, {"t"}, {}); }));
    CHECK(rejected([&] { draw_scatter(inner, name, ones({2, 2}), {}); }));
    CHECK(rejected([&] { draw_with_gnuplot(inner, name, "plot x", "1 2"); }));
  }
  CHECK(message_of([&] {
          draw_curve_of_file(inner, "ok", {"-", 0, {1}}, curve, {});
        }) == "curve: the file - would be standard input; give a file name");
  CHECK(std::filesystem::is_empty(inner));
  CHECK(content(folder / "out.csv") == "mine");
}

TEST_CASE("draw_curve_of_file needs one column for each series", "[draw][curve]") {
  const std::vector<Series> curve = {{"a", {1, 2}, {1, 2}}};
  CHECK(message_of([&] {
          draw_curve_of_file(".", "ok", {"x.csv", 0, {}}, curve, {});
        }) == "curve: 0 columns for 1 series; give one column for each series");
}

TEST_CASE("a thin series without a series before it is rejected", "[draw][curve]") {
  Series training{"training", {1, 2}, {2, 1}};
  training.thin = true;
  CHECK(message_of([&] { draw_curve(".", "unused", {training}); }) ==
        "curve: series 'training' is thin, and no series with a colour is before it; put it after "
        "one");
}

TEST_CASE("a series with errors has a band, and a muted or thin one has no name", "[draw][curve]") {
  const ScratchFolder folder;
  Series mean{"mean", {1, 2}, {3, 2}, true, {0.5, 0.25}}, other{"other", {1, 2}, {5, 4}};
  other.muted = true;
  CurveOptions options;
  options.marks = {{"lowest, step 2", 2, 2}};
  draw_curve(folder.path, "c", {other, mean}, options);
  CHECK(folder.read("c.csv") == "x,other,mean,±\n1,5,,\n2,4,,\n1,,3,0.5\n2,,2,0.25\n");
  const std::string script = folder.read("c.gp");
  CHECK(has(script, "using 1:($3-$4):($3+$4) with filledcurves"));
  CHECK(has(script, "linecolor rgb '#BBBBBB' notitle"));
  CHECK(!has(script, "'other'"));
  CHECK(has(script, "$mark0 << END\n2,2\nEND\n"));
  CHECK(has(script, "title 'lowest, step 2  2.0000'"));
  Series training{"mean, training", {1, 2}, {4, 3}};
  training.thin = true;
  draw_curve(folder.path, "c", {mean, training});
  CHECK(has(folder.read("c.gp"), "with lines linewidth 0.8 linecolor rgb '#66D55E00' notitle"));
  CHECK(has(folder.read("c.csv"), "x,mean,±,\"mean, training\"\n"));
  mean.error.pop_back();
  CHECK(message_of([&] { draw_curve(folder.path, "c", {mean}); }) ==
        "curve: series 'mean' has 2 points and 1 errors; give one for each point, or none");
}
