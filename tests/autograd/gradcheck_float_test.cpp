// gradcheck_float_test.cpp: what gradcheck sees in float, and what it overlooks.

#include "catch.hpp"
#include "heed/autograd/gradcheck.hpp"
#include "heed/autograd/record.hpp"
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

TEST_CASE("in float, gradcheck overlooks a gradient wrong by 1 % and refuses one wrong by 5 %",
          "[autograd][gradcheck]") {
  CHECK(checked(1).ok);
  CHECK(checked(1.01).ok);
  CHECK(checked(0.99).ok);
  CHECK_FALSE(checked(1.05).ok);
  CHECK_FALSE(checked(0.95).ok);
}

TEST_CASE("in float, the message of gradcheck says that it overlooks errors below 2 %",
          "[autograd][gradcheck]") {
  for (const double factor : {1.0, 1.05})
    CHECK(heed_test::has(checked(factor).message, "(in float, errors below 2 % or "));
}
