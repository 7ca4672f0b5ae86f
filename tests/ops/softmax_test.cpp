// softmax_test.cpp: softmax, log_softmax and logsumexp by hand, over every axis, masked and with
// NaN.

#include "heed/ops/softmax.hpp"

#include <cmath>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

constexpr double inf = infinity, NaN = not_a_number;
const Array log_weights =
    array_of({3}, {0, std::log(2.0), std::log(5.0)});  // proportions 1 : 2 : 5

Function along(Tensor (*f)(In, int), int axis) {
  return [=](X x) { return f(x[0], axis); };
}

Tensor plain_softmax(In x, int axis) {
  const Tensor e = exp(x);
  return e / sum(e, {axis}, true);
}
Tensor log_of_softmax(In x, int axis) { return log(softmax(x, axis)); }

}  // namespace

TEST_CASE("softmax of ln 1, ln 2 and ln 5 is 1/8, 2/8 and 5/8", "[ops][softmax]") {
  CHECK(difference(softmax(Tensor(log_weights), 0), array_of({3}, {0.125, 0.25, 0.625})) == "");
  CHECK(difference(log_softmax(Tensor(log_weights), 0),
                   array_of({3}, {-std::log(8.0), -std::log(4.0), std::log(0.625)})) == "");
  CHECK(difference(logsumexp(Tensor(log_weights), 0), scalar(static_cast<Real>(std::log(8.0)))) ==
        "");
}

TEST_CASE("the gradients of softmax, log_softmax and logsumexp by hand", "[ops][softmax]") {
  const Array up = array_of({3}, {8, 0, 0});
  CHECK(difference(gradients(along(softmax, 0), {log_weights}, up)[0],
                   array_of({3}, {0.875, -0.25, -0.625})) == "");  // y_i (dy_i - 1)
  CHECK(difference(gradients(along(log_softmax, 0), {log_weights}, up)[0],
                   array_of({3}, {7, -2, -5})) == "");  // dy_i - 8 y_i
  CHECK(difference(gradients([](X x) { return logsumexp(x[0], 0); }, {log_weights}, scalar(8))[0],
                   array_of({3}, {1, 2, 5})) == "");
}

TEST_CASE("adding a constant to a row leaves softmax unchanged", "[ops][softmax]") {
  const Array x = array_of({2, 4}, {1, 2, 3, 4, 0, 0, 8, -8});  // exact sums: the same bits
  CHECK(same_bits(softmax(Tensor(x) + 64, -1).value(), softmax(Tensor(x), -1).value()));
}

TEST_CASE("scores of a thousand do not overflow", "[ops][softmax]") {
  const Tensor x(array_of({2}, {1000, -1000}));
  CHECK((softmax(x, 0).value() == array_of({2}, {1, 0})));
  CHECK((log_softmax(x, 0).value() == array_of({2}, {0, -2000})));
  CHECK((logsumexp(x, 0).value() == scalar(1000)));
}

TEST_CASE("logsumexp over several axes, or over all", "[ops][softmax]") {
  const Tensor x(zeros({2, 3, 4}));
  CHECK(difference(logsumexp(x, {0, -1}), filled({3}, Real(std::log(8.0)))) == "");
  CHECK(difference(logsumexp(x, {}, true), filled({1, 1, 1}, Real(std::log(24.0)))) == "");
}

TEST_CASE("softmax, log_softmax and logsumexp equal elementary operations", "[ops][softmax]") {
  for (const Shape& shape : {Shape{7}, Shape{3, 20}, Shape{2, 3, 5}, Shape{4, 1, 3}, Shape{2, 0}}) {
    const std::vector<Array> x{random_array(shape, 1, -3, 3)};
    const int rank = static_cast<int>(shape.size());
    for (int axis = -rank; axis < rank; ++axis) {
      if (shape[static_cast<std::size_t>((axis + rank) % rank)] == 0) continue;
      CHECK(twin_difference(along(softmax, axis), along(plain_softmax, axis), x) == "");
      CHECK(twin_difference(along(log_softmax, axis), along(log_of_softmax, axis), x, 1e-5) == "");
      for (const bool keepdim : {false, true})
        CHECK(twin_difference([&](X in) { return logsumexp(in[0], axis, keepdim); },
                              [&](X in) { return log(sum(exp(in[0]), {axis}, keepdim)); }, x,
                              5e-6) == "");
    }
  }
}

