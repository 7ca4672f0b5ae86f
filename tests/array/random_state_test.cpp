// random_state_test.cpp: state and set_state of Generator; errors for invalid text.

#include <algorithm>
#include <string>
#include <vector>

#include "array/drawn.hpp"
#include "catch.hpp"
#include "foreign_locale.hpp"
#include "heed/array/random.hpp"
#include "heed/base/error.hpp"

using namespace heed;
using namespace heed::test;

TEST_CASE("set_state also restores the cached normal of a pair", "[array][random]") {
  Generator g(42);
  g.randn({3});
  const std::string state = g.state();
  Generator restored(7);
  restored.randn({1});
  restored.set_state(state);
  CHECK(restored.state() == state);
  const Values next = values(g.randn({2}));
  CHECK(values(restored.randn({2})) == next);
  CHECK(values(restored.rand({700})) == values(g.rand({700})));
  CHECK(restored.state() == g.state());
}

TEST_CASE("set_state clears the cached normal if the state has none", "[array][random]") {
  const std::string fresh = Generator(42).state();
  Generator g(1);
  g.randn({1});
  g.set_state(fresh);
  CHECK(g.state() == fresh);
  CHECK(values(g.randn({3})) == values(Generator(42).randn({3})));
}

TEST_CASE("a copied generator draws the same numbers independently", "[array][random]") {
  Generator a(3);
  a.randn({1});
  Generator b = a;
  const Values from_a = values(a.randn({20}));
  CHECK(values(b.randn({20})) == from_a);
  CHECK(values(b.randn({3})) == values(a.randn({3})));
}

TEST_CASE("a state does not contain the precision", "[array][random]") {
  Generator of_float(42, Precision::float32), of_double(42, Precision::float64);
  CHECK(of_float.state() == of_double.state());
  of_float.randn({1});
  of_double.randn({1});
  CHECK(of_float.state() == of_double.state());  // both generate single normals in double
  Generator float_again(7, Precision::float32), double_again(7, Precision::float64);
  float_again.set_state(of_double.state());
  double_again.set_state(of_float.state());
  CHECK(values(float_again.rand({3})) == values(of_float.rand({3})));
  CHECK(values(double_again.rand({3})) == values(of_double.rand({3})));
  CHECK(of_float.state() != of_double.state());  // a double takes more bits
}

TEST_CASE("a state is one line of printable text", "[array][random]") {
  Generator g(42);
  g.randn({1});
  const std::string state = g.state();
  CHECK(state.size() < 7000);
  CHECK(std::all_of(state.begin(), state.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

TEST_CASE("set_state throws for other text and changes nothing", "[array][random]") {
  Generator g(42);
  g.randn({1});
  const std::string good = g.state();
  std::string zeros;
  for (int word = 1; word < 624; ++word) zeros += " 0";
  const std::size_t pair = good.rfind(' ');  // before the bits of the cached normal
  const std::vector<std::string> bad = {
      "",
      "mt19937",
      "mt19937 ",
      "mt19937 4",
      good.substr(1),
      good + " ",
      good + " 1",
      good + "\n",
      " " + good,
      good.substr(0, good.size() / 2),
      good.substr(0, pair + 1),
      good.substr(0, pair) + " x",
      good.substr(0, pair) + " 9221120237041090560",             // the bits of a NaN
      "mt19937 625" + good.substr(good.find(' ', 8)),            // the index is out of range
      "mt19937 04" + good.substr(good.find(' ', 8)),             // state() writes no leading zero
      "mt19937 4 4294967296" + good.substr(good.find(' ', 10)),  // 33 bits
      "mt19937 4 -1" + good.substr(good.find(' ', 10)),
      "mt19937 4 0" + zeros,  // from these words, all random numbers would be 0
      "mt19937 4 1" + zeros,  // and from these
  };
  for (const std::string& text : bad) {
    INFO(text.substr(0, 40));
    CHECK_THROWS_AS(g.set_state(text), Error);
    CHECK(g.state() == good);
  }
  CHECK(message_of([&] { g.set_state("42"); }) ==
        "set_state: not a generator's state (2 characters); give the text that state() "
        "wrote");
}

TEST_CASE("a generator's state does not depend on the locale", "[array][random]") {
  Generator g(42), restored(7);
  const std::string state = g.state();
  const heed_test::ForeignLocale locale;
  restored.set_state(state);
  CHECK(restored.state() == state);
}
