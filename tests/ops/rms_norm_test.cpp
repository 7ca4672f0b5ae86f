// rms_norm_test.cpp: RMS normalization by hand and against elementary operations.

#include <cmath>
#include <functional>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

}  // namespace

TEST_CASE("rms_norm divides by the root of the mean square", "[ops][rms_norm]") {
  const Tensor x = tensor_of({2, 2}, {1, 7, 3, -3});  // mean squares 25 and 9
  CHECK(difference(rms_norm(x, {2}), array_of({2, 2}, {0.2, 1.4, 1, -1})) == "");
  CHECK(difference(rms_norm(x, {2}, tensor_of({2}, {10, 100})),
                   array_of({2, 2}, {2, 140, 10, -100})) == "");
  CHECK(difference(rms_norm(x, {2}, {}, 75),
                   array_of({2, 2}, {0.1, 0.7, 3 / std::sqrt(84.0), -3 / std::sqrt(84.0)})) == "");
}

TEST_CASE("rms_norm equals elementary operations in value and gradients", "[ops][rms_norm]") {
  for (const double eps : {1e-6, 0.5}) {
    const auto fused = [=](X x) { return rms_norm(x[0], {4, 5}, x[1], eps); };
    const auto plain = [=](X x) {
      return x[0] / sqrt(mean(x[0] * x[0], {-2, -1}, true) + eps) * x[1];
    };
    CHECK(twin_difference(fused, plain, {random_array({3, 4, 5}, 1), random_array({4, 5}, 2)}) ==
          "");
  }
}

TEST_CASE("rms_norm of many rows has the gradients of elementary operations", "[ops][rms_norm]") {
  const auto fused = [](X x) { return rms_norm(x[0], {7}, x[1], 1e-5); };
  const auto plain = [](X x) { return x[0] / sqrt(mean(x[0] * x[0], -1, true) + 1e-5) * x[1]; };
  CHECK(twin_difference(fused, plain, {away_from_zero({5000, 7}, 1), random_array({7}, 2)}, 2e-5) ==
        "");
}

TEST_CASE("rms_norm of zeros is zero, and scaling x does not change it", "[ops][rms_norm]") {
  CHECK(difference(rms_norm(Tensor(zeros({2, 3})), {3}), zeros({2, 3})) == "");
  const Array x = away_from_zero({3, 4}, 5);
  CHECK(difference(rms_norm(Tensor(x) * 1000.0, {4}), rms_norm(Tensor(x), {4}).value(), 1e-5) ==
        "");
}

TEST_CASE("rms_norm rejects shapes that do not fit", "[ops][rms_norm]") {
  const Tensor x(ones({2, 3})), weight = Tensor(ones({2})).set_name("weight");
  for (const auto& call : std::vector<std::function<void()>>{[&] { rms_norm(x, {2}); },
                                                             [&] { rms_norm(x, {3}, weight); }}) {
    const std::string message = message_of(call);
    CHECK(message.rfind("rms_norm: ", 0) == 0);
    CHECK(message.find("(2, 3)") != message.npos);
  }
}
