// normalize_test.cpp: layer norm and cosine similarity, by hand and against elementary operations.

#include "heed/ops/normalize.hpp"

#include <cmath>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

// Layer norm over `axes` in elementary operations.
Function plain_norm(const AxisList& axes, double eps) {
  return [=](X x) {
    const Tensor centered = x[0] - mean(x[0], axes, true);
    const Tensor n = centered / sqrt(variance(x[0], axes, false, true) + eps);
    return x.size() == 3 ? n * x[1] + x[2] : x.size() == 2 ? n * x[1] : n;
  };
}
Function fused_norm(const Shape& shape, double eps) {
  return [=](X x) {
    return layer_norm(x[0], shape, x.size() > 1 ? x[1] : Tensor(), x.size() > 2 ? x[2] : Tensor(),
                      eps);
  };
}

Function cosine(int axis) {
  return [=](X x) { return cosine_similarity(x[0], x[1], axis); };
}
Function plain_cosine(int axis) {
  return [=](X x) {
    const auto norm = [&](const Tensor& v) { return sqrt(sum(v * v, {axis}, true)); };
    return sum(x[0] / norm(x[0]) * (x[1] / norm(x[1])), {axis});
  };
}

}  // namespace

TEST_CASE("layer norm of 1, 2, 3 is -1.2247, 0, 1.2247", "[ops][normalize]") {
  const Tensor x(array_of({3}, {1, 2, 3}));
  const double n = std::sqrt(1.5);
  CHECK(difference(layer_norm(x, {3}, {}, {}, 0), array_of({3}, {-n, 0, n})) == "");
  CHECK(difference(layer_norm(x, {3}, tensor_of({3}, {1, 2, 10}), tensor_of({3}, {5, 5, 0}), 0),
                   array_of({3}, {5 - n, 5, 10 * n})) == "");
}

TEST_CASE("the gradients of layer norm by hand", "[ops][normalize]") {
  const double n = std::sqrt(1.5);  // also 1 / the standard deviation
  const Array x = array_of({3}, {1, 2, 3});
  const auto g =
      gradients(fused_norm({3}, 0), {x, ones({3}), zeros({3})}, array_of({3}, {6, 0, 0}));
  // g - mean(g) - n mean(g n), with mean(g) = 2 and mean(g n) = -2 sqrt(1.5), times 1 / deviation
  CHECK(difference(g[0], array_of({3}, {n, -2 * n, n})) == "");
  CHECK(difference(g[1], array_of({3}, {-6 * n, 0, 0})) == "");
  CHECK((g[2] == array_of({3}, {6, 0, 0})));
}

TEST_CASE("layer norm equals mean and variance in elementary operations", "[ops][normalize]") {
  for (const Shape& shape : {Shape{5}, Shape{40, 17}, Shape{3, 33, 8}, Shape{1, 1, 2}}) {
    const Shape width{shape.back()};
    const Array x = random_array(shape, 1, -2, 2), weight = random_array(width, 2, 0.5, 1.5),
                bias = random_array(width, 3);
    for (const auto& inputs :
         {std::vector<Array>{x}, std::vector<Array>{x, weight}, {x, weight, bias}})
      CHECK(twin_difference(fused_norm(width, 1e-5), plain_norm({-1}, 1e-5), inputs, 2e-5) == "");
  }
}

TEST_CASE("layer norm over two axes, and with a bias but no weight", "[ops][normalize]") {
  const Array x = random_array({5, 3, 4}, 1), weight = random_array({3, 4}, 2),
              bias = random_array({3, 4}, 3);
  CHECK(twin_difference(fused_norm({3, 4}, 1e-3), plain_norm({1, 2}, 1e-3), {x, weight, bias},
                        2e-5) == "");
  const Function fused = [](X in) { return layer_norm(in[0], {3, 4}, {}, in[1]); };
  const Function plain = [](X in) { return plain_norm({1, 2}, 1e-5)({in[0]}) + in[1]; };
  CHECK(twin_difference(fused, plain, {x, bias}, 2e-5) == "");
}

TEST_CASE("layer norm of a constant row is the bias", "[ops][normalize]") {
  const Tensor bias(array_of({2}, {3, 4}));
  CHECK((layer_norm(Tensor(filled({2, 2}, 7)), {2}, {}, bias).value() ==
         array_of({2, 2}, {3, 4, 3, 4})));
  const Tensor far(array_of({4}, {4096, 4097, 4098, 4099}));
  const Tensor near(array_of({4}, {0, 1, 2, 3}));
  CHECK(difference(layer_norm(far, {4}), layer_norm(near, {4}).value(), 1e-5) == "");
}

TEST_CASE("layer norm is exact where the mean is 10,000 times the deviations", "[ops][normalize]") {
  Array x = uninitialized({1, 8});
  for (std::size_t i = 0; i < 8; ++i)
    x(0, i) = static_cast<Real>(1e4 + static_cast<double>(i) * 1e-3);
  double mean = 0, variance = 0;
  for (const Real v : x) mean += static_cast<double>(v) / 8;
  for (const Real v : x) variance += std::pow(static_cast<double>(v) - mean, 2) / 8;
  const Tensor input(x, true);
  const Tensor y = layer_norm(input, {8});
  Array upstream = random_array({1, 8}, 3);
  backward(y, upstream);
  const double scale = 1 / std::sqrt(variance + 1e-5);
  double mean_g = 0, mean_gn = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const double n = (static_cast<double>(x(0, i)) - mean) * scale;
    CHECK(std::abs(static_cast<double>(y.value()(0, i)) - n) < 1e-6);
    mean_g += static_cast<double>(upstream(0, i)) / 8;
    mean_gn += static_cast<double>(upstream(0, i)) * n / 8;
  }
  for (std::size_t i = 0; i < 8; ++i) {
    const double n = (static_cast<double>(x(0, i)) - mean) * scale;
    const double dx = (static_cast<double>(upstream(0, i)) - mean_g - n * mean_gn) * scale;
    CHECK(std::abs(static_cast<double>(input.grad()(0, i)) - dx) < 1e-4 * scale);
  }
}

