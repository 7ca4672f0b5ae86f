// tsne.cpp: t-SNE with the exact gradient of KL(P || Q).

#include "heed/study/tsne.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "array/reduce.hpp"
#include "heed/array/parallel.hpp"
#include "heed/array/random.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Calls body(i) for each row i. One thread computes a whole row, so the order of additions does
// not depend on the number of threads. Below about 500 points one thread is faster than several.
template <class Body>
void each_row(std::size_t n, const Body& body) {
  parallel_for(n, 16 * elementwise_grain / (n + 1) + 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

void check_points(const Array& points, Distance distance) {
  const Shape shape = shape_of(points);
  if (shape.size() != 2 || shape[0] < 3 || shape[1] == 0)
    throw_error("tsne: points must be (n, D) with n at least 3 and D at least 1, got ", str(shape));
  for (std::size_t i = 0; i < shape[0]; ++i) {
    const Array point = xt::view(points, i);
    if (!all_finite(point)) throw_error("tsne: point ", i, " has a value that is not finite");
    if (distance == Distance::cosine && point == zeros({shape[1]}))
      throw_error("tsne: point ", i,
                  " is all zeros, so its cosine is undefined; use Euclidean distance");
  }
}

void check_options(const TsneOptions& options, std::size_t n) {
  if (!(options.perplexity >= 1 && options.perplexity <= static_cast<double>(n - 1)))
    throw_error("tsne: perplexity must be 1 to ", n - 1, " for ", n, " points, got ",
                options.perplexity);
  if (options.iterations == 0) throw_error("tsne: iterations must be at least 1, got 0");
  if (!(options.learning_rate >= 0 && std::isfinite(options.learning_rate)))
    throw_error("tsne: learning_rate must be positive, or 0 for the default, got ",
                options.learning_rate);
  if (!(options.early_exaggeration >= 1 && std::isfinite(options.early_exaggeration)))
    throw_error("tsne: early_exaggeration must be at least 1, got ", options.early_exaggeration);
  if (!(options.momentum >= 0 && options.momentum < 1))
    throw_error("tsne: momentum must be in [0, 1), got ", options.momentum);
}

// The points, normalized to length 1 for cosine distance.
Doubles normalized(const Array& points, Distance distance) {
  Doubles x = points;
  if (distance == Distance::euclidean) return x;
  for (std::size_t i = 0; i < x.shape(0); ++i) {
    double *const begin = x.data() + i * x.shape(1), *const end = begin + x.shape(1);
    const auto divide = [&](double divisor) {
      for (double* value = begin; value != end; ++value) *value /= divisor;
    };
    double max_abs = 0, sum = 0;
    for (const double* value = begin; value != end; ++value)
      max_abs = std::max(max_abs, std::abs(*value));
    divide(max_abs);  // the square of a value such as 1e-200 or 1e200 would be 0 or infinite
    for (const double* value = begin; value != end; ++value) sum += *value * *value;
    divide(std::sqrt(sum));
  }
  return x;
}

// The distances from point i to all other points, minus the smallest of these. Element i is 0.
std::vector<double> excess_distances(const double* distances, std::size_t n, std::size_t i) {
  std::vector<double> excess(distances, distances + n);
  excess[i] = infinity;
  const double nearest = *std::min_element(excess.begin(), excess.end());
  excess[i] = nearest;
  for (double& distance : excess) distance -= nearest;
  return excess;
}

// Computes the conditional probabilities p_{j|i} of row i for precision `beta`, and returns the
// entropy of the row. No exponent is above 0, so exp cannot overflow.
double conditional_row(const std::vector<double>& excess, double* p, std::size_t i, double beta) {
  const std::size_t n = excess.size();
  double total = 0, weighted_sum = 0;
  for (std::size_t j = 0; j < n; ++j) {
    p[j] = j == i ? 0 : std::exp(-beta * excess[j]);
    total += p[j];
    if (p[j] > 0) weighted_sum += p[j] * excess[j];
  }
  for (std::size_t j = 0; j < n; ++j) p[j] /= total;
  return std::log(total) + beta * weighted_sum / total;
}

// Finds the precision beta for which row i of p_{j|i} has the target entropy. The entropy falls as
// beta grows, so the loop doubles beta until the entropy is too small, then bisects. The search
// does not depend on the scale of the points, because the initial beta is 1 / (mean distance -
// smallest distance).
void find_beta(const double* d, double* p, std::size_t n, std::size_t i, double target_entropy) {
  const std::vector<double> excess = excess_distances(d, n, i);
  const double total = std::accumulate(excess.begin(), excess.end(), 0.0);
  double beta = total > 0 ? static_cast<double>(n - 1) / total : 1, low = 0, high = infinity;
  for (int step = 0; step < 200; ++step) {
    const double entropy = conditional_row(excess, p, i, beta);
    if (std::abs(entropy - target_entropy) < 1e-12 || (step > 60 && high == infinity)) return;
    (entropy > target_entropy ? low : high) = beta;
    beta = high == infinity ? 2 * beta : (low + high) / 2;
  }
}

struct Similarities {
  Doubles values;  // (n, n): w_ij = 1 / (1 + |y_i - y_j|^2), w_ii = 0
  double total;
};

Similarities similarities_of(const Doubles& y) {
  const std::size_t n = y.shape(0);
  Similarities w{Doubles::from_shape({n, n}), 0};
  std::vector<double> totals(n);
  each_row(n, [&](std::size_t i) {
    const double *const points = y.data(), x0 = points[2 * i], y0 = points[2 * i + 1];
    double* const row = w.values.data() + i * n;
    for (std::size_t j = 0; j < n; ++j) {
      const double dx = x0 - points[2 * j], dy = y0 - points[2 * j + 1];
      row[j] = 1 / (1 + dx * dx + dy * dy);
    }
    row[i] = 0;
    totals[i] = std::accumulate(row, row + n, 0.0);
  });
  w.total = std::accumulate(totals.begin(), totals.end(), 0.0);
  return w;
}

// The gradient of KL(P || Q) with respect to y, with P multiplied by `exaggeration`.
Doubles gradient_of(const Doubles& P, const Doubles& y, double exaggeration) {
  const std::size_t n = y.shape(0);
  const Similarities similarities = similarities_of(y);
  Doubles gradient = Doubles::from_shape({n, 2});
  each_row(n, [&](std::size_t i) {
    const double *const p = P.data() + i * n, *const w = similarities.values.data() + i * n;
    const double* const points = y.data();
    double dx = 0, dy = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double force = (exaggeration * p[j] - w[j] / similarities.total) * w[j];
      dx += force * (points[2 * i] - points[2 * j]);
      dy += force * (points[2 * i + 1] - points[2 * j + 1]);
    }
    gradient(i, 0) = 4 * dx, gradient(i, 1) = 4 * dy;
  });
  return gradient;
}

struct OptimizerState {
  Doubles y, velocity, gains;  // (n, 2) each
};

// A gradient descent step with momentum. A coordinate's gain (learning rate factor, Jacobs 1988)
// grows while the coordinate moves in one direction, and shrinks otherwise. Finally, y is centred.
void update(OptimizerState& state, const Doubles& gradient, double learning_rate, double momentum) {
  for (std::size_t k = 0; k < state.y.size(); ++k) {
    double &gain = state.gains.data()[k], &velocity = state.velocity.data()[k];
    const double g = gradient.data()[k];
    gain = (g > 0) == (velocity > 0) ? std::max(0.8 * gain, 0.01) : gain + 0.2;
    velocity = momentum * velocity - learning_rate * gain * g;
    state.y.data()[k] += velocity;
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::size_t n = state.y.shape(0);
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) mean += state.y(i, axis) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) state.y(i, axis) -= mean;
  }
}

}  // namespace

