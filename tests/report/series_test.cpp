// series_test.cpp: the part of a curve that is worth seeing, and where its legend goes.

#include "heed/report/series.hpp"

#include <cmath>

#include "catch.hpp"

using namespace heed;

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();

Series falling() {  // from 4.2 to 1.4 in 200 points, most of it at once
  Series loss{"training", {}, {}};
  for (int i = 0; i <= 200; ++i) loss.append(10 * i, 1.4 + 2.8 * std::exp(-i / 10.0));
  return loss;
}

Series straight(double from, double to) { return {"line", {0, 1}, {from, to}}; }

}  // namespace

TEST_CASE("the fall at the beginning does not flatten the rest", "[report][series]") {
  const View view = view_of({falling()}, {});
  CHECK(view.hides_top());
  CHECK(view.y.high < 2.6);
  CHECK(view.y.low < 1.4);
  CHECK(view.y.low > 1.3);
  CHECK(std::abs(view.top - 4.2) < 1e-9);
}

TEST_CASE("a curve without a fall is shown whole", "[report][series]") {
  const View view = view_of({straight(1, 2)}, {});
  CHECK(!view.hides_top());
  CHECK(view.y.low < 1);
  CHECK(view.y.high > 2);
  CHECK(view.x.low == 0);
  CHECK(view.x.high == 1);
}

TEST_CASE("of a few points none is hidden", "[report][series]") {
  const View view = view_of({Series{"loss", {0, 50, 100}, {9, 2, 1}}}, {});
  CHECK(!view.hides_top());
}

TEST_CASE("levels are always inside the view", "[report][series]") {
  const View view = view_of({falling()}, {{"uniform", 4.5}, {"floor", 0.5}});
  CHECK(view.y.low < 0.5);
  CHECK(view.y.high > 4.5);
  CHECK(!view.hides_top());
}

TEST_CASE("a view has room even for a single point", "[report][series]") {
  const View view = view_of({Series{"one", {3}, {2}}}, {});
  CHECK(view.x.span() > 0);
  CHECK(view.y.span() > 0);
}

TEST_CASE("values that are not finite do not stretch the view", "[report][series]") {
  const View view = view_of({Series{"loss", {0, 1, 2, 3}, {1, not_a_number, HUGE_VAL, 2}}}, {});
  CHECK(view.y.high < 2.1);
  CHECK(view.x.high == 3);
  CHECK(view_of({Series{"loss", {0}, {not_a_number}}}, {}).x.empty());
}

TEST_CASE("the legend goes where no curve is", "[report][series]") {
  const auto place = [](const std::vector<Series>& series,
                        const std::vector<HorizontalLine>& levels = {}) {
    return legend_position(series, levels, view_of(series, levels), 0.3, 0.2);
  };
  CHECK(place({straight(2, 1)}) == "top right");
  CHECK(place({straight(1, 2)}) == "bottom right");
  CHECK(place({straight(2, 1), straight(1, 2)}) == "below");
  CHECK(place({straight(2, 1)}, {{"top", 2}}) == "bottom left");
}

TEST_CASE("a series with more x than y is refused", "[report][series]") {
  CHECK_THROWS_WITH(view_of({Series{"loss", {1, 2}, {1}}}, {}),
                    "curve: loss has 2 x and 1 y values");
}
