// tsne_test.cpp: t-SNE: each part against values by hand, and the whole optimization.

#include "heed/study/tsne.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "near.hpp"

using namespace heed;
using namespace heed::test;

namespace {

// `count` clusters of `size` points each in five dimensions; the same numbers in both builds.
Array clusters(std::size_t count, std::size_t size) {
  Array x = Generator(7, Precision::float32).randn({count * size, 5});
  for (std::size_t i = 0; i < count * size; ++i)
    x(i, (i / size) % 5) += static_cast<Real>(10.0 * (1 + static_cast<double>(i / size / 5)));
  return x;
}

Doubles random_embedding(std::size_t n, std::uint64_t seed) {
  return Generator(seed, Precision::float32).randn({n, 2});
}

Doubles joint_probabilities(const Array& x, double perplexity,
                            Distance distance = Distance::euclidean) {
  return tsne_joint_probabilities(
      tsne_conditional_probabilities(tsne_distances(x, distance), perplexity));
}

double kl_at(const Doubles& P, const Doubles& y) {
  return kl_divergence(P, tsne_embedding_probabilities(y));
}

// The gradient with P multiplied by `exaggeration`.
Doubles exaggerated_gradient(const Doubles& P, const Doubles& y, double exaggeration) {
  Doubles gradient = tsne_gradient(P, y);
  for (std::size_t i = 0; i < y.shape(0); ++i)
    for (std::size_t j = 0; j < y.shape(0); ++j) {
      const double dx = y(i, 0) - y(j, 0), dy = y(i, 1) - y(j, 1);
      const double force = 4 * (exaggeration - 1) * P(i, j) / (1 + dx * dx + dy * dy);
      gradient(i, 0) += force * dx, gradient(i, 1) += force * dy;
    }
  return gradient;
}

TsneOptions with_perplexity(double perplexity) {
  TsneOptions options;
  options.perplexity = perplexity;
  return options;
}

// The optimizer of the paper, one coordinate at a time, from the same initial embedding. `steps`
// has the exaggeration and the momentum of each iteration.
struct Step {
  double exaggeration, momentum;
};

Doubles optimize_by_hand(const Doubles& P, double learning_rate, const std::vector<Step>& steps) {
  const std::size_t n = P.shape(0);
  Doubles y = Doubles(1e-4 * random_embedding(n, 0));
  std::vector<double> velocity(2 * n, 0.0), gains(2 * n, 1.0);
  for (const Step& step : steps) {
    const Doubles gradient = exaggerated_gradient(P, y, step.exaggeration);
    for (std::size_t k = 0; k < 2 * n; ++k) {
      const double g = gradient.data()[k];
      // A velocity with the sign of the gradient moves uphill: the coordinate passed the minimum.
      const bool uphill = (g > 0 && velocity[k] > 0) || (g <= 0 && velocity[k] <= 0);
      gains[k] = uphill ? std::max(gains[k] * 0.8, 0.01) : gains[k] + 0.2;
      velocity[k] = step.momentum * velocity[k] - learning_rate * gains[k] * g;
      y.data()[k] += velocity[k];
    }
    for (std::size_t axis = 0; axis < 2; ++axis) {
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) mean += y(i, axis) / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) y(i, axis) -= mean;
    }
  }
  return y;
}

double max_difference(const Array& a, const Doubles& b) {
  double result = 0;
  for (std::size_t k = 0; k < b.size(); ++k)
    result = std::max(result, std::abs(static_cast<double>(a.data()[k]) - b.data()[k]));
  return result;
}

bool all_finite(const Array& x) {
  return std::all_of(x.begin(), x.end(), [](Real value) { return std::isfinite(value); });
}

}  // namespace

TEST_CASE("distances are squared Euclidean, or 1 - cosine similarity", "[study][tsne]") {
  const Array x = array_of({3, 2}, {1, 0, 3, 4, 0, 2});
  const Doubles e = tsne_distances(x, Distance::euclidean);
  CHECK(e(0, 1) == 20);
  CHECK(e(1, 2) == 13);
  CHECK(e(0, 2) == 5);
  const Doubles c = tsne_distances(x, Distance::cosine);
  CHECK(close(c(0, 1), 0.4, 1e-12));  // 1 - 3 / 5
  CHECK(close(c(1, 2), 0.2, 1e-12));  // 1 - 4 / 5
  CHECK(close(c(0, 2), 1, 1e-12));
  for (const Doubles& d : {e, c})
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(d(i, i) == 0);
      for (std::size_t j = 0; j < 3; ++j) CHECK(d(i, j) == d(j, i));
    }
}

