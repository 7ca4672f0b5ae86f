// gradcheck_test.cpp: gradcheck accepts right gradients and finds wrong ones.

#include "heed/debug/gradcheck.hpp"

#include "catch.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/softmax.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

// y = x^2 with dx = factor x dy, which is right only for factor = 2.
struct WrongSquare {
  static constexpr std::string_view name = "WrongSquare";
  Array forward(const Array& x) const {
    return map([](auto v) { return v * v; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    Array dx = map([c = factor](auto d, auto v) { return c * d * v; }, dy, x);
    if (add_error) dx.data()[error_element] += error;
    return dx;
  }
  Real factor = 2;
  bool add_error = false;
  std::size_t error_element = 0;
  Real error = 0;
};

// y = softmax(x) with the gradient of a softmax whose rows do not sum to one.
struct WrongSoftmax {
  static constexpr std::string_view name = "WrongSoftmax";
  Array forward(const Array& x) const { return softmax(Tensor(x), -1).value(); }
  Array backward(const Array& dy, const Array& y, const Array&) const { return dy * y; }
};

Function square(WrongSquare op) {
  return [op](X x) { return record(op, SourceLocation::current(), x[0]); };
}

}  // namespace

TEST_CASE("gradcheck accepts a right gradient and checks every element", "[double][gradcheck]") {
  const GradcheckResult result = gradcheck(square({}), {random_array({3, 4}, 1)});
  CHECK(result.ok);
  CHECK(result.checked == 12);
  CHECK(result.worst <= 1);
}

TEST_CASE("gradcheck finds a wrong factor and a wrong sign", "[double][gradcheck]") {
  WrongSquare op;
  op.factor = 2.001;
  CHECK_FALSE(gradcheck(square(op), {away_from_zero({3, 4}, 1)}).ok);
  op.factor = -2;
  CHECK_FALSE(gradcheck(square(op), {away_from_zero({3, 4}, 1)}).ok);
  op.factor = 0;
  CHECK_FALSE(gradcheck(square(op), {away_from_zero({1}, 1)}).ok);
}

TEST_CASE("gradcheck finds one wrong element and names it", "[double][gradcheck]") {
  WrongSquare op;
  op.add_error = true;
  op.error_element = 7;
  op.error = 1e-4;
  const GradcheckResult result = gradcheck(square(op), {random_array({3, 4}, 1)});
  CHECK_FALSE(result.ok);
  CHECK(result.worst > 1);
  CHECK(result.message.substr(0, 28) == "input 0 element 7: backward ");
}

TEST_CASE("gradcheck finds a NaN", "[double][gradcheck]") {
  WrongSquare op;
  op.add_error = true;
  op.error = not_a_number;
  CHECK_FALSE(gradcheck(square(op), {random_array({3}, 1)}).ok);
}

TEST_CASE("gradcheck finds a gradient that is missing because of detach", "[double][gradcheck]") {
  const Function cut = [](X x) { return x[0] * detach(x[0]); };
  CHECK_FALSE(gradcheck(cut, {away_from_zero({3}, 1)}).ok);
  const Function all_cut = [](X x) { return detach(x[0]); };
  CHECK_FALSE(gradcheck(all_cut, {away_from_zero({3}, 1)}).ok);
  CHECK(gradcheck([](X x) { return Tensor(ones(x[0].shape())); }, {random_array({3}, 1)}).ok);
}

TEST_CASE("gradcheck finds errors that cancel in sum(y)", "[double][gradcheck]") {
  const Array x = random_array({2, 3}, 1);
  const Function wrong_softmax = [](X in) {
    return record(WrongSoftmax{}, SourceLocation::current(), in[0]);
  };
  CHECK_FALSE(gradcheck(wrong_softmax, {x}).ok);
  CHECK(gradcheck([](X in) { return softmax(in[0], -1); }, {x}).ok);
}
