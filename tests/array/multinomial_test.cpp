// multinomial_test.cpp: multinomial against torch.multinomial; errors for invalid weights.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "array/drawn.hpp"
#include "catch.hpp"
#include "heed/array/random.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

using namespace heed;
using namespace heed::test;

TEST_CASE("multinomial gives the indices of torch.multinomial", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  const Array weights = {Real(0.1), Real(0.2), Real(0.3), Real(0.4)};  // (4)
  Generator g(1337, dtype);
  CHECK(numbers(g.multinomial(weights, 1)) == Numbers{3});
  CHECK(numbers(g.multinomial(weights, 3)) == Numbers{3, 2, 0});
  CHECK(numbers(g.multinomial(weights, 6, true)) == Numbers{3, 0, 0, 1, 1, 2});
  CHECK(numbers(g.multinomial(weights, 1, true)) == Numbers{3});
}

TEST_CASE("multinomial draws each row with its own weights", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  const Array three = {{1, 2, 3, 0, 4}, {5, 0, 1, 1, 1}, {0, 0, 0, 7, 0}};  // (3, 5)
  const Array two = {{1, 2, 3, 0, 4}, {5, 0, 1, 1, 1}};                     // (2, 5)
  Generator g(7, dtype);
  const Indices one_each = g.multinomial(three, 1);
  CHECK(str(shape_of(one_each)) == "(3, 1)");
  CHECK(numbers(one_each) == Numbers{1, 0, 3});
  CHECK(numbers(g.multinomial(two, 3)) == Numbers{1, 2, 4, 3, 0, 2});
  CHECK(numbers(g.multinomial(three, 5, true)) ==
        Numbers{4, 4, 4, 1, 4, 0, 0, 2, 2, 0, 3, 3, 3, 3, 3});
}

TEST_CASE("multinomial draws in proportion to the weights", "[array][random]") {
  const Array weights = {1, 0, 3};  // (3)
  Generator g(5);
  std::vector<double> without_replacement(3), with_replacement(3);
  for (int i = 0; i < 20000; ++i)
    ++without_replacement[static_cast<std::size_t>(g.multinomial(weights, 1)(0))];
  for (const std::int64_t n : numbers(g.multinomial(weights, 20000, true)))
    ++with_replacement[static_cast<std::size_t>(n)];
  for (const std::vector<double>& counts : {without_replacement, with_replacement}) {
    CHECK(counts[1] == 0);
    CHECK(std::abs(counts[2] / 20000 - 0.75) < 0.0125);  // four standard deviations
  }
}

TEST_CASE("float32 sums of weights lose small ones, float64 sums do not", "[array][random]") {
  Array weights = ones({1001});
  weights(0) = 16777216;  // 2^24: adding 1 to it changes nothing in float
  const auto others = [&](Precision dtype) {
    const Numbers drawn = numbers(Generator(3, dtype).multinomial(weights, 200000, true));
    return drawn.size() - static_cast<std::size_t>(std::count(drawn.begin(), drawn.end(), 0));
  };
  CHECK(others(Precision::float32) == 0);
  CHECK(others(Precision::float64) > 0);  // about 12 are expected
}

TEST_CASE("multinomial throws for invalid weights and draws nothing", "[array][random]") {
  Generator g(42);
  const std::string before = g.state();
  const Array negative = {{1, 1, 1}, {1, 1, -2}};  // (2, 3)
  const Array not_finite = {1, static_cast<Real>(infinity)};
  const Array not_numbers = {static_cast<Real>(not_a_number), 1};
  const Real max_real = std::numeric_limits<Real>::max();
  CHECK(message_of([&] { g.multinomial(scalar(1), 1); }) ==
        "multinomial: weights () have rank 0; give (V) or (N, V)");
  CHECK(message_of([&] {
          g.multinomial(ones({1, 2, 3}), 1);
        }) == "multinomial: weights (1, 2, 3) have rank 3; give (V) or (N, V)");
  CHECK(message_of([&] { g.multinomial(ones({3}), 0); }) ==
        "multinomial: count is 0; draw at least 1");
  CHECK(message_of([&] { g.multinomial(negative, 1); }) ==
        "multinomial: weight 2 of row 1 is -2; weights must be finite and not "
        "negative");
  CHECK(message_of([&] { g.multinomial(not_finite, 1, true); }) ==
        "multinomial: weight 1 of row 0 is inf; weights must be finite and not "
        "negative");
  CHECK(message_of([&] { g.multinomial(not_numbers, 1); }) ==
        "multinomial: weight 0 of row 0 is nan; weights must be finite and not "
        "negative");
  CHECK(message_of([&] { g.multinomial(zeros({4}), 1); }) ==
        "multinomial: row 0 has no weight above zero; give at least one");
  CHECK(message_of([&] { g.multinomial(ones({0}), 1); }) ==
        "multinomial: row 0 has no weight above zero; give at least one");
  CHECK(message_of([&] { g.multinomial(filled({2}, max_real), 3, true); }) ==
        "multinomial: the weights of row 0 sum to inf; scale them down");
  CHECK(message_of([&] { g.multinomial(ones({3}), 4); }) ==
        "multinomial: 4 draws without replacement, but row 0 has 3 weights above zero; "
        "draw fewer or with replacement");
  CHECK_THROWS_AS(g.multinomial(Array{1, 0, 1}, 3), Error);
  CHECK(g.state() == before);
}

TEST_CASE("multinomial throws if the weights overflow a float in float32", "[array][random]") {
  Generator g(42, Precision::float32);
  CHECK(message_of([&] { g.multinomial(filled({2}, Real(3e38)), 1); }) ==
        "multinomial: the weights of row 0 sum to inf; scale them down");
}