TEST_CASE("cosine distances of very long and very short vectors do not overflow", "[study][tsne]") {
  const Array x = array_of({3, 2}, {3e30, 4e30, 1e-30, 0, 0, 5});
  const Doubles c = tsne_distances(x, Distance::cosine);
  CHECK(close(c(0, 1), 0.4, 1e-6));
  CHECK(close(c(0, 2), 0.2, 1e-6));
}

// Each row has two probabilities. With this perplexity they are 0.8 (the nearer point) and 0.2.
TEST_CASE("P of three points matches values by hand", "[study][tsne]") {
  const Array x = array_of({3, 1}, {0, 1, 3});
  const double s = 0.8, entropy = -s * std::log(s) - (1 - s) * std::log(1 - s);
  const Doubles p =
      tsne_conditional_probabilities(tsne_distances(x, Distance::euclidean), std::exp(entropy));
  const double expected[3][3] = {{0, 0.8, 0.2}, {0.8, 0, 0.2}, {0.2, 0.8, 0}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) CHECK(close(p(i, j), expected[i][j], 1e-9));
  const Doubles P = tsne_joint_probabilities(p);
  CHECK(close(P(0, 1), 1.6 / 6, 1e-9));
  CHECK(close(P(0, 2), 0.4 / 6, 1e-9));
  CHECK(close(P(2, 1), 1.0 / 6, 1e-9));
}

// 1 / (1 + squared distance) is 1/2, 1/5 and 1/6 for the three pairs; the sum over (i, j) is 26/15.
TEST_CASE("Q, KL and gradient of three points match values by hand", "[study][tsne]") {
  const Doubles y = array_of({3, 2}, {0, 0, 1, 0, 0, 2});
  const Doubles Q = tsne_embedding_probabilities(y);
  CHECK(close(Q(0, 1), 15.0 / 52, 1e-12));
  CHECK(close(Q(0, 2), 6.0 / 52, 1e-12));
  CHECK(close(Q(2, 1), 5.0 / 52, 1e-12));
  const Doubles P = array_of({3, 3}, {0, 0.25, 0.25, 0.25, 0, 0, 0.25, 0, 0});
  CHECK(close(kl_divergence(P, Q), 0.5 * std::log(52.0 / 60) + 0.5 * std::log(52.0 / 24), 1e-12));
  const Doubles gradient = tsne_gradient(P, y);
  const double near = (0.25 - 15.0 / 52) / 2, far = (0.25 - 6.0 / 52) / 5, none = -5.0 / 52 / 6;
  CHECK(close(gradient(0, 0), -4 * near, 1e-12));
  CHECK(close(gradient(0, 1), -8 * far, 1e-12));
  CHECK(close(gradient(1, 0), 4 * (near + none), 1e-12));
  CHECK(close(gradient(1, 1), -8 * none, 1e-12));
  CHECK(close(gradient(2, 0), -4 * none, 1e-12));
  CHECK(close(gradient(2, 1), 8 * (far + none), 1e-12));
}

TEST_CASE("KL counts every element, also the first", "[study][tsne]") {
  const Doubles P{{0.5, 0.5}}, Q{{0.25, 0.75}};
  CHECK(close(kl_divergence(P, Q), 0.5 * std::log(2) + 0.5 * std::log(2.0 / 3), 1e-12));
}

TEST_CASE("tsne_gradient matches central differences of KL", "[study][tsne]") {
  const Doubles P = joint_probabilities(clusters(3, 4), 4);
  const Doubles y = random_embedding(12, 3);
  const Doubles gradient = tsne_gradient(P, y);
  const double h = 1e-5;
  for (std::size_t k = 0; k < y.size(); ++k) {
    Doubles up = y, down = y;
    up.data()[k] += h, down.data()[k] -= h;
    const double expected = (kl_at(P, up) - kl_at(P, down)) / (2 * h);
    INFO("coordinate " << k << " of y");
    CHECK(std::abs(gradient.data()[k] - expected) < 1e-8);
  }
}

