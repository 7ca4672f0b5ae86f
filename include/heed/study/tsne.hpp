// tsne.hpp: t-SNE, an embedding of points in two dimensions in which neighbours stay close.
#pragma once

#include <functional>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/draw/series.hpp"

namespace HEED_NAMESPACE {

using Doubles = xt::xarray<double, xt::layout_type::row_major>;  // double even if Real is float

// The distance of two points. cosine: 1 - cosine similarity, which is half the squared Euclidean
// distance of the points normalized to length 1. euclidean: the squared Euclidean distance.
enum class Distance { cosine, euclidean };

// Options of tsne().
struct TsneOptions {
  double perplexity = 30;         // effective number of neighbours: 1 to n - 1
  std::size_t iterations = 1000;  // number of iterations, at least 1
  double learning_rate = 0;       // learning rate; 0 selects max(n / 4, 5) for n points
  double early_exaggeration = 4;  // factor of P in the first iterations; helps clusters to form
  std::size_t exaggerated = 100;  // number of iterations with early exaggeration
  double momentum = 0.8;          // momentum in [0, 1); at most 0.5 for the first 250 iterations
  std::uint64_t seed = 0;         // determines the initial embedding
  Distance distance = Distance::cosine;            // how distances are computed
  std::function<void(std::size_t)> progress = {};  // called with the iteration count, 10, 20, ...
};

// The result of tsne().
struct Tsne {
  Array points;    // (n, 2): the embedding; its mean is the origin
  double kl;       // KL(P || Q) after the last iteration, in nats: the error of the embedding
  Series history;  // KL(P || Q) after 0, 10, 20, ... iterations and at the end
};

// t-SNE (van der Maaten and Hinton 2008) of points (n, D), n at least 3, in double precision, with
// the exact gradient: time and memory are O(n^2). The seed determines the initial embedding. The
// result is bit-identical for any number of threads. Throws Error for options outside the ranges
// in TsneOptions, values that are not finite, and, with cosine distance, a point at the origin.
Tsne tsne(const Array& points, const TsneOptions& options = {});

// The following functions are the steps of t-SNE for n points; they do not check shapes.

// The pairwise distances (n, n) of the points, with zeros on the diagonal.
Doubles tsne_distances(const Array& points, Distance distance);

// The conditional probabilities p_{j|i}, in row i: the softmax over j != i of -beta_i d_ij, and 0
// for j = i. Bisection finds beta_i = 1 / (2 sigma_i^2) so that the entropy of row i is
// ln perplexity. (If the number of points tied for nearest to i exceeds the perplexity, these
// points get equal probabilities and the entropy stays above ln perplexity.)
Doubles tsne_conditional_probabilities(const Doubles& distances, double perplexity);

// The joint probabilities P: p_ij = (p_{j|i} + p_{i|j}) / 2n. P is symmetric and sums to 1.
Doubles tsne_joint_probabilities(const Doubles& conditional);

// Q, the joint probabilities of the embedding y (n, 2): q_ij = w_ij / sum_kl w_kl, where
// w_ij = 1 / (1 + |y_i - y_j|^2) for i != j, and 0 for i = j.
Doubles tsne_embedding_probabilities(const Doubles& y);

// KL(P || Q) = sum_ij p_ij ln(p_ij / q_ij) in nats, where a term with p_ij = 0 is 0.
double kl_divergence(const Doubles& P, const Doubles& Q);

// The gradient (n, 2): dKL / dy_i = 4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2).
Doubles tsne_gradient(const Doubles& P, const Doubles& y);

// The index among `candidates`, other than i, of the point nearest to point i; on a tie, the first.
std::size_t nearest(const Doubles& distances, std::size_t i,
                    const std::vector<std::size_t>& candidates);

}  // namespace HEED_NAMESPACE
