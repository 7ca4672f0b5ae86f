// tsne.hpp: points of many dimensions drawn in two, so that near ones stay near (t-SNE).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/series.hpp"

namespace heed {

using Doubles = xt::xarray<double, xt::layout_type::row_major>;

// How far two points are from each other: 1 - cos of the angle between them, which is half the
// squared distance of the two made as long as 1; or the squared Euclidean distance.
enum class Distance { cosine, euclidean };

struct TsneOptions {
  double perplexity = 30;         // how many neighbours count: 1 to one less than the points
  std::size_t iterations = 1000;  // at least 1
  double learning_rate = 0;       // 0: a quarter of the number of points, at least 5
  double early_exaggeration = 4;  // P times this for the first iterations, which forms clusters
  std::size_t exaggerated = 100;  // so many of them
  double momentum = 0.8;          // in [0, 1); 0.5 at most for the first 250 iterations
  std::uint64_t seed = 0;
  Distance distance = Distance::cosine;
  std::function<void(std::size_t)> progress = {};  // called with how many are done, every tenth
};

struct Tsne {
  Array points;    // (n, 2), their mean in the origin
  double kl;       // KL(P || Q) at the end, in nats: what the picture gets wrong
  Series history;  // the same by iteration: before the first, every tenth, and after the last
};

// t-SNE (van der Maaten and Hinton 2008) of points (n, D), n at least 3, in double, with the exact
// gradient: time and memory grow with n^2. The start is drawn from the seed; the same bits on any
// number of threads. Throws Error for options out of the ranges above, a perplexity that the number
// of points does not allow, values that are not finite, and, with cosine distance, a point in the
// origin, which has no direction.
Tsne tsne(const Array& points, const TsneOptions& options = {});

// Its parts, for n points (shapes are not checked).

// (n, n), zeros on the diagonal.
Doubles tsne_distances(const Array& points, Distance distance);

// P(j | i) in row i: exp(-b_i d_ij) as shares, 0 for j = i. The bandwidth b_i is found by
// bisection: the row's entropy is ln perplexity. (Where more points are nearest to i, all at one
// distance, than the perplexity asks for, they share alike and the entropy stays above.)
Doubles tsne_conditional_probabilities(const Doubles& distances, double perplexity);

// P: (P(j | i) + P(i | j)) / 2n, symmetric, with a sum of 1.
Doubles tsne_joint_probabilities(const Doubles& neighbours);

// Q of the points y (n, 2): 1 / (1 + squared distance), over the sum of them all.
Doubles tsne_embedding_probabilities(const Doubles& y);

// The sum of P ln(P / Q), where a P of 0 counts for nothing.
double kl_divergence(const Doubles& P, const Doubles& Q);

// dKL / dy_i = 4 sum_j (P_ij - Q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2)   (n, 2)
Doubles tsne_gradient(const Doubles& P, const Doubles& y);

// Which of the points `among`, i itself aside, is nearest to i; of several the first.
std::size_t nearest(const Doubles& distances, std::size_t i, const std::vector<std::size_t>& among);

}  // namespace heed
