// tsne.cpp: points of many dimensions drawn in two, by the exact gradient of KL(P || Q).

#include "heed/study/tsne.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/array/parallel.hpp"
#include "heed/array/random.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Doubles zeros_of(std::size_t rows, std::size_t columns) {
  Doubles x = Doubles::from_shape({rows, columns});
  std::fill(x.begin(), x.end(), 0.0);
  return x;
}

// Calls body(i) for every row. A row is one thread's, so its sums are added up in one order. Below
// some 500 points there is one thread: a row then takes less time than a thread to wake up.
template <class Body>
void each_row(std::size_t n, const Body& body) {
  parallel_for(n, 16 * elementwise_grain / (n + 1) + 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

void check_points(const Array& points, Distance distance) {
  const Shape shape = shape_of(points);
  if (shape.size() != 2 || shape[0] < 3 || shape[1] == 0)
    throw_error("tsne: needs points (n, D), at least 3 of them, got x ", str(shape));
  for (std::size_t i = 0; i < shape[0]; ++i) {
    double length = 0;
    for (std::size_t d = 0; d < shape[1]; ++d) {
      const double value = points(i, d);
      if (!std::isfinite(value)) throw_error("tsne: point ", i, " has a value that is not finite");
      length = std::max(length, std::abs(value));
    }
    if (length == 0 && distance == Distance::cosine)
      throw_error("tsne: point ", i,
                  " is all zeros, which has no direction: use Euclidean distance");
  }
}

void check_options(const TsneOptions& options, std::size_t n) {
  if (!(options.perplexity >= 1 && options.perplexity <= static_cast<double>(n - 1)))
    throw_error("tsne: the perplexity of ", n, " points is 1 to ", n - 1, ", got ",
                options.perplexity);
  if (options.iterations == 0) throw_error("tsne: needs at least 1 iteration, got 0");
  if (!(options.learning_rate >= 0 && std::isfinite(options.learning_rate)))
    throw_error("tsne: learning_rate is above 0, or 0 to have it chosen, got ",
                options.learning_rate);
  if (!(options.early_exaggeration >= 1 && std::isfinite(options.early_exaggeration)))
    throw_error("tsne: early_exaggeration is at least 1, got ", options.early_exaggeration);
  if (!(options.momentum >= 0 && options.momentum < 1))
    throw_error("tsne: momentum is from 0 to below 1, got ", options.momentum);
}

// The points as they are, or for cosine distance made as long as 1.
Doubles prepared(const Array& points, Distance distance) {
  Doubles x = points;
  if (distance == Distance::euclidean) return x;
  for (std::size_t i = 0; i < x.shape(0); ++i) {
    double largest = 0, squares = 0;  // squares of 1e-200 or 1e200 are 0 or infinite
    for (std::size_t d = 0; d < x.shape(1); ++d) largest = std::max(largest, std::abs(x(i, d)));
    for (std::size_t d = 0; d < x.shape(1); ++d) x(i, d) /= largest;
    for (std::size_t d = 0; d < x.shape(1); ++d) squares += x(i, d) * x(i, d);
    for (std::size_t d = 0; d < x.shape(1); ++d) x(i, d) /= std::sqrt(squares);
  }
  return x;
}

// Row i of P(j | i) for a bandwidth, and its entropy. The nearest point's exponent is 0.
double fill_row(const double* d, double* p, std::size_t n, std::size_t i, double nearest,
                double bandwidth) {
  double total = 0, weighed = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double excess = d[j] - nearest;
    p[j] = j == i ? 0 : std::exp(-bandwidth * excess);
    total += p[j];
    if (p[j] > 0) weighed += p[j] * excess;
  }
  for (std::size_t j = 0; j < n; ++j) p[j] /= total;
  return std::log(total) + bandwidth * weighed / total;
}

double nearest_distance(const double* d, std::size_t n, std::size_t i) {
  double nearest = infinity;
  for (std::size_t j = 0; j < n; ++j)
    if (j != i) nearest = std::min(nearest, d[j]);
  return nearest;
}

// The mean of what lies beyond the nearest: distances of any scale begin with a bandwidth near 1.
double first_bandwidth(const double* d, std::size_t n, std::size_t i, double nearest) {
  double total = 0;
  for (std::size_t j = 0; j < n; ++j)
    if (j != i) total += d[j] - nearest;
  return total > 0 ? static_cast<double>(n - 1) / total : 1;
}

// The larger the bandwidth b, the fewer the neighbours: bisection between what is too small and
// what is too large, after doubling until there is such a one.
void find_row(const double* d, double* p, std::size_t n, std::size_t i, double wanted) {
  const double nearest = nearest_distance(d, n, i);
  double b = first_bandwidth(d, n, i, nearest), low = 0, high = infinity;
  for (int step = 0; step < 200; ++step) {
    const double entropy = fill_row(d, p, n, i, nearest, b);
    if (std::abs(entropy - wanted) < 1e-12 || (step > 60 && high == infinity)) return;
    (entropy > wanted ? low : high) = b;
    b = high == infinity ? 2 * b : (low + high) / 2;
  }
}

// 1 / (1 + squared distance) from point i to every point, itself 0; returns their sum.
double closeness_row(const Doubles& y, std::size_t i, double* row) {
  const std::size_t n = y.shape(0);
  const double *const at = y.data(), x0 = at[2 * i], y0 = at[2 * i + 1];
  for (std::size_t j = 0; j < n; ++j) {
    const double dx = x0 - at[2 * j], dy = y0 - at[2 * j + 1];
    row[j] = 1 / (1 + dx * dx + dy * dy);
  }
  row[i] = 0;
  double total = 0;
  for (std::size_t j = 0; j < n; ++j) total += row[j];
  return total;
}

struct Closeness {
  Doubles values;  // (n, n)
  double total;
};

Closeness closeness_of(const Doubles& y) {
  const std::size_t n = y.shape(0);
  Closeness c{Doubles::from_shape({n, n}), 0};
  std::vector<double> totals(n);
  each_row(n, [&](std::size_t i) { totals[i] = closeness_row(y, i, c.values.data() + i * n); });
  for (const double total : totals) c.total += total;
  return c;
}

// The gradient with P times `factor`.
Doubles gradient_of(const Doubles& P, const Doubles& y, double factor) {
  const std::size_t n = y.shape(0);
  const Closeness c = closeness_of(y);
  Doubles gradient = Doubles::from_shape({n, 2});
  each_row(n, [&](std::size_t i) {
    const double *const p = P.data() + i * n, *const near = c.values.data() + i * n;
    const double* const at = y.data();
    double dx = 0, dy = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double pull = (factor * p[j] - near[j] / c.total) * near[j];
      dx += pull * (at[2 * i] - at[2 * j]);
      dy += pull * (at[2 * i + 1] - at[2 * j + 1]);
    }
    gradient(i, 0) = 4 * dx, gradient(i, 1) = 4 * dy;
  });
  return gradient;
}

