// mask_test.cpp: masked_fill, tril and dropout, with their gradients.

#include "heed/ops/mask.hpp"

#include <limits>

#include "catch.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

const Array counted = array_of({2, 3}, {1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("masked_fill writes the value where the mask is true", "[ops][mask]") {
  const Mask mask = mask_of({2, 3}, {0, 1, 0, 1, 0, 0});
  CHECK((masked_fill(Tensor(counted), mask, -9).value() == array_of({2, 3}, {1, -9, 3, -9, 5, 6})));
  CHECK((gradients([&](X x) { return masked_fill(x[0], mask, -infinity); }, {counted},
                   counted)[0] == array_of({2, 3}, {1, 0, 3, 0, 5, 6})));
}

TEST_CASE("the mask broadcasts to x, but x does not broadcast to the mask", "[ops][mask]") {
  const Tensor x(counted);
  CHECK(
      (masked_fill(x, mask_of({3}, {0, 0, 1}), 0).value() == array_of({2, 3}, {1, 2, 0, 4, 5, 0})));
  CHECK(
      (masked_fill(x, mask_of({2, 1}, {1, 0}), 0).value() == array_of({2, 3}, {0, 0, 0, 4, 5, 6})));
  CHECK((masked_fill(x, mask_of({}, {1}), 7).value() == filled({2, 3}, 7)));
  CHECK(masked_fill(Tensor(zeros({0, 3})), mask_of({3}, {0, 0, 1}), 0).value().size() == 0);
  CHECK(message_of([&] {
          masked_fill(x, mask_of({2}, {0, 1}), 0);
        }) == "masked_fill: mask (2) does not broadcast to x (2, 3)");
  CHECK(message_of([&] {
          masked_fill(x, mask_of({1, 2, 3}, {0, 1, 0, 1, 0, 0}), 0);
        }) == "masked_fill: mask (1, 2, 3) does not broadcast to x (2, 3)");
}

TEST_CASE("future_mask is true at keys after the query's own key, and before its window",
          "[ops][mask]") {
  CHECK((future_mask(3) == mask_of({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0})));
  CHECK((future_mask(2, 4, 1) == mask_of({2, 4}, {0, 0, 1, 1, 0, 0, 0, 1})));
  CHECK((future_mask(4, 4, 0, 2) ==
         mask_of({4, 4}, {0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0})));
  CHECK((future_mask(2, 4, 2, 1) == mask_of({2, 4}, {1, 1, 0, 1, 1, 1, 1, 0})));
  CHECK((future_mask(3, 2, 0, 1) == mask_of({3, 2}, {0, 1, 1, 0, 1, 1})));  // no key for query 2
  for (const std::size_t window : {std::size_t{3}, std::size_t{4}, static_cast<std::size_t>(-1)})
    CHECK((future_mask(3, 3, 0, window) == future_mask(3)));
}

TEST_CASE("masked_fill replaces a NaN", "[ops][mask]") {
  const Tensor x(array_of({2}, {not_a_number, 1}));
  CHECK((masked_fill(x, mask_of({2}, {1, 0}), 0).value() == array_of({2}, {0, 1})));
}

TEST_CASE("tril keeps the lower triangle of every matrix", "[ops][mask]") {
  const Tensor x(ones({2, 2, 3}));
  CHECK((tril(x).value() == array_of({2, 2, 3}, {1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0})));
  CHECK((tril(Tensor(counted), 1).value() == array_of({2, 3}, {1, 2, 0, 4, 5, 6})));
  CHECK((tril(Tensor(counted), -1).value() == array_of({2, 3}, {0, 0, 0, 4, 0, 0})));
  CHECK((tril(Tensor(counted), std::numeric_limits<int>::max()).value() == counted));
  CHECK((gradients([](X in) { return tril(in[0]); }, {ones({2, 3})}, counted)[0] ==
         array_of({2, 3}, {1, 0, 0, 4, 5, 0})));
  CHECK(str(tril(Tensor(zeros({0, 3}))).shape()) == "(0, 3)");
  CHECK(message_of([] { tril(Tensor(zeros({3}))); }) == "tril: x (3) needs at least two axes");
}

TEST_CASE("dropout multiplies output and gradient by dropout_mask", "[ops][mask]") {
  const Array x = random_array({4, 5}, 1), up = random_array({4, 5}, 2);
  Generator first(7), second(7), third(7);
  const Array mask = dropout_mask({4, 5}, 0.25, first);
  const Array y = dropout(Tensor(x), 0.25, second).value(), expected = x * mask,
              expected_dx = up * mask;
  CHECK((y == expected));
  CHECK((gradients([&](X in) { return dropout(in[0], 0.25, third); }, {x}, up)[0] == expected_dx));
}

TEST_CASE("dropout with p = 0 or p = 1 draws nothing from the generator", "[ops][mask]") {
  Generator g(7);
  const std::string before = g.state();
  CHECK((dropout(Tensor(counted), 0, g).value() == counted));
  CHECK((dropout(Tensor(counted), 1, g).value() == zeros({2, 3})));
  CHECK(g.state() == before);
}

TEST_CASE("dropout keeps the expected value", "[ops][mask]") {
  Generator g(7);
  const Array y = dropout(Tensor(ones({100000})), 0.1, g).value();
  double sum = 0;
  for (const Real v : y) sum += static_cast<double>(v);
  CHECK(close(sum / 100000, 1, 0.005));
}

TEST_CASE("dropout throws for a probability outside 0 to 1", "[ops][mask]") {
  Generator g(7);
  const Tensor x(counted);
  CHECK(message_of([&] { dropout(x, 1.5, g); }) ==
        "dropout: p = 1.5 for x (2, 3) is not in [0, 1]");
  CHECK(message_of([&] { dropout(x, -0.1, g); }) ==
        "dropout: p = -0.1 for x (2, 3) is not in [0, 1]");
  CHECK(message_of([&] { dropout(x, not_a_number, g); }) ==
        "dropout: p = nan for x (2, 3) is not in [0, 1]");
}

TEST_CASE("future_mask rejects sizes whose product overflows and takes any number of past keys",
          "[ops][mask]") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(message_of([] { future_mask(std::size_t{1} << 32, std::size_t{1} << 32); }) ==
        "shape (4294967296, 4294967296) is too large: it has 2^59 elements or more; give smaller "
        "sizes");
  CHECK((future_mask(3, 3, most) == future_mask(3, 3, 3)));
  Mask all = Mask::from_shape({3, 3});
  all.fill(true);  // all keys are before the window
  for (const std::size_t past : {std::size_t{10}, most}) CHECK((future_mask(3, 3, past, 2) == all));
}
