// run_test.cpp: the runner of gradient checks reports wrong gradients and repeats a run by its
// seed.

#include "run.hpp"

#include <regex>

#include "catch.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/matmul.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// y = x along an axis, with the wrong derivative 1.01.
struct WrongCopy {
  static constexpr std::string_view name = "WrongCopy";
  Array forward(const Array& x) const { return x; }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return map([](auto d) { return d * Real(1.01); }, dy);
  }
};

}  // namespace

TEST_CASE("pattern_of distinguishes the twelve ways to broadcast", "[double][random_shapes]") {
  CHECK(pattern_of({2, 3}, {2, 3}) == "as many axes");
  CHECK(pattern_of({}, {3}) == "fewer axes on the left");
  CHECK(pattern_of({1, 3}, {1}) == "fewer axes on the right, ones on the right");
  CHECK(pattern_of({2, 1}, {1, 3}) == "as many axes, ones on the left, ones on the right");
  CHECK(pattern_of({1, 1}, {1, 1}) == "as many axes");
  CHECK(pattern_of({1}, {2, 0}) == "fewer axes on the left, ones on the left");
}

TEST_CASE("a seed draws the same cases again, another seed draws others",
          "[double][random_shapes]") {
  std::size_t different = 0;
  for (std::size_t i = 0; i < all_rows().size(); ++i) {
    const Row& row = all_rows()[i];
    Draw first = draw_of(7, row, i, 20), again = draw_of(7, row, i, 20),
         other = draw_of(8, row, i, 20);
    const Case drawn = row.make(first), same = row.make(again);
    CHECK(text_of(row, drawn) == text_of(row, same));
    CHECK(difference(drawn.inputs[0], same.inputs[0], 0) == "");
    different += difference(drawn.inputs[0], row.make(other).inputs[0], 0) != "";
  }
  CHECK(different > all_rows().size() / 2);
}

TEST_CASE("a wrong gradient is reported with operation, shapes, axis and seed",
          "[double][random_shapes]") {
  const Row wrong{"copy", 2, 2, along([](T x, int) {
                    return record(WrongCopy{}, SourceLocation::current(), x);
                  })};
  const std::string failure = report_of(7, wrong, 0).failure;
  CHECK(std::regex_match(failure, std::regex(R"(copy: \(\d, \d\), axis -?\d: input 0 element \d+: )"
                                             R"(backward \S+, measured \S+; HEED_SEED=7 repeats it)"
                                             R"( \(and 49 more of 60 checks\))")));
}

TEST_CASE("a case that throws is reported with its seed", "[double][random_shapes]") {
  const auto product = [](T x) { return matmul(x, Tensor(ones({7, 2}))); };
  const std::string failure = report_of(7, {"product", 2, 2, one(product, 0, 1)}, 0).failure;
  CHECK(failure.find("product: (") == 0);
  CHECK(failure.find("): threw matmul: inner sizes differ: a (") != std::string::npos);
  CHECK(failure.find("; HEED_SEED=7 repeats it") != std::string::npos);
}

TEST_CASE("HEED_SEED is a whole number or rejected", "[double][random_shapes]") {
  CHECK(seed_from("0") == 0);
  CHECK(seed_from("4294967295") == 4294967295);
  for (const char* text : {"", "12x", "-1", " 1", "4294967296"})
    CHECK(message_of([=] { seed_from(text); }) ==
          words("HEED_SEED is \"", text, "\"; give a whole number from 0 to 4294967295"));
}
