// minitorch_test.cpp: the cases of minitorch that have fixed numbers (README.md of this folder).
//
// The numbers are those of tests/ of minitorch/minitorch, 7d35d59. There is no data file.

#include "catch.hpp"
#include "heed/heed.hpp"
#include "near.hpp"

using namespace heed;
using namespace heed::test;

namespace {

using Numbers = std::vector<double>;

// The derivatives of f at a point, times the upstream gradient.
Numbers derivatives(const Function& f, const Numbers& point, double upstream) {
  std::vector<Array> inputs;
  for (const double x : point) inputs.push_back(array_of({1}, {x}));
  Numbers result;
  for (const Array& gradient : gradients(f, inputs, array_of({1}, {upstream})))
    result.push_back(static_cast<double>(gradient(0)));
  return result;
}

Tensor function1(const Tensor& x, const Tensor& y) { return x + y + 10; }
Tensor function2(const Tensor& x, const Tensor& y) { return x * y + x; }

using Inputs = std::vector<Tensor>;

}  // namespace

TEST_CASE("minitorch's six cases of backpropagation have its derivatives", "[foreign][minitorch]") {
  const auto f1 = [](const Inputs& x) { return function1(tensor_of({1}, {0}), x[0]); };
  const auto twice = [&](const Inputs& x) { return f1({f1(x)}); };
  const auto sum_of_two = [&](const Inputs& x) { return function1(f1(x), f1(x)); };
  const auto of_shared = [&](const Inputs& x) { return sum_of_two({f1(x)}); };
  const auto f2 = [](const Inputs& x) { return function2(x[0], x[1]); };
  CHECK(derivatives([](const Inputs& x) { return function2(tensor_of({1}, {10}), x[0]); }, {5},
                    5) == Numbers{5 * 10});
  CHECK(derivatives(f2, {5, 10}, 5) == Numbers{5 * (10 + 1), 5 * 5});
  CHECK(derivatives(f1, {0}, 5) == Numbers{5});
  CHECK(derivatives(twice, {0}, 5) == Numbers{5});
  CHECK(derivatives(sum_of_two, {0}, 5) == Numbers{10});
  CHECK(derivatives(of_shared, {0}, 5) == Numbers{10});
}

TEST_CASE("derivatives are those of minitorch's central differences", "[foreign][minitorch]") {
  const auto product = [](const Inputs& x) { return x[0] * x[1]; };
  CHECK(derivatives([](const Inputs& x) { return x[0] + x[1]; }, {5, 10}, 1)[0] == 1);
  CHECK(derivatives(product, {5, 10}, 1) == Numbers{10, 5});
  CHECK(
      close(derivatives([](const Inputs& x) { return exp(x[0]); }, {2}, 1)[0], std::exp(2), 1e-6));
}

TEST_CASE("sums, broadcast shapes and the shapes of gradients are minitorch's",
          "[foreign][minitorch]") {
  const Tensor t = tensor_of({3, 2}, {2, 3, 4, 6, 5, 7});
  CHECK(difference(sum(t, 0, true), array_of({1, 2}, {11, 16}), 0) == "");
  CHECK(difference(sum(t, 1, true), array_of({3, 1}, {5, 10, 12}), 0) == "");
  CHECK(sum(t).item() == Real(27));

  CHECK(broadcast_shape({1}, {5, 5}) == Shape{5, 5});
  CHECK(broadcast_shape({5, 5}, {1}) == Shape{5, 5});
  CHECK(broadcast_shape({1, 5, 5}, {5, 5}) == Shape{1, 5, 5});
  CHECK(broadcast_shape({5, 1, 5, 1}, {1, 5, 1, 5}) == Shape{5, 5, 5, 5});
  CHECK_FALSE(broadcast_shape({5, 7, 5, 1}, {1, 5, 1, 5}));
  CHECK_FALSE(broadcast_shape({5, 2}, {5}));
  CHECK(broadcast_shape({2, 5}, {5}) == Shape{2, 5});

  const Tensor a = tensor_of({1}, {1}), b = tensor_of({1, 2}, {1, 1});
  sum(a * b).backward();
  CHECK(a.grad().shape() == a.shape());
  CHECK(b.grad().shape() == b.shape());
}
