// softmax_test.cpp: gradients of softmax, log_softmax and logsumexp at random shapes.

#include "heed/ops/softmax.hpp"

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

Rows softmax_rows() {
  return {
      {"softmax", 0, 4, along([](T x, int axis) { return softmax(x, axis); })},
      {"log_softmax", 0, 4, along([](T x, int axis) { return log_softmax(x, axis); })},
      {"logsumexp", 0, 4, along([](T x, int axis) { return logsumexp(x, axis); })},
      {"logsumexp, keepdim", 0, 4, along([](T x, int axis) { return logsumexp(x, axis, true); })}};
}

TEST_CASE("the gradients of softmax, log_softmax and logsumexp are right at random shapes",
          "[double][random_shapes][softmax]") {
  check(softmax_rows());
}

}  // namespace heed::test
