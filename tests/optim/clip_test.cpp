// clip_test.cpp: gradients 3, -4 and 12 have length 13.

#include "heed/optim/clip.hpp"

#include <cmath>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using optim::clip_grad_norm;

std::vector<Tensor> three_four_twelve() {
  std::vector<Tensor> p{tensor_of({2}, {0, 0}), tensor_of({1, 2}, {0, 0}),
                        tensor_of({5}, {1, 2, 3, 4, 5})};
  backward(p[0], array_of({2}, {3, -4}));
  backward(p[1], array_of({1, 2}, {12, 0}));  // the third has no gradient
  return p;
}

}  // namespace

TEST_CASE("gradients too long are scaled down to the length allowed", "[optim][clip]") {
  const auto p = three_four_twelve();
  CHECK(clip_grad_norm(p, 1) == 13);
  CHECK(difference(p[0].grad(), array_of({2}, {3.0 / 13, -4.0 / 13})) == "");
  CHECK(difference(p[1].grad(), array_of({1, 2}, {12.0 / 13, 0})) == "");
  CHECK_FALSE(p[2].has_grad());
}

TEST_CASE("gradients short enough keep their bits", "[optim][clip]") {
  const auto p = three_four_twelve();
  CHECK(clip_grad_norm(p, 14) == 13);
  CHECK((p[0].grad() == array_of({2}, {3, -4})));
  CHECK(clip_grad_norm({}, 1) == 0);
}

TEST_CASE("all of a long gradient counts, the same on one thread and on three", "[optim][clip]") {
  const int before = num_threads();
  Tensor p(zeros({50001}), true);
  p.node()->grad = filled({50001}, 2);
  p.node()->has_grad = true;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    CHECK(clip_grad_norm({p}, 1e9) == std::sqrt(4.0 * 50001));
  }
  set_num_threads(before);
}

TEST_CASE("other norms clip as PyTorch does", "[optim][clip]") {
  auto p = three_four_twelve();
  CHECK(clip_grad_norm(p, 1, 1) == 19);
  CHECK(difference(p[0].grad(), array_of({2}, {0.157894716, -0.210526288})) == "");
  p = three_four_twelve();
  CHECK(clip_grad_norm(p, 2, infinity) == 12);
  CHECK(difference(p[1].grad(), array_of({1, 2}, {1.99999988, 0})) == "");
  p = three_four_twelve();
  CHECK(close(clip_grad_norm(p, 1, 3), 12.207057, 1e-6));
  CHECK(difference(p[0].grad(), array_of({2}, {0.245759457, -0.327679276})) == "");
}

TEST_CASE("the norm shows what is not finite", "[optim][clip]") {
  for (const double norm_type : {1.0, 2.0, static_cast<double>(infinity)}) {
    std::vector<Tensor> p{tensor_of({3}, {0, 0, 0})};
    backward(p[0], array_of({3}, {1, not_a_number, 2}));
    CHECK(std::isnan(clip_grad_norm(p, 1, norm_type)));
    p[0].clear_grad();
    backward(p[0], array_of({3}, {1, -infinity, 2}));
    CHECK(std::isinf(clip_grad_norm(p, 1, norm_type)));
  }
}

TEST_CASE("a limit of 0 clears the gradients", "[optim][clip]") {
  const auto p = three_four_twelve();
  CHECK(clip_grad_norm(p, 0) == 13);
  CHECK((p[0].grad() == zeros({2})));
}

TEST_CASE("limits below 0 and norms of 0 and below are refused", "[optim][clip]") {
  CHECK(message_of([] { clip_grad_norm({}, -1); }) ==
        "clip_grad_norm: max_norm -1 must be 0 or more");
  CHECK(message_of([] { clip_grad_norm({}, not_a_number); }) ==
        "clip_grad_norm: max_norm nan must be 0 or more");
  CHECK(message_of([] { clip_grad_norm({}, 1, -1); }) ==
        "clip_grad_norm: norm_type -1 must be above 0");
}