TEST_CASE("softmax of rank 0 is 1", "[ops][softmax]") {
  CHECK((softmax(Tensor(scalar(5)), -1).value() == scalar(1)));
  CHECK((log_softmax(Tensor(scalar(5)), 0).value() == scalar(0)));
  CHECK((logsumexp(Tensor(scalar(5)), 0).value() == scalar(5)));
}

TEST_CASE("softmax of an empty row is empty, logsumexp is -infinity", "[ops][softmax]") {
  CHECK(str(softmax(Tensor(zeros({2, 0})), 1).shape()) == "(2, 0)");
  CHECK(str(log_softmax(Tensor(zeros({0, 2})), 0).shape()) == "(0, 2)");
  CHECK((logsumexp(Tensor(zeros({2, 0})), 1).value() == array_of({2}, {-inf, -inf})));
  CHECK((logsumexp(Tensor(zeros({0, 2})), 0, true).value() == array_of({1, 2}, {-inf, -inf})));
  CHECK(str(logsumexp(Tensor(zeros({0, 2})), 1).shape()) == "(0)");
}

TEST_CASE("a masked score gets weight 0; a fully masked row has zero weights and gradients",
          "[ops][softmax]") {
  const Array x = array_of({2, 3}, {0, -inf, 0, -inf, -inf, -inf});
  CHECK((softmax(Tensor(x), -1).value() == array_of({2, 3}, {0.5, 0, 0.5, 0, 0, 0})));
  const Array logs = log_softmax(Tensor(x), -1).value();
  const double half = -std::log(2.0);
  CHECK(difference(logs, array_of({2, 3}, {half, -inf, half, -inf, -inf, -inf})) == "");
  CHECK(difference(logsumexp(Tensor(x), -1), array_of({2}, {-half, -inf})) == "");
  const Array up = array_of({2, 3}, {4, 4, 0, 1, 2, 3});
  CHECK((gradients(along(softmax, -1), {x}, up)[0] == array_of({2, 3}, {1, 0, -1, 0, 0, 0})));
  CHECK((gradients(along(log_softmax, -1), {x}, array_of({2, 3}, {4, 0, 0, 1, 2, 3}))[0] ==
         array_of({2, 3}, {2, 0, -2, 0, 0, 0})));
  CHECK((gradients([](X in) { return logsumexp(in[0], -1); }, {x}, ones({2}))[0] ==
         array_of({2, 3}, {0.5, 0, 0.5, 0, 0, 0})));
}

TEST_CASE("a NaN makes its row NaN and no other row", "[ops][softmax]") {
  const Tensor x(array_of({3, 2}, {NaN, 1, 0, 0, NaN, -inf}));
  CHECK(difference(softmax(x, 1), array_of({3, 2}, {NaN, NaN, 0.5, 0.5, NaN, NaN})) == "");
  const double half = -std::log(2.0);
  CHECK(difference(log_softmax(x, 1), array_of({3, 2}, {NaN, NaN, half, half, NaN, NaN})) == "");
  CHECK(difference(logsumexp(x, 1), array_of({3}, {NaN, -half, NaN})) == "");
}

TEST_CASE("an axis out of range throws an error with the tensor's name", "[ops][softmax]") {
  const Tensor x(zeros({2, 3}));
  CHECK(message_of([&] { softmax(x, 2); }) ==
        "softmax: axis 2 is out of range for x (2, 3); use -2 to 1");
  CHECK(message_of([&] { log_softmax(x, -3); }) ==
        "log_softmax: axis -3 is out of range for x (2, 3); use -2 to 1");
  CHECK(message_of([&] { logsumexp(x, 2); }) ==
        "logsumexp: axis 2 is out of range for x (2, 3); use -2 to 1");
}