Doubles tsne_distances(const Array& points, Distance distance) {
  const Doubles x = normalized(points, distance);
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

static void check_embedding(const char* function, const Doubles& y) {
  if (y.dimension() != 2 || y.shape(1) != 2)
    throw_error(function, ": y must be (n, 2), got ", str(shape_of(y)));
}

static void check_square(const char* function, const Doubles& x) {
  if (x.dimension() != 2 || x.shape(0) != x.shape(1))
    throw_error(function, ": the argument must be (n, n), got ", str(shape_of(x)));
}

Doubles tsne_conditional_probabilities(const Doubles& distances, double perplexity) {
  check_square("tsne_conditional_probabilities", distances);
  const std::size_t n = distances.shape(0);
  Doubles p = Doubles::from_shape({n, n});
  each_row(n, [&](std::size_t i) {
    find_beta(distances.data() + i * n, p.data() + i * n, n, i, std::log(perplexity));
  });
  return p;
}

Doubles tsne_joint_probabilities(const Doubles& conditional) {
  check_square("tsne_joint_probabilities", conditional);
  const auto n = static_cast<double>(conditional.shape(0));
  return (conditional + xt::transpose(conditional)) / (2 * n);
}

Doubles tsne_embedding_probabilities(const Doubles& y) {
  check_embedding("tsne_embedding_probabilities", y);
  const Similarities similarities = similarities_of(y);
  return similarities.values / similarities.total;
}

double kl_divergence(const Doubles& P, const Doubles& Q) {
  if (P.shape() != Q.shape())
    throw_error("kl_divergence: P ", str(shape_of(P)), " and Q ", str(shape_of(Q)),
                " must have one shape");
  double kl = 0;
  for (std::size_t k = 0; k < P.size(); ++k)
    if (P.data()[k] > 0) kl += P.data()[k] * std::log(P.data()[k] / Q.data()[k]);
  return kl;
}

Doubles tsne_gradient(const Doubles& P, const Doubles& y) {
  check_embedding("tsne_gradient", y);
  if (shape_of(P) != Shape{y.shape(0), y.shape(0)})
    throw_error("tsne_gradient: P ", str(shape_of(P)), " must be (n, n) for y ", str(shape_of(y)));
  return gradient_of(P, y, 1);
}

Tsne tsne(const Array& points, const TsneOptions& options) {
  check_points(points, options.distance);
  const std::size_t n = points.shape(0);
  check_options(options, n);
  const Doubles P = tsne_joint_probabilities(
      tsne_conditional_probabilities(tsne_distances(points, options.distance), options.perplexity));
  Tsne result{{}, 0, {"KL(P || Q)", {}, {}}};
  // Like scikit-learn, samples the initial y with standard deviation 1e-4, always in float32.
  OptimizerState state{1e-4 * Doubles(Generator(options.seed, Precision::float32).randn({n, 2})),
                       xt::zeros<double>({n, std::size_t{2}}),
                       xt::ones<double>({n, std::size_t{2}})};
  const auto record_kl = [&](std::size_t iteration) {
    result.kl = kl_divergence(P, tsne_embedding_probabilities(state.y));
    result.history.append(static_cast<double>(iteration), result.kl);
  };
  const double learning_rate =
      options.learning_rate > 0 ? options.learning_rate : std::max(static_cast<double>(n) / 4, 5.0);
  for (std::size_t t = 0; t < options.iterations; ++t) {
    if (t % 10 == 0) record_kl(t);
    const bool early = t < options.exaggerated;
    const Doubles gradient = gradient_of(P, state.y, early ? options.early_exaggeration : 1);
    const double momentum = t < 250 ? std::min(options.momentum, 0.5) : options.momentum;
    update(state, gradient, learning_rate, momentum);
    if (options.progress && (t + 1) % 10 == 0) options.progress(t + 1);
  }
  record_kl(options.iterations);
  if (!std::isfinite(result.kl))
    throw_error("tsne: diverged, KL is not finite; learning_rate ", learning_rate, " is too large");
  result.points = state.y;
  return result;
}

std::size_t nearest(const Doubles& distances, std::size_t i,
                    const std::vector<std::size_t>& candidates) {
  check_square("nearest", distances);
  for (const std::size_t j : candidates)
    if (j >= distances.shape(0) || i >= distances.shape(0))
      throw_error("nearest: points ", i, " and ", j, " of ", distances.shape(0),
                  " points; give smaller indices");
  std::size_t best = i;
  for (const std::size_t j : candidates)
    if (j != i && (best == i || distances(i, j) < distances(i, best))) best = j;
  return best;
}

}  // namespace HEED_NAMESPACE