// Where the points are, and how they have been moving.
struct Motion {
  Doubles y, velocity, gains;  // (n, 2) each
};

// Gradient descent with momentum. Each number has a gain of its own, which grows while the number
// goes on in one direction and shrinks when it turns back (Jacobs 1988).
void move(Motion& m, const Doubles& gradient, double learning_rate, double momentum) {
  const std::size_t n = m.y.shape(0);
  for (std::size_t k = 0; k < m.y.size(); ++k) {
    double& gain = m.gains.data()[k];
    double& velocity = m.velocity.data()[k];
    const double slope = gradient.data()[k];
    gain = (slope > 0) == (velocity > 0) ? std::max(0.8 * gain, 0.01) : gain + 0.2;
    velocity = momentum * velocity - learning_rate * gain * slope;
    m.y.data()[k] += velocity;
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) mean += m.y(i, axis) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) m.y(i, axis) -= mean;
  }
}

// Close to the origin, as the paper starts; the same in both builds.
Motion start_of(std::size_t n, std::uint64_t seed) {
  Motion m{Generator(seed, Precision::float32).randn({n, 2}), zeros_of(n, 2), zeros_of(n, 2)};
  for (double& value : m.y) value *= 1e-4;
  for (double& gain : m.gains) gain = 1;
  return m;
}

}  // namespace

