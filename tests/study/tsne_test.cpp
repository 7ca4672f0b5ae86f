// tsne_test.cpp: points of many dimensions in two: every part by hand, and the whole.

#include "heed/study/tsne.hpp"

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "near.hpp"

using namespace heed;
using namespace heed::test;

namespace {

// The same numbers in both builds: `clusters` lumps of `each` points in five dimensions.
Array lumps(std::size_t clusters, std::size_t each, double apart = 10) {
  Array x = Generator(7, Precision::float32).randn({clusters * each, 5});
  for (std::size_t i = 0; i < clusters * each; ++i)
    x(i, (i / each) % 5) += static_cast<Real>(apart * (1 + static_cast<double>(i / each / 5)));
  return x;
}

Doubles positions(std::size_t n, std::uint64_t seed) {
  return Generator(seed, Precision::float32).randn({n, 2});
}

Doubles targets(const Array& x, double perplexity, Distance distance = Distance::euclidean) {
  return tsne_joint_probabilities(
      tsne_conditional_probabilities(tsne_distances(x, distance), perplexity));
}

double kl_at(const Doubles& P, const Doubles& y) {
  return kl_divergence(P, tsne_embedding_probabilities(y));
}

// With `factor` times P the gradient is that of P, and the pull of the rest of it.
Doubles exaggerated_gradient(const Doubles& P, const Doubles& y, double factor) {
  Doubles slope = tsne_gradient(P, y);
  for (std::size_t i = 0; i < y.shape(0); ++i)
    for (std::size_t j = 0; j < y.shape(0); ++j) {
      const double dx = y(i, 0) - y(j, 0), dy = y(i, 1) - y(j, 1);
      const double pull = 4 * (factor - 1) * P(i, j) / (1 + dx * dx + dy * dy);
      slope(i, 0) += pull * dx, slope(i, 1) += pull * dy;
    }
  return slope;
}

TsneOptions few(double perplexity) {
  TsneOptions options;
  options.perplexity = perplexity;
  return options;
}

// The optimiser once more, from the same start: one number after the other, in the words of the
// paper. `steps` gives each iteration what P is multiplied with, and its momentum.
struct Step {
  double exaggeration, momentum;
};

Doubles moved_by_hand(const Doubles& P, double rate, const std::vector<Step>& steps) {
  const std::size_t n = P.shape(0);
  Doubles y = Doubles(1e-4 * positions(n, 0));
  std::vector<double> velocity(2 * n, 0.0), gains(2 * n, 1.0);
  for (const Step& step : steps) {
    const Doubles slope = exaggerated_gradient(P, y, step.exaggeration);
    for (std::size_t k = 0; k < 2 * n; ++k) {
      const double s = slope.data()[k];
      // Downhill is against the slope: a velocity of its sign has gone past the lowest place.
      const bool transposed = (s > 0 && velocity[k] > 0) || (s <= 0 && velocity[k] <= 0);
      gains[k] = transposed ? std::max(gains[k] * 0.8, 0.01) : gains[k] + 0.2;
      velocity[k] = step.momentum * velocity[k] - rate * gains[k] * s;
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

double furthest(const Array& a, const Doubles& b) {
  double most = 0;
  for (std::size_t k = 0; k < b.size(); ++k)
    most = std::max(most, std::abs(static_cast<double>(a.data()[k]) - b.data()[k]));
  return most;
}

bool all_are_finite(const Array& x) {
  return std::all_of(x.begin(), x.end(), [](Real value) { return std::isfinite(value); });
}

}  // namespace

TEST_CASE("distances are squared Euclidean, or one less the cosine", "[study][tsne]") {
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

TEST_CASE("the cosine of very long and very short vectors is theirs", "[study][tsne]") {
  const Array x = array_of({3, 2}, {3e30, 4e30, 1e-30, 0, 0, 5});
  const Doubles c = tsne_distances(x, Distance::cosine);
  CHECK(close(c(0, 1), 0.4, 1e-6));
  CHECK(close(c(0, 2), 0.2, 1e-6));
}

// On the line 0, 1, 3 the middle point has neighbours at squared distances 1 and 4. Half of its
// entropy's range is asked for; shares s and 1 - s have the bandwidth ln(s / (1 - s)) / 3.
TEST_CASE("shares of two neighbours are those worked by hand", "[study][tsne]") {
  const Array x = array_of({3, 1}, {0, 1, 3});
  const double s = 0.8, entropy = -s * std::log(s) - (1 - s) * std::log(1 - s);
  const Doubles p =
      tsne_conditional_probabilities(tsne_distances(x, Distance::euclidean), std::exp(entropy));
  const double wanted[3][3] = {{0, 0.8, 0.2}, {0.8, 0, 0.2}, {0.2, 0.8, 0}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) CHECK(close(p(i, j), wanted[i][j], 1e-9));
  const Doubles P = tsne_joint_probabilities(p);
  CHECK(close(P(0, 1), 1.6 / 6, 1e-9));
  CHECK(close(P(0, 2), 0.4 / 6, 1e-9));
  CHECK(close(P(2, 1), 1.0 / 6, 1e-9));
}

// The points (0, 0), (1, 0) and (0, 2) have 1 / (1 + d) = 1/2, 1/5 and 1/6, in all 26/15.
TEST_CASE("Q, KL and the gradient of three points are those worked by hand", "[study][tsne]") {
  const Doubles y = array_of({3, 2}, {0, 0, 1, 0, 0, 2});
  const Doubles Q = tsne_embedding_probabilities(y);
  CHECK(close(Q(0, 1), 15.0 / 52, 1e-12));
  CHECK(close(Q(0, 2), 6.0 / 52, 1e-12));
  CHECK(close(Q(2, 1), 5.0 / 52, 1e-12));
  const Doubles P = array_of({3, 3}, {0, 0.25, 0.25, 0.25, 0, 0, 0.25, 0, 0});
  CHECK(close(kl_divergence(P, Q), 0.5 * std::log(52.0 / 60) + 0.5 * std::log(52.0 / 24), 1e-12));
  const Doubles slope = tsne_gradient(P, y);
  const double near = (0.25 - 15.0 / 52) / 2, far = (0.25 - 6.0 / 52) / 5, none = -5.0 / 52 / 6;
  CHECK(close(slope(0, 0), -4 * near, 1e-12));
  CHECK(close(slope(0, 1), -8 * far, 1e-12));
  CHECK(close(slope(1, 0), 4 * (near + none), 1e-12));
  CHECK(close(slope(1, 1), -8 * none, 1e-12));
  CHECK(close(slope(2, 0), -4 * none, 1e-12));
  CHECK(close(slope(2, 1), 8 * (far + none), 1e-12));
}

TEST_CASE("t-SNE's gradient is that of central differences", "[study][tsne]") {
  const Doubles P = targets(lumps(3, 4), 4);
  const Doubles y = positions(12, 3);
  const Doubles slope = tsne_gradient(P, y);
  const double h = 1e-5;
  for (std::size_t k = 0; k < y.size(); ++k) {
    Doubles up = y, down = y;
    up.data()[k] += h, down.data()[k] -= h;
    const double wanted = (kl_at(P, up) - kl_at(P, down)) / (2 * h);
    INFO("number " << k << " of y");
    CHECK(std::abs(slope.data()[k] - wanted) < 1e-8);
  }
}

TEST_CASE("each row's entropy is ln perplexity, at any scale", "[study][tsne]") {
  for (const double scale : {1e-6, 1.0, 1e6})
    for (const double perplexity : {1.5, 5.0, 18.0, 19.0}) {
      const Array x = lumps(4, 5) * static_cast<Real>(scale);
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

TEST_CASE("P is symmetric and sums to one, and so does Q", "[study][tsne]") {
  const Doubles P = targets(lumps(3, 5), 4, Distance::cosine);
  for (const Doubles& x : {P, tsne_embedding_probabilities(positions(15, 5))}) {
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

TEST_CASE("in small steps without momentum KL falls in each of them", "[study][tsne]") {
  TsneOptions options = few(5);
  options.momentum = 0, options.early_exaggeration = 1, options.learning_rate = 1;
  options.iterations = 200;
  const Series history = tsne(lumps(4, 10), options).history;
  REQUIRE(history.y.size() == 21);
  for (std::size_t k = 1; k < history.y.size(); ++k) CHECK(history.y[k] < history.y[k - 1]);
}

TEST_CASE("KL falls, and the last of its history is the picture's", "[study][tsne]") {
  const Array x = lumps(6, 20);
  const Tsne result = tsne(x, few(10));
  const std::vector<double>& kl = result.history.y;
  CHECK(result.history.x.front() == 0);
  CHECK(result.history.x.back() == 1000);
  CHECK(kl.back() == result.kl);
  CHECK(result.kl < 0.25 * kl.front());
  for (std::size_t k = 30; k < kl.size(); k += 10) CHECK(kl[k] < kl[k - 10] + 1e-6);
  CHECK(close(kl_at(targets(x, 10, Distance::cosine), result.points), result.kl, 1e-4));
}

TEST_CASE("lumps that are apart stay apart in the picture", "[study][tsne]") {
  for (const Distance distance : {Distance::cosine, Distance::euclidean}) {
    TsneOptions options = few(8);
    options.distance = distance;
    const Tsne result = tsne(lumps(5, 12), options);
    const Doubles d = tsne_distances(result.points, Distance::euclidean);
    for (std::size_t i = 0; i < 60; ++i)
      for (std::size_t j = 0; j < 60; ++j)
        for (std::size_t k = 0; k < 60; ++k)
          if (i / 12 == j / 12 && i / 12 != k / 12 && d(i, j) >= d(i, k)) FAIL(i << " " << k);
  }
}

TEST_CASE("the first iterations are those worked by hand", "[study][tsne]") {
  const Array x = lumps(3, 4);
  const Doubles P = targets(x, 3, Distance::cosine);
  TsneOptions options = few(3);
  options.learning_rate = 5, options.exaggerated = 2, options.iterations = 3;
  options.momentum = 0.8;  // after iteration 250: until then it is 0.5
  const std::vector<Step> steps = {{4, 0.5}, {4, 0.5}, {1, 0.5}};
  const Doubles wanted = moved_by_hand(P, 5, steps);
  const double size = furthest(zeros({12, 2}), wanted);
  CHECK(furthest(tsne(x, options).points, wanted) < 1e-5 * size);
  options.momentum = 0.3;  // what is below 0.5 holds from the beginning
  const Doubles slow = moved_by_hand(P, 5, {{4, 0.3}, {4, 0.3}, {1, 0.3}});
  CHECK(furthest(tsne(x, options).points, slow) < 1e-5 * size);
  options.learning_rate = 0, options.momentum = 0.8;  // chosen: 12 / 4, but at least 5
  CHECK(furthest(tsne(x, options).points, wanted) < 1e-5 * size);
  const Array more = lumps(3, 10);  // 30 / 4
  const Doubles chosen = moved_by_hand(targets(more, 3, Distance::cosine), 7.5, steps);
  CHECK(furthest(tsne(more, options).points, chosen) < 1e-5 * furthest(zeros({30, 2}), chosen));
}

TEST_CASE("the momentum grows after 250 iterations", "[study][tsne]") {
  const Array x = lumps(3, 4);
  TsneOptions options = few(3);
  options.learning_rate = 0.2, options.iterations = 260, options.early_exaggeration = 1;
  std::vector<Step> steps(250, Step{1, 0.5});
  steps.resize(260, Step{1, 0.8});
  const Doubles P = targets(x, 3, Distance::cosine);
  const Doubles wanted = moved_by_hand(P, 0.2, steps);
  CHECK(furthest(tsne(x, options).points, wanted) < 1e-6);
  CHECK(furthest(wanted, moved_by_hand(P, 0.2, std::vector<Step>(260, {1, 0.5}))) > 1e-4);
}

TEST_CASE("t-SNE tells of every tenth iteration that is done", "[study][tsne]") {
  TsneOptions options = few(3);
  options.iterations = 35;
  std::vector<std::size_t> told;
  options.progress = [&](std::size_t done) { told.push_back(done); };
  tsne(lumps(3, 4), options);
  CHECK(told == std::vector<std::size_t>{10, 20, 30});
}

TEST_CASE("the picture's mean is its origin", "[study][tsne]") {
  const Array y = tsne(lumps(3, 10), few(5)).points;
  CHECK(y.shape(0) == 30);
  CHECK(y.shape(1) == 2);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    double mean = 0;
    for (std::size_t i = 0; i < 30; ++i) mean += static_cast<double>(y(i, axis)) / 30;
    CHECK(std::abs(mean) < 1e-5);
  }
}

TEST_CASE("t-SNE's bits depend on the seed, and not on the number of threads", "[study][tsne]") {
  const int before = num_threads();
  TsneOptions options = few(20);
  options.iterations = 8;
  const Array x = lumps(10, 60);  // enough for several threads
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

TEST_CASE("points that are the same give numbers, and lie together", "[study][tsne]") {
  for (const Distance distance : {Distance::cosine, Distance::euclidean}) {
    TsneOptions options = few(2);
    options.distance = distance;
    const Tsne all = tsne(ones({8, 3}), options);
    CHECK(all_are_finite(all.points));
    CHECK(std::isfinite(all.kl));
    Array x = lumps(2, 6);
    for (std::ptrdiff_t i = 0; i < 6; ++i) xt::row(x, i) = xt::row(x, 0);
    const Tsne half = tsne(x, options);
    CHECK(all_are_finite(half.points));
    const Doubles d = tsne_distances(half.points, Distance::euclidean);
    for (std::size_t i = 0; i < 6; ++i) CHECK(d(0, i) < d(0, 6));
  }
}

TEST_CASE("a perplexity that the points do not allow is refused with its limit", "[study][tsne]") {
  const Array x = lumps(2, 5);
  CHECK(message_of([&] { tsne(x, few(30)); }) ==
        "tsne: the perplexity of 10 points is 1 to 9, got 30");
  CHECK(message_of([&] { tsne(x, few(0.5)); }) ==
        "tsne: the perplexity of 10 points is 1 to 9, got 0.5");
  CHECK(message_of([&] { tsne(x, few(not_a_number)); }) ==
        "tsne: the perplexity of 10 points is 1 to 9, got nan");
  for (const double least_and_most : {1.0, 9.0})
    CHECK(all_are_finite(tsne(x, few(least_and_most)).points));
}

TEST_CASE("points that cannot be drawn are refused", "[study][tsne]") {
  CHECK(message_of([] { tsne(zeros({4})); }) ==
        "tsne: needs points (n, D), at least 3 of them, got x (4)");
  CHECK(message_of([] {
          tsne(ones({2, 3}), few(1));
        }) == "tsne: needs points (n, D), at least 3 of them, got x (2, 3)");
  CHECK(message_of([] {
          tsne(ones({4, 0}), few(1));
        }) == "tsne: needs points (n, D), at least 3 of them, got x (4, 0)");
  Array x = lumps(1, 5);
  xt::row(x, 3) = xt::row(zeros({1, 5}), 0);
  CHECK(message_of([&] { tsne(x, few(2)); }) ==
        "tsne: point 3 is all zeros, which has no direction: use Euclidean distance");
  TsneOptions euclidean = few(2);
  euclidean.distance = Distance::euclidean;
  CHECK(all_are_finite(tsne(x, euclidean).points));
  for (const double bad : {infinity, -infinity, not_a_number}) {
    x(2, 4) = static_cast<Real>(bad);
    CHECK(message_of([&] { tsne(x, euclidean); }) ==
          "tsne: point 2 has a value that is not finite");
  }
}

TEST_CASE("options that cannot work are refused", "[study][tsne]") {
  const auto refusal = [](auto change) {
    TsneOptions options = few(2);
    change(options);
    return message_of([&] { tsne(lumps(2, 5), options); });
  };
  CHECK(refusal([](TsneOptions& o) { o.iterations = 0; }) ==
        "tsne: needs at least 1 iteration, got 0");
  CHECK(refusal([](TsneOptions& o) { o.learning_rate = -1; }) ==
        "tsne: learning_rate is above 0, or 0 to have it chosen, got -1");
  CHECK(refusal([](TsneOptions& o) { o.early_exaggeration = 0.5; }) ==
        "tsne: early_exaggeration is at least 1, got 0.5");
  CHECK(refusal([](TsneOptions& o) { o.momentum = 1; }) ==
        "tsne: momentum is from 0 to below 1, got 1");
  CHECK(refusal([](TsneOptions& o) { o.learning_rate = 1e300; }) ==
        "tsne: the points flew apart: a learning_rate of 1e+300 is too large");
}

TEST_CASE("the nearest point is another one, and of several the first", "[study][tsne]") {
  const Doubles d = tsne_distances(array_of({4, 1}, {0, 2, 1, -1}), Distance::euclidean);
  CHECK(nearest(d, 0, {0, 1, 2, 3}) == 2);
  CHECK(nearest(d, 0, {3, 1, 2}) == 3);
  CHECK(nearest(d, 1, {0, 3}) == 0);
  CHECK(nearest(d, 1, {1}) == 1);
}