TEST_CASE("the entropy of each row is ln perplexity at any scale of distances", "[study][tsne]") {
  for (const double scale : {1e-6, 1.0, 1e6})
    for (const double perplexity : {1.5, 5.0, 18.0, 19.0}) {
      const Array x = clusters(4, 5) * static_cast<Real>(scale);
      const Doubles p =
          tsne_conditional_probabilities(tsne_distances(x, Distance::euclidean), perplexity);
      for (std::size_t i = 0; i < 20; ++i) {
        double total = 0, entropy = 0;
        for (std::size_t j = 0; j < 20; ++j) {
          total += p(i, j);
          if (p(i, j) > 0) entropy -= p(i, j) * std::log(p(i, j));
        }
        INFO("row " << i << ", perplexity " << perplexity << ", scale " << scale);
        CHECK(close(total, 1, 1e-12));
        CHECK(std::abs(entropy - std::log(perplexity)) < 1e-9);
        CHECK(p(i, i) == 0);
      }
    }
}

TEST_CASE("P and Q are symmetric and sum to 1", "[study][tsne]") {
  const Doubles P = joint_probabilities(clusters(3, 5), 4, Distance::cosine);
  for (const Doubles& x : {P, tsne_embedding_probabilities(random_embedding(15, 5))}) {
    double total = 0;
    for (std::size_t i = 0; i < 15; ++i)
      for (std::size_t j = 0; j < 15; ++j) {
        total += x(i, j);
        CHECK(x(i, j) == x(j, i));
      }
    CHECK(close(total, 1, 1e-12));
  }
  CHECK(kl_divergence(P, P) == 0);
}

TEST_CASE("without momentum, KL falls in every iteration", "[study][tsne]") {
  TsneOptions options = with_perplexity(5);
  options.momentum = 0, options.early_exaggeration = 1, options.learning_rate = 1;
  options.iterations = 200;
  const Series history = tsne(clusters(4, 10), options).history;
  REQUIRE(history.y.size() == 21);
  for (std::size_t k = 1; k < history.y.size(); ++k) CHECK(history.y[k] < history.y[k - 1]);
}

TEST_CASE("KL falls, and the last value of its history is that of the embedding", "[study][tsne]") {
  const Array x = clusters(6, 20);
  const Tsne result = tsne(x, with_perplexity(10));
  const std::vector<double>& kl = result.history.y;
  CHECK(result.history.x.front() == 0);
  CHECK(result.history.x.back() == 1000);
  CHECK(kl.back() == result.kl);
  CHECK(result.kl < 0.25 * kl.front());
  for (std::size_t k = 30; k < kl.size(); k += 10) CHECK(kl[k] < kl[k - 10] + 1e-6);
  CHECK(close(kl_at(joint_probabilities(x, 10, Distance::cosine), result.points), result.kl, 1e-4));
}

TEST_CASE("separate clusters stay separate in the embedding", "[study][tsne]") {
  for (const Distance distance : {Distance::cosine, Distance::euclidean}) {
    TsneOptions options = with_perplexity(8);
    options.distance = distance;
    const Tsne result = tsne(clusters(5, 12), options);
    const Doubles d = tsne_distances(result.points, Distance::euclidean);
    for (std::size_t i = 0; i < 60; ++i)
      for (std::size_t j = 0; j < 60; ++j)
        for (std::size_t k = 0; k < 60; ++k)
          if (i / 12 == j / 12 && i / 12 != k / 12 && d(i, j) >= d(i, k)) FAIL(i << " " << k);
  }
}

TEST_CASE("the first iterations match the optimizer by hand", "[study][tsne]") {
  const Array x = clusters(3, 4);
  const Doubles P = joint_probabilities(x, 3, Distance::cosine);
  TsneOptions options = with_perplexity(3);
  options.learning_rate = 5, options.exaggerated = 2, options.iterations = 3;
  options.momentum = 0.8;  // used from iteration 250 on, 0.5 before
  const std::vector<Step> steps = {{4, 0.5}, {4, 0.5}, {1, 0.5}};
  const Doubles expected = optimize_by_hand(P, 5, steps);
  const double size = max_difference(zeros({12, 2}), expected);
  CHECK(max_difference(tsne(x, options).points, expected) < 1e-5 * size);
  options.momentum = 0.3;  // below 0.5: used from the first iteration on
  const Doubles expected_slow = optimize_by_hand(P, 5, {{4, 0.3}, {4, 0.3}, {1, 0.3}});
  CHECK(max_difference(tsne(x, options).points, expected_slow) < 1e-5 * size);
  options.learning_rate = 0, options.momentum = 0.8;  // default: 12 / 4, but at least 5
  CHECK(max_difference(tsne(x, options).points, expected) < 1e-5 * size);
  const Array more = clusters(3, 10);  // default learning rate: 30 / 4
  const Doubles expected_more =
      optimize_by_hand(joint_probabilities(more, 3, Distance::cosine), 7.5, steps);
  CHECK(max_difference(tsne(more, options).points, expected_more) <
        1e-5 * max_difference(zeros({30, 2}), expected_more));
}

