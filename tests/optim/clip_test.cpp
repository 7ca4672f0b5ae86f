// clip_test.cpp: clip_grad_norm, mostly on the gradients 3, -4 and 12 with norm 13.

#include <cmath>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "heed/optim/optimizer.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using optim::clip_grad_norm;

std::vector<Tensor> three_four_twelve() {
  std::vector<Tensor> p{tensor_of({2}, {0, 0}), tensor_of({1, 2}, {0, 0}),
                        tensor_of({5}, {1, 2, 3, 4, 5})};
  backward(p[0], array_of({2}, {3, -4}));
  backward(p[1], array_of({1, 2}, {12, 0}));  // the third parameter has no gradient
  return p;
}

}  // namespace

TEST_CASE("gradients with too large a norm are scaled to max_norm", "[optim][clip]") {
  const auto p = three_four_twelve();
  CHECK(clip_grad_norm(p, 1) == 13);
  CHECK(difference(p[0].grad(), array_of({2}, {3.0 / 13, -4.0 / 13})) == "");
  CHECK(difference(p[1].grad(), array_of({1, 2}, {12.0 / 13, 0})) == "");
  CHECK_FALSE(p[2].has_grad());
}

TEST_CASE("gradients within max_norm do not change", "[optim][clip]") {
  const auto p = three_four_twelve();
  CHECK(clip_grad_norm(p, 14) == 13);
  CHECK((p[0].grad() == array_of({2}, {3, -4})));
  CHECK(clip_grad_norm({}, 1) == 0);
}

TEST_CASE("the norm of a large gradient is the same on one and on three threads", "[optim][clip]") {
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

TEST_CASE("other norm types give the values of PyTorch", "[optim][clip]") {
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

TEST_CASE("the norm of a gradient with NaN is NaN, with infinity infinite", "[optim][clip]") {
  for (const double norm_type : {1.0, 2.0, static_cast<double>(infinity)}) {
    std::vector<Tensor> p{tensor_of({3}, {0, 0, 0})};
    backward(p[0], array_of({3}, {1, not_a_number, 2}));
    CHECK(std::isnan(clip_grad_norm(p, 1, norm_type)));
    p[0].clear_grad();
    backward(p[0], array_of({3}, {1, -infinity, 2}));
    CHECK(std::isinf(clip_grad_norm(p, 1, norm_type)));
  }
}

TEST_CASE("max_norm 0 sets the gradients to 0", "[optim][clip]") {
  const auto p = three_four_twelve();
  CHECK(clip_grad_norm(p, 0) == 13);
  CHECK((p[0].grad() == zeros({2})));
}

TEST_CASE("clip_grad_norm rejects max_norm below 0 and norm_type 0 or less", "[optim][clip]") {
  CHECK(message_of([] { clip_grad_norm({}, -1); }) ==
        "clip_grad_norm: max_norm -1 must be 0 or more");
  CHECK(message_of([] { clip_grad_norm({}, not_a_number); }) ==
        "clip_grad_norm: max_norm nan must be 0 or more");
  CHECK(message_of([] { clip_grad_norm({}, 1, -1); }) ==
        "clip_grad_norm: norm_type -1 must be above 0");
}

TEST_CASE("a parameter that occurs twice is an error, because it would be scaled twice",
          "[optim][clip]") {
  const Tensor w = tensor_of({2}, {0, 0}).set_name("w");
  w.mutable_grad() = array_of({2}, {3, 4});
  CHECK(message_of([&] {
          clip_grad_norm({w, w}, 1);
        }) == "clip_grad_norm: w (2) occurs twice; give each parameter once");
  CHECK((w.grad() == array_of({2}, {3, 4})));
}

TEST_CASE("the norm does not overflow or vanish in powers of large or small gradients",
          "[optim][clip]") {
  const auto norm = [](double a, double b, double p) {
    const Tensor w = tensor_of({2}, {0, 0});
    w.mutable_grad() = array_of({2}, {a, b});
    return clip_grad_norm({w}, 1e30, p);
  };
  CHECK(close(norm(3, 4, 1000), 4, 1e-6));
  CHECK(close(norm(3e20, 4e20, 16) / 1e20, 4.0025, 1e-4));
  CHECK(close(norm(3e-5, 4e-5, 100) / 1e-5, 4, 1e-6));
}