Doubles tsne_distances(const Array& points, Distance distance) {
  const Doubles x = prepared(points, distance);
  const std::size_t n = x.shape(0), D = x.shape(1);
  Doubles distances = Doubles::from_shape({n, n});
  each_row(n, [&](std::size_t i) {
    for (std::size_t j = 0; j < n; ++j) {
      double squares = 0;
      for (std::size_t d = 0; d < D; ++d) squares += (x(i, d) - x(j, d)) * (x(i, d) - x(j, d));
      distances(i, j) = distance == Distance::cosine ? squares / 2 : squares;
    }
  });
  return distances;
}

Doubles tsne_conditional_probabilities(const Doubles& distances, double perplexity) {
  const std::size_t n = distances.shape(0);
  Doubles shares = Doubles::from_shape({n, n});
  each_row(n, [&](std::size_t i) {
    find_row(distances.data() + i * n, shares.data() + i * n, n, i, std::log(perplexity));
  });
  return shares;
}

Doubles tsne_joint_probabilities(const Doubles& neighbours) {
  const std::size_t n = neighbours.shape(0);
  Doubles P = Doubles::from_shape({n, n});
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      P(i, j) = (neighbours(i, j) + neighbours(j, i)) / (2 * static_cast<double>(n));
  return P;
}

Doubles tsne_embedding_probabilities(const Doubles& y) {
  Closeness c = closeness_of(y);
  for (double& value : c.values) value /= c.total;
  return c.values;
}

double kl_divergence(const Doubles& P, const Doubles& Q) {
  double kl = 0;
  for (std::size_t k = 0; k < P.size(); ++k)
    if (P.data()[k] > 0) kl += P.data()[k] * std::log(P.data()[k] / Q.data()[k]);
  return kl;
}

Doubles tsne_gradient(const Doubles& P, const Doubles& y) { return gradient_of(P, y, 1); }

Tsne tsne(const Array& points, const TsneOptions& options) {
  check_points(points, options.distance);
  const std::size_t n = points.shape(0);
  check_options(options, n);
  const Doubles P = tsne_joint_probabilities(
      tsne_conditional_probabilities(tsne_distances(points, options.distance), options.perplexity));
  Tsne result{{}, 0, {"KL(P || Q)", {}, {}}};
  Motion m = start_of(n, options.seed);
  const auto note = [&](std::size_t iteration) {
    result.kl = kl_divergence(P, tsne_embedding_probabilities(m.y));
    result.history.append(static_cast<double>(iteration), result.kl);
  };
  const double rate =
      options.learning_rate > 0 ? options.learning_rate : std::max(static_cast<double>(n) / 4, 5.0);
  for (std::size_t t = 0; t < options.iterations; ++t) {
    if (t % 10 == 0) note(t);
    const bool early = t < options.exaggerated;
    const Doubles gradient = gradient_of(P, m.y, early ? options.early_exaggeration : 1);
    move(m, gradient, rate, t < 250 ? std::min(options.momentum, 0.5) : options.momentum);
    if (options.progress && (t + 1) % 10 == 0) options.progress(t + 1);
  }
  note(options.iterations);
  if (!std::isfinite(result.kl))
    throw_error("tsne: the points flew apart: a learning_rate of ", rate, " is too large");
  result.points = m.y;
  return result;
}

std::size_t nearest(const Doubles& distances, std::size_t i,
                    const std::vector<std::size_t>& among) {
  std::size_t best = i;
  for (const std::size_t j : among)
    if (j != i && (best == i || distances(i, j) < distances(i, best))) best = j;
  return best;
}

}  // namespace heed
