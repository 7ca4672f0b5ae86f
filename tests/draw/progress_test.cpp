// progress_test.cpp: tests of progress_line.

#include "draw/progress.hpp"

#include <limits>

#include "catch.hpp"

using namespace heed;

namespace {

const ProgressState halfway = {850, 2000, 2.0413, 2.11, 18400.0, 72.0};

}  // namespace

TEST_CASE("a progress line shows the step, the losses, the speed and the time left",
          "[draw][progress]") {
  CHECK(progress_line(halfway, 80) ==
        "[=====>         ]  850/2000  loss 2.0413  val 2.1100  18,400 tokens/s  1:12 left");
}

TEST_CASE("a progress line never exceeds the given width", "[draw][progress]") {
  ProgressState huge = {123456789, 987654321, 1e9, 1e9, 1e12, 1e7};
  for (std::size_t width = 0; width < 140; ++width) {
    CHECK(progress_line(halfway, width).size() <= width);
    CHECK(progress_line(huge, width).size() <= width);
    CHECK(progress_line({}, width).size() <= width);
  }
}

TEST_CASE("a narrow progress line drops the least important parts first", "[draw][progress]") {
  CHECK(progress_line(halfway, 60) ==
        "[====>       ]  850/2000  loss 2.0413  val 2.1100  1:12 left");
  CHECK(progress_line(halfway, 46) == "[===>      ]  850/2000  loss 2.0413  1:12 left");
  CHECK(progress_line(halfway, 40) == " 850/2000  loss 2.0413  1:12 left");
  CHECK(progress_line(halfway, 25) == " 850/2000  loss 2.0413");
  CHECK(progress_line(halfway, 12) == " 850/2000");
  CHECK(progress_line(halfway, 5) == "42%");
}

TEST_CASE("a progress line may fill the width exactly", "[draw][progress]") {
  for (const std::size_t width : {80u, 60u, 40u, 25u, 12u}) {
    const std::size_t size = progress_line(halfway, width).size();
    CHECK(progress_line(halfway, size).size() == size);
  }
  const std::string without_bar = progress_line(halfway, 40);
  CHECK(progress_line(halfway, without_bar.size()) == without_bar);
  CHECK(progress_line(halfway, without_bar.size() - 1) != without_bar);
}

TEST_CASE("a progress line leaves out unknown values", "[draw][progress]") {
  CHECK(progress_line({0, 10, {}, {}, {}, {}}, 30) == "[                      ]  0/10");
  CHECK(progress_line({7, 0, 1.5, {}, {}, {}}, 80) == "step 7  loss 1.5000");
}

TEST_CASE("the bar is full if and only if the last step is done", "[draw][progress]") {
  CHECK(progress_line({10, 10, {}, {}, {}, {}}, 19) == "[===========] 10/10");
  CHECK(progress_line({999, 1000, {}, {}, {}, {}}, 24) == "[==========> ]  999/1000");
  CHECK(progress_line({12, 10, {}, {}, {}, {}}, 19) == "[===========] 12/10");
}

TEST_CASE("a NaN loss is shown as nan", "[draw][progress]") {
  CHECK(progress_line({7, 0, std::numeric_limits<double>::quiet_NaN(), {}, {}, {}}, 80) ==
        "step 7  loss nan");
}
