// differences_test.cpp: the comparison of a lesson's README.md and pictures can fail.

#include "lessons/differences.hpp"

#include "catch.hpp"

using heed_test::picture_difference;

TEST_CASE("pictures agree if their texts do, within the last digit of a number", "[lessons]") {
  const auto svg = [](const std::string& texts) { return "<svg><path/>" + texts + "</svg>"; };
  const std::string picture = svg("<text x=\"1\"><tspan>loss</tspan></text><text>0.50</text>");
  CHECK(picture_difference(picture, svg("<text>0.51</text><text>loss</text>"), false) == "");
  CHECK(picture_difference(picture, svg("<text>0.53</text><text>loss</text>"), false) != "");
  CHECK(picture_difference(picture, svg("<text>0.50</text><text>gain</text>"), false) != "");
  CHECK(picture_difference(picture, svg("<text>0.50</text>"), false) != "");
}

TEST_CASE("results of training may differ by a tenth, and their standard errors by half",
          "[lessons]") {
  using heed_test::first_difference;
  const std::string title = "loss, trained (3 seeds)\n";
  CHECK(first_difference(title + "  3.85 +- 0.239\n", title + "  3.98 +- 0.159\n") == "");
  CHECK(first_difference(title + "  3.85 +- 0.239\n", title + "  4.48 +- 0.239\n") != "");
  CHECK(first_difference(title + "  3.85 +- 0.239\n", title + "  3.85 +- 0.100\n") != "");
}

TEST_CASE("the numbers in a picture of a lesson that trains may differ", "[lessons]") {
  const std::string picture = "<text>loss</text><text>0.5</text><text>1</text>";
  CHECK(picture_difference(picture, "<text>loss</text><text>0.8</text>", true) == "");
  CHECK(picture_difference(picture, "<text>gain</text><text>0.5</text>", true) != "");
  CHECK(picture_difference(picture, picture + "<text>␣</text>", true) == "");
  CHECK(picture_difference(picture, picture + "<text>a word</text>", true) != "");
}
