// random.hpp: the very numbers of torch.manual_seed, from an explicit generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heed/array/array.hpp"
#include "heed/array/mersenne_twister.hpp"

namespace heed {

// The type that numbers are made in: PyTorch's dtype.
enum class Precision { float32, float64 };

// That of the arrays: float32 in heed, float64 in heed_double.
inline constexpr Precision own_precision =
    sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64;

// Draws numbers in PyTorch's order (CPU, 1.13): after Generator g(42), g.randn({3, 5}) is what
// torch.manual_seed(42); torch.randn(3, 5) gives. Equal bit for bit, except normals drawn 16 or
// more at a time, whose logarithm and cosine differ by at most 2.1e-6 from PyTorch's vectorised
// ones (those of float64 by an ulp or two). Only the low 32 bits of the seed count, as in PyTorch.
//
// heed_double draws what PyTorch draws with dtype=torch.float64, which takes more random bits. To
// start a model from the same weights in both builds, so that whole training runs can be compared,
// give heed_double a Generator(seed, Precision::float32): its numbers are those of heed, to the
// last bit. (Numbers of float64 that heed asks for are rounded to float.)
//
// Arrays are filled in row-major order by one thread. Normals drawn fewer than 16 at a time come
// in pairs: of an odd number the last one's partner waits, across any other calls, for the next
// such draw, so that randn({3}) then randn({2}) gives five consecutive values.
//
// Every function throws Error when an argument is out of the range given here; nothing is drawn.
class Generator {
 public:
  explicit Generator(std::uint64_t seed, Precision precision = own_precision);

  Array rand(const Shape& shape);                              // uniform in [0, 1)
  Array uniform(const Shape& shape, double low, double high);  // finite, low <= high
  Array randn(const Shape& shape);                             // mean 0, standard deviation 1
  Array normal(const Shape& shape, double mean, double std);   // finite, std >= 0
  Indices randint(std::int64_t low, std::int64_t high, const Shape& shape);  // low <= n < high
  Indices randperm(std::size_t n);                // (n), each of 0..n-1 once
  Array bernoulli(const Shape& shape, double p);  // 1 with probability p, else 0

  // What F.dropout multiplies by: 0 with probability p, else 1 / (1 - p). p = 0 and p = 1 draw
  // nothing.
  Array dropout_mask(const Shape& shape, double p);

  // Indices drawn with the given weights (finite, non-negative, need not sum to one), one row of
  // draws a row of weights: (V) -> (count), (N, V) -> (N, count), count >= 1. Without replacement
  // a row gives `count` different indices and must have as many weights above zero.
  Indices multinomial(const Array& weights, std::size_t count, bool replacement = false);

  // What nn.Linear(in, out) starts with; draw the weight first, then the bias.
  Array linear_weight(std::size_t in_features, std::size_t out_features);  // (out, in)
  Array linear_bias(std::size_t in_features, std::size_t out_features);    // (out)

  // Everything needed to go on exactly here, as one line of printable text (some 6.5 kB), the same
  // on every platform and in both builds; the precision, which is the constructor's, is not in it.
  // set_state throws Error, and changes nothing, on text that state() did not write.
  std::string state() const;
  void set_state(const std::string& text);

 private:
  double one_normal();  // one of two normals; the other is kept for the next call

  MersenneTwister bits_;
  Precision precision_;
  double cached_normal_ = 0;
  bool has_cached_normal_ = false;
};

}  // namespace heed
