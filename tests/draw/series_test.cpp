// series_test.cpp: tests of the ranges a plot shows and of the position of its legend.

#include "heed/draw/series.hpp"

#include <cmath>

#include "catch.hpp"
#include "message_of.hpp"

using namespace heed;
using heed::test::message_of;

namespace {

const double nan_value = std::numeric_limits<double>::quiet_NaN();

Series decaying() {  // from 4.2 to 1.4 in 200 points, exponentially
  Series loss{"training", {}, {}};
  for (int i = 0; i <= 200; ++i) loss.append(10 * i, 1.4 + 2.8 * std::exp(-i / 10.0));
  return loss;
}

Series straight(double from, double to) { return {"line", {0, 1}, {from, to}}; }

}  // namespace

TEST_CASE("the view leaves out large values at the beginning of a curve", "[draw][series]") {
  const PlotView view = view_of({decaying()}, {});
  CHECK(view.hides_peak());
  CHECK(view.y.high < 2.6);
  CHECK(view.y.low < 1.4);
  CHECK(view.y.low > 1.3);
  CHECK(std::abs(view.peak - 4.2) < 1e-9);
}

TEST_CASE("the view shows all of a straight line", "[draw][series]") {
  const PlotView view = view_of({straight(1, 2)}, {});
  CHECK(!view.hides_peak());
  CHECK(view.y.low < 1);
  CHECK(view.y.high > 2);
  CHECK(view.x.low == 0);
  CHECK(view.x.high == 1);
}

TEST_CASE("a curve of few points is shown completely", "[draw][series]") {
  const PlotView view = view_of({Series{"loss", {0, 50, 100}, {9, 2, 1}}}, {});
  CHECK(!view.hides_peak());
}

TEST_CASE("horizontal lines are always inside the view", "[draw][series]") {
  const PlotView view = view_of({decaying()}, {{"uniform", 4.5}, {"entropy rate", 0.5}});
  CHECK(view.y.low < 0.5);
  CHECK(view.y.high > 4.5);
  CHECK(!view.hides_peak());
}

TEST_CASE("the view of a single point has positive spans", "[draw][series]") {
  const PlotView view = view_of({Series{"one", {3}, {2}}}, {});
  CHECK(view.x.span() > 0);
  CHECK(view.y.span() > 0);
}

TEST_CASE("the view ignores values that are not finite", "[draw][series]") {
  const PlotView view = view_of({Series{"loss", {0, 1, 2, 3}, {1, nan_value, HUGE_VAL, 2}}}, {});
  CHECK(view.y.high < 2.1);
  CHECK(view.x.high == 3);
  CHECK(view_of({Series{"loss", {0}, {nan_value}}}, {}).x.empty());
}

TEST_CASE("the legend is put in a corner without a curve", "[draw][series]") {
  const auto position = [](const std::vector<Series>& series,
                           const std::vector<HorizontalLine>& lines = {}) {
    return legend_position(series, lines, view_of(series, lines), 0.3, 0.2);
  };
  CHECK(position({straight(2, 1)}) == "top right");
  CHECK(position({straight(1, 2)}) == "bottom right");
  CHECK(position({straight(2, 1), straight(1, 2)}) == "below");
  CHECK(position({straight(2, 1)}, {{"top", 2}}) == "bottom left");
}

TEST_CASE("view_of rejects a series with more x than y values", "[draw][series]") {
  CHECK_THROWS_WITH(view_of({Series{"loss", {1, 2}, {1}}}, {}),
                    "curve: series 'loss' has 2 x and 1 y values; give one y for each x");
}

TEST_CASE("legend_position rejects a series with fewer y than x", "[draw][series]") {
  const std::vector<Series> series = {{"a", {1, 2}, {}}};
  CHECK(message_of([&] { legend_position(series, {}, PlotView{}, 0.2, 0.2); }) ==
        "curve: series 'a' has 2 x and 0 y values; give one y for each x");
}

TEST_CASE("a position in a range of the largest numbers is finite", "[draw][series]") {
  CHECK(Range{-1e308, 1e308}.fraction(1e308) == 1);
  CHECK(Range{-1e308, 1e308}.fraction(0) == 0.5);
  CHECK(Range{1, 3}.fraction(1.5) == 0.25);
}

TEST_CASE("a label shows a tiny or huge value with four significant digits", "[draw][series]") {
  CHECK(legend({"loss", 2.1}) == "loss  2.1000");
  CHECK(legend({"loss", 0}) == "loss  0.0000");
  CHECK(legend({"loss", 1.23456e-5}) == "loss  1.235e-05");
  CHECK(label_number(-1e38, 2) == "-1e+38");
  CHECK(label_number(-0.001, 2) == "-0.001");
  CHECK(label_number(99999999, 2) == "99999999.00");
  CHECK(label_number(HUGE_VAL, 4) == "inf");
}