TEST_CASE("the momentum rises from 0.5 to options.momentum after 250 iterations", "[study][tsne]") {
  const Array x = clusters(3, 4);
  TsneOptions options = with_perplexity(3);
  options.learning_rate = 0.2, options.iterations = 260, options.early_exaggeration = 1;
  std::vector<Step> steps(250, Step{1, 0.5});
  steps.resize(260, Step{1, 0.8});
  const Doubles P = joint_probabilities(x, 3, Distance::cosine);
  const Doubles expected = optimize_by_hand(P, 0.2, steps);
  CHECK(max_difference(tsne(x, options).points, expected) < 1e-6);
  steps.assign(260, Step{1, 0.5});
  CHECK(max_difference(expected, optimize_by_hand(P, 0.2, steps)) > 1e-4);
}

TEST_CASE("progress is called after every tenth iteration", "[study][tsne]") {
  TsneOptions options = with_perplexity(3);
  options.iterations = 35;
  std::vector<std::size_t> calls;
  options.progress = [&](std::size_t iterations) { calls.push_back(iterations); };
  tsne(clusters(3, 4), options);
  CHECK(calls == std::vector<std::size_t>{10, 20, 30});
}

TEST_CASE("the mean of the embedding is the origin", "[study][tsne]") {
  const Array y = tsne(clusters(3, 10), with_perplexity(5)).points;
  CHECK(y.shape(0) == 30);
  CHECK(y.shape(1) == 2);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    double mean = 0;
    for (std::size_t i = 0; i < 30; ++i) mean += static_cast<double>(y(i, axis)) / 30;
    CHECK(std::abs(mean) < 1e-5);
  }
}

TEST_CASE("the embedding depends on the seed, but not on the number of threads", "[study][tsne]") {
  const int before = num_threads();
  TsneOptions options = with_perplexity(20);
  options.iterations = 8;
  const Array x = clusters(10, 60);  // n is large enough for several threads
  set_num_threads(1);
  const Tsne one = tsne(x, options);
  set_num_threads(3);
  const Tsne three = tsne(x, options);
  set_num_threads(before);
  CHECK(same_bits(one.points, three.points));
  CHECK(one.kl == three.kl);
  options.seed = 1;
  CHECK(!same_bits(tsne(x, options).points, one.points));
}

TEST_CASE("equal points give a finite embedding and lie close together", "[study][tsne]") {
  for (const Distance distance : {Distance::cosine, Distance::euclidean}) {
    TsneOptions options = with_perplexity(2);
    options.distance = distance;
    const Tsne all = tsne(ones({8, 3}), options);
    CHECK(all_finite(all.points));
    CHECK(std::isfinite(all.kl));
    Array x = clusters(2, 6);
    for (std::ptrdiff_t i = 0; i < 6; ++i) xt::row(x, i) = xt::row(x, 0);
    const Tsne half = tsne(x, options);
    CHECK(all_finite(half.points));
    const Doubles d = tsne_distances(half.points, Distance::euclidean);
    for (std::size_t i = 0; i < 6; ++i) CHECK(d(0, i) < d(0, 6));
  }
}

TEST_CASE("a perplexity out of range is rejected with the range", "[study][tsne]") {
  const Array x = clusters(2, 5);
  CHECK(message_of([&] { tsne(x, with_perplexity(30)); }) ==
        "tsne: perplexity must be 1 to 9 for 10 points, got 30");
  CHECK(message_of([&] { tsne(x, with_perplexity(0.5)); }) ==
        "tsne: perplexity must be 1 to 9 for 10 points, got 0.5");
  CHECK(message_of([&] { tsne(x, with_perplexity(not_a_number)); }) ==
        "tsne: perplexity must be 1 to 9 for 10 points, got nan");
  for (const double limit : {1.0, 9.0}) CHECK(all_finite(tsne(x, with_perplexity(limit)).points));
}