TEST_CASE("layer norm of no rows or no columns is empty, with gradients of 0", "[ops][normalize]") {
  const auto rows =
      gradients(fused_norm({3}, 1e-5), {zeros({0, 3}), ones({3}), zeros({3})}, zeros({0, 3}));
  CHECK((rows[1] == zeros({3})));
  CHECK((rows[2] == zeros({3})));
  CHECK(str(layer_norm(Tensor(zeros({3, 0})), {0}).shape()) == "(3, 0)");
}

TEST_CASE("layer norm throws for shapes that do not fit", "[ops][normalize]") {
  const Tensor x(zeros({2, 3}));
  CHECK(message_of([&] { layer_norm(x, {2}); }) ==
        "layer_norm: normalized_shape (2) must equal the last dimensions of x (2, 3): weight (not "
        "given), bias (not given)");
  CHECK(message_of([&] { layer_norm(x, {}); }) ==
        "layer_norm: normalized_shape () must equal the last dimensions of x (2, 3): weight (not "
        "given), bias (not given)");
  CHECK(message_of([&] {
          layer_norm(x, {1, 2, 3});
        }) ==
        "layer_norm: normalized_shape (1, 2, 3) must equal the last dimensions of x (2, 3): weight "
        "(not given), bias (not given)");
  CHECK(message_of([&] { layer_norm(x, {3}, Tensor(ones({2}))); }) ==
        "layer_norm: weight (2) must have normalized_shape (3) of x (2, 3)");
  CHECK(message_of([&] {
          layer_norm(x, {3}, {}, Tensor(ones({1, 3})));
        }) == "layer_norm: bias (1, 3) must have normalized_shape (3) of x (2, 3)");
}

TEST_CASE("cosine similarity by hand", "[ops][normalize]") {
  const Tensor a(array_of({4, 2}, {3, 4, 1, 0, 1, 2, 0, 0}));
  const Tensor b(array_of({4, 2}, {6, 8, 0, 5, -2, -4, 1, 1}));
  CHECK(difference(cosine_similarity(a, b), array_of({4}, {1, 0, -1, 0})) == "");
}

TEST_CASE("the gradients of cosine similarity by hand", "[ops][normalize]") {
  const auto g = gradients(cosine(0), {array_of({2}, {3, 4}), array_of({2}, {2, 0})}, scalar(1));
  CHECK(difference(g[0], array_of({2}, {0.128, -0.096})) == "");  // (1 - 0.36) / 5, -0.6 * 0.8 / 5
  CHECK(difference(g[1], array_of({2}, {0, 0.4})) == "");
  const auto of_zero =
      gradients(cosine(0), {array_of({2}, {0, 0}), array_of({2}, {2, 0})}, scalar(1));
  CHECK((of_zero[1] == zeros({2})));
}

TEST_CASE("cosine similarity equals elementary operations, and broadcasts", "[ops][normalize]") {
  const Array a = away_from_zero({2, 3, 4}, 1), b = away_from_zero({2, 3, 4}, 2);
  for (int axis = -3; axis < 3; ++axis)
    CHECK(twin_difference(cosine(axis), plain_cosine(axis), {a, b}, 5e-6) == "");
  const Array row = away_from_zero({1, 4}, 3);
  CHECK(twin_difference(cosine(-1), plain_cosine(-1), {a, row}, 5e-6) == "");
  CHECK(twin_difference(cosine(-1), plain_cosine(-1), {row, a}, 5e-6) == "");
}

TEST_CASE("cosine_similarity throws for shapes that do not fit", "[ops][normalize]") {
  const Tensor a(zeros({2, 3})), b(zeros({4})), c(zeros({3}));
  CHECK(message_of([&] { cosine_similarity(a, b); }) ==
        "cosine_similarity: shapes do not broadcast: a (2, 3), b (4)");
  CHECK(message_of([&] { cosine_similarity(c, c); }) ==
        "cosine_similarity: axis 1 is out of range for the broadcast shape (3); use -1 to 0");
}

TEST_CASE("norms and cosine similarity reject a negative eps and NaN", "[ops][normalize]") {
  const Tensor x(ones({2, 2}));
  for (const auto& [eps, text] : {std::pair{-1.0, "-1"}, {std::nan(""), "nan"}}) {
    const std::string error = std::string(": eps is ") + text + "; give 0 or more";
    CHECK(message_of([&, eps = eps] { layer_norm(x, {2}, {}, {}, eps); }) == "layer_norm" + error);
    CHECK(message_of([&, eps = eps] { rms_norm(x, {2}, {}, eps); }) == "rms_norm" + error);
    CHECK(message_of([&, eps = eps] { cosine_similarity(x, x, 1, eps); }) ==
          "cosine_similarity" + error);
  }
}
