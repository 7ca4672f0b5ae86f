// gradcheck_test.cpp: what gradcheck sees in float, and what it overlooks.

#include "heed/debug/gradcheck.hpp"

#include "catch.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// y = 3 x with the gradient factor * 3.
struct Tripled {
  static constexpr std::string_view name = "Tripled";
  Array forward(const Array& x) const { return Real{3} * x; }
  Array backward(const Array& dy, const Array&, const Array&) const { return factor * 3 * dy; }
  Real factor;
};

GradcheckResult checked(double factor) {
  const Function f = [&](const std::vector<Tensor>& x) {
    return record(Tripled{static_cast<Real>(factor)}, SourceLocation::current(), x[0]);
  };
  return gradcheck(f, {random_array({3, 4}, 1)});
}

}  // namespace

TEST_CASE("in float, gradcheck overlooks a gradient wrong by 1 % and rejects one wrong by 5 %",
          "[debug][gradcheck]") {
  CHECK(checked(1).ok);
  CHECK(checked(1.01).ok);
  CHECK(checked(0.99).ok);
  CHECK_FALSE(checked(1.05).ok);
  CHECK_FALSE(checked(0.95).ok);
}

TEST_CASE("in float, the message of gradcheck says that it overlooks errors below 2 %",
          "[debug][gradcheck]") {
  for (const double factor : {1.0, 1.05})
    CHECK(heed_test::has(checked(factor).message, "(in float, errors below 2 % or "));
}

TEST_CASE("gradcheck leaves the gradients of the parameters that its function uses",
          "[debug][gradcheck]") {
  const Tensor w(array_of({2}, {3, 4}), true), unused(array_of({2}, {5, 6}), true);
  backward(sum(w * w));
  const Function f = [&](const std::vector<Tensor>& x) { return x[0] * w + unused; };
  CHECK(gradcheck(f, {random_array({2}, 1)}).ok);
  CHECK((w.grad() == array_of({2}, {6, 8})));
  CHECK_FALSE(unused.has_grad());
}

TEST_CASE("the message of gradcheck says if the inputs have no elements", "[debug][gradcheck]") {
  const Function f = [](const std::vector<Tensor>& x) { return x[0] * x[0]; };
  CHECK(gradcheck(f, {zeros({0})})
            .message.find("nothing was compared: the inputs have no elements") == 0);
}

TEST_CASE("gradcheck throws while a NoGrad object exists", "[debug][gradcheck]") {
  const Function f = [](const std::vector<Tensor>& x) { return x[0] * x[0]; };
  const NoGrad no_grad;
  CHECK(message_of([&] { gradcheck(f, {ones({4})}); }) ==
        "gradcheck: a NoGrad object exists, so that f records no graph; end its scope");
}

TEST_CASE("gradcheck rejects options and functions with which it could check nothing",
          "[debug][gradcheck]") {
  const Function half = [](const std::vector<Tensor>& x) { return x[0] * detach(x[0]); };
  GradcheckOptions options;
  options.absolute = -1;
  CHECK(message_of([&] { gradcheck(half, {ones({4})}, options); }) ==
        "gradcheck: absolute is -1; give a finite number of at least 0");
  options = {}, options.relative = std::numeric_limits<double>::quiet_NaN();
  CHECK(message_of([&] { gradcheck(half, {ones({4})}, options); }) ==
        "gradcheck: relative is nan; give a finite number of at least 0");
  options = {}, options.step = 0;
  CHECK(message_of([&] { gradcheck(half, {ones({4})}, options); }) ==
        "gradcheck: step is 0; give a finite number above 0");
  CHECK(message_of([] { gradcheck(Function(), {ones({4})}); }) ==
        "gradcheck: f is empty; give a function");
  int calls = 0;
  const Function grows = [&](const std::vector<Tensor>& x) {
    return calls++ == 0 ? x[0] * 1.0 : expand(x[0], {3});
  };
  CHECK(message_of([&] { gradcheck(grows, {ones({1})}); }) ==
        "gradcheck: f has a result (3) after one (1); it must be deterministic");
}
