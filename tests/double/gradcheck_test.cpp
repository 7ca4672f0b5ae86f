// gradcheck_test.cpp: the checker itself finds wrong gradients, and only those.

#include "heed/autograd/gradcheck.hpp"

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

// y = x^2 with dx = factor x dy: right for 2 only.
struct PlantedSquare {
  static constexpr std::string_view name = "PlantedSquare";
  Array forward(const Array& x) const {
    return map([](auto v) { return v * v; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    Array dx = map([c = factor](auto d, auto v) { return c * d * v; }, dy, x);
    if (spoil) dx.data()[spoiled_element] += error;
    return dx;
  }
  Real factor = 2;
  bool spoil = false;
  std::size_t spoiled_element = 0;
  Real error = 0;
};

// y = softmax(x) with the gradient of a softmax whose rows do not sum to one.
struct PlantedSoftmax {
  static constexpr std::string_view name = "PlantedSoftmax";
  Array forward(const Array& x) const { return softmax(Tensor(x), -1).value(); }
  Array backward(const Array& dy, const Array& y, const Array&) const { return dy * y; }
};

Function square(PlantedSquare op) {
  return [op](X x) { return record(op, SourceLocation::current(), x[0]); };
}

}  // namespace

TEST_CASE("gradcheck passes a right gradient and looks at every element", "[double][gradcheck]") {
  const GradcheckResult result = gradcheck(square({}), {random_array({3, 4}, 1)});
  CHECK(result.ok);
  CHECK(result.checked == 12);
  CHECK(result.worst <= 1);
}

TEST_CASE("gradcheck finds a wrong factor and a wrong sign", "[double][gradcheck]") {
  PlantedSquare op;
  op.factor = 2.001;
  CHECK_FALSE(gradcheck(square(op), {away_from_zero({3, 4}, 1)}).ok);
  op.factor = -2;
  CHECK_FALSE(gradcheck(square(op), {away_from_zero({3, 4}, 1)}).ok);
  op.factor = 0;
  CHECK_FALSE(gradcheck(square(op), {away_from_zero({1}, 1)}).ok);
}

TEST_CASE("gradcheck finds one wrong element and names it", "[double][gradcheck]") {
  PlantedSquare op;
  op.spoil = true;
  op.spoiled_element = 7;
  op.error = 1e-4;
  const GradcheckResult result = gradcheck(square(op), {random_array({3, 4}, 1)});
  CHECK_FALSE(result.ok);
  CHECK(result.worst > 1);
  CHECK(result.message.substr(0, 28) == "input 0 element 7: backward ");
}

TEST_CASE("gradcheck finds a NaN", "[double][gradcheck]") {
  PlantedSquare op;
  op.spoil = true;
  op.error = not_a_number;
  CHECK_FALSE(gradcheck(square(op), {random_array({3}, 1)}).ok);
}

TEST_CASE("gradcheck finds a gradient that never arrives", "[double][gradcheck]") {
  const Function cut = [](X x) { return x[0] * detach(x[0]); };
  CHECK_FALSE(gradcheck(cut, {away_from_zero({3}, 1)}).ok);
  const Function all_cut = [](X x) { return detach(x[0]); };
  CHECK_FALSE(gradcheck(all_cut, {away_from_zero({3}, 1)}).ok);
  CHECK(gradcheck([](X x) { return Tensor(ones(x[0].shape())); }, {random_array({3}, 1)}).ok);
}

TEST_CASE("gradcheck's upstream finds what a plain sum would hide", "[double][gradcheck]") {
  const Array x = random_array({2, 3}, 1);
  const Function planted = [](X in) {
    return record(PlantedSoftmax{}, SourceLocation::current(), in[0]);
  };
  CHECK_FALSE(gradcheck(planted, {x}).ok);
  CHECK(gradcheck([](X in) { return softmax(in[0], -1); }, {x}).ok);
}