TEST_CASE("tsne rejects points of wrong shape, at the origin, or not finite", "[study][tsne]") {
  CHECK(message_of([] { tsne(zeros({4})); }) ==
        "tsne: points must be (n, D) with n at least 3 and D at least 1, got (4)");
  CHECK(message_of([] {
          tsne(ones({2, 3}), with_perplexity(1));
        }) == "tsne: points must be (n, D) with n at least 3 and D at least 1, got (2, 3)");
  CHECK(message_of([] {
          tsne(ones({4, 0}), with_perplexity(1));
        }) == "tsne: points must be (n, D) with n at least 3 and D at least 1, got (4, 0)");
  Array x = clusters(1, 5);
  xt::row(x, 3) = xt::row(zeros({1, 5}), 0);
  CHECK(message_of([&] { tsne(x, with_perplexity(2)); }) ==
        "tsne: point 3 is all zeros, so its cosine is undefined; use Euclidean distance");
  TsneOptions euclidean = with_perplexity(2);
  euclidean.distance = Distance::euclidean;
  CHECK(all_finite(tsne(x, euclidean).points));
  for (const double bad : {infinity, -infinity, not_a_number}) {
    x(2, 4) = static_cast<Real>(bad);
    CHECK(message_of([&] { tsne(x, euclidean); }) ==
          "tsne: point 2 has a value that is not finite");
  }
  Array more_points_than_axes = ones({6, 2});
  more_points_than_axes(5, 0) = static_cast<Real>(infinity);
  CHECK(message_of([&] { tsne(more_points_than_axes, euclidean); }) ==
        "tsne: point 5 has a value that is not finite");
}

TEST_CASE("tsne rejects options out of range and a learning rate that diverges", "[study][tsne]") {
  const auto error_of = [](auto change) {
    TsneOptions options = with_perplexity(2);
    change(options);
    return message_of([&] { tsne(clusters(2, 5), options); });
  };
  CHECK(error_of([](TsneOptions& o) { o.iterations = 0; }) ==
        "tsne: iterations must be at least 1, got 0");
  CHECK(error_of([](TsneOptions& o) { o.learning_rate = -1; }) ==
        "tsne: learning_rate must be positive, or 0 for the default, got -1");
  CHECK(error_of([](TsneOptions& o) { o.early_exaggeration = 0.5; }) ==
        "tsne: early_exaggeration must be at least 1, got 0.5");
  CHECK(error_of([](TsneOptions& o) { o.momentum = 1; }) ==
        "tsne: momentum must be in [0, 1), got 1");
  CHECK(error_of([](TsneOptions& o) { o.learning_rate = 1e300; }) ==
        "tsne: diverged, KL is not finite; learning_rate 1e+300 is too large");
}

TEST_CASE("nearest excludes the point itself and returns the first on a tie", "[study][tsne]") {
  const Doubles d = tsne_distances(array_of({4, 1}, {0, 2, 1, -1}), Distance::euclidean);
  CHECK(nearest(d, 0, {0, 1, 2, 3}) == 2);
  CHECK(nearest(d, 0, {3, 1, 2}) == 3);
  CHECK(nearest(d, 1, {0, 3}) == 0);
  CHECK(nearest(d, 1, {1}) == 1);
}

TEST_CASE("the parts of t-SNE reject arrays of other shapes", "[study][tsne]") {
  const Doubles square = Doubles::from_shape({3, 3}), points = Doubles::from_shape({3, 2});
  CHECK(message_of([&] { kl_divergence(square, points); }) ==
        "kl_divergence: P (3, 3) and Q (3, 2) must have one shape");
  CHECK(message_of([&] { tsne_gradient(points, points); }) ==
        "tsne_gradient: P (3, 2) must be (n, n) for y (3, 2)");
  CHECK(message_of([&] { tsne_gradient(square, square); }) ==
        "tsne_gradient: y must be (n, 2), got (3, 3)");
  CHECK(message_of([&] { tsne_embedding_probabilities(square); }) ==
        "tsne_embedding_probabilities: y must be (n, 2), got (3, 3)");
  CHECK(message_of([&] { tsne_conditional_probabilities(points, 2); }) ==
        "tsne_conditional_probabilities: the argument must be (n, n), got (3, 2)");
  CHECK(message_of([&] { tsne_joint_probabilities(points); }) ==
        "tsne_joint_probabilities: the argument must be (n, n), got (3, 2)");
  CHECK(message_of([&] {
          nearest(square, 0, {1, 3});
        }) == "nearest: points 0 and 3 of 3 points; give smaller indices");
}
