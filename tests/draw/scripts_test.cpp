// scripts_test.cpp: compares gnuplot scripts and data files with those in tests/draw/scripts.
//
// The positions, sizes and fonts of a picture are right if the picture looks right. After a change,
// look at the pictures, and copy the new files.

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "catch.hpp"
#include "heed/draw/curve.hpp"
#include "heed/draw/heatmap.hpp"
#include "heed/draw/scatter.hpp"
#include "scratch_folder.hpp"

using namespace heed;
using namespace heed_test;

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

// The size of the longest equal beginnings of two texts, in which numbers may differ by rounding.
std::pair<std::size_t, std::size_t> equal_parts(const std::string& a, const std::string& b) {
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    char *a_end = nullptr, *b_end = nullptr;
    if (std::isdigit(a[i]) != 0 && std::isdigit(b[k]) != 0) {
      const double x = std::strtod(&a[i], &a_end), y = std::strtod(&b[k], &b_end);
      if (std::abs(x - y) > 1e-6 * (1 + std::abs(x))) break;
      i = static_cast<std::size_t>(a_end - a.data()),
      k = static_cast<std::size_t>(b_end - b.data());
    } else if (a[i++] != b[k++]) {
      return {i - 1, k - 1};
    }
  }
  return {i, k};
}

// Compares a file with the stored one, and shows the first line that differs.
void check_file(const ScratchFolder& folder, const std::string& name) {
  const std::string found = folder.read(name),
                    stored = content(HEED_TESTS_DIR "/draw/scripts/" + name);
  const auto [at, stored_at] = equal_parts(found, stored);
  INFO(name << ", found from there: " << found.substr(at, 80));
  INFO(name << ", stored from there: " << stored.substr(stored_at, 80));
  CHECK(at == found.size());
  CHECK(stored_at == stored.size());
}

Array ramp(std::size_t rows, std::size_t columns) {
  Array x = zeros({rows, columns});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<Real>(i * 7 % 32) / 32;
  return x;
}

}  // namespace

TEST_CASE("the script of a heat map with names and masked cells is the stored one",
          "[draw][scripts]") {
  const ScratchFolder folder;
  HeatmapOptions options;
  options.title = "layer 0, head 1", options.row_title = "query position";
  options.column_title = "key position";
  options.row_names = {"the", "harbour", "sea"},
  options.column_names = {"a", "long name", "b", " "};
  draw_heatmap(folder.path, "named",
               Array{{0.5, -infinity, -infinity, -infinity}, {0.25, 0.75, 0, 0}, {1, 0, 0.125, 0}},
               options);
  check_file(folder, "named.gp");
  check_file(folder, "named.csv");
}

TEST_CASE("the script of a diverging heat map without names is the stored one", "[draw][scripts]") {
  const ScratchFolder folder;
  HeatmapOptions options;
  options.diverging = true;
  draw_heatmap(folder.path, "diverging", ramp(13, 17) - Real{0.25}, options);
  check_file(folder, "diverging.gp");
}

TEST_CASE("the scripts of sheets of heat maps are the stored ones", "[draw][scripts]") {
  const ScratchFolder folder;
  HeatmapOptions options;
  options.title = "all heads", options.row_title = "query position";
  options.column_title = "key position";
  options.row_names = options.column_names = {"the", "harbour", "sea"};
  draw_heatmap_sheet(folder.path, "sheet", {ramp(3, 3), ramp(3, 3), ramp(3, 3)},
                     {"head 0", "head 1", " "}, options, 2);
  check_file(folder, "sheet.gp");
  draw_heatmap_sheet(folder.path, "pooled", {ramp(150, 140), ramp(150, 140)}, {"a", "b"});
  check_file(folder, "pooled.gp");
}

TEST_CASE("the scripts of curves are the stored ones", "[draw][scripts]") {
  const ScratchFolder folder;
  Series training{"training", {}, {}}, validation{"validation", {}, {}, true};
  for (int step = 0; step <= 400; step += 20) training.append(step, 1.5 + 64.0 / (step + 8));
  for (int step = 100; step <= 400; step += 100) validation.append(step, 1.75 + 64.0 / (step + 8));
  CurveOptions options;
  options.title = "harbour.txt";
  draw_curve(folder.path, "curve", {training, validation}, options);
  check_file(folder, "curve.gp");
  options.lines = {{"entropy rate", 1.25}, {"uniform", 3.5}};
  draw_curve(folder.path, "lines", {training, validation}, options);
  check_file(folder, "lines.gp");
}

TEST_CASE("the scripts of scatter plots are the stored ones", "[draw][scripts]") {
  const ScratchFolder folder;
  ScatterOptions options;
  options.title = "layer 0, head 1";
  options.labels = {"it's", "<5 %s", "a,\"b\"", "sea"};
  options.groups = {0, 0, 1, 1};
  options.group_names = {"query", "key"};
  // Far from one another: crowded labels have positions that are equally good except for rounding.
  const Array points = array2d({{0, 0.25}, {3, 0.75}, {1, 4}, {2.5, 2.25}});
  draw_scatter(folder.path, "scatter", points, options);
  check_file(folder, "scatter.gp");
  check_file(folder, "scatter.csv");
  draw_scatter(folder.path, "unlabelled", points);
  check_file(folder, "unlabelled.gp");
}
