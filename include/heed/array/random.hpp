// random.hpp: Generator, a random number generator that gives the same numbers as PyTorch on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heed/array/array.hpp"
#include "heed/array/mersenne_twister.hpp"

namespace HEED_NAMESPACE {

// The floating-point type in which numbers are drawn: PyTorch's dtype.
enum class Precision { float32, float64 };

// The precision of Real: float32 in heed, float64 in heed_double.
inline constexpr Precision own_precision =
    sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64;

// Draws the same numbers as PyTorch 1.13 on a CPU: Generator(42).randn({3, 5}) equals
// torch.manual_seed(42); torch.randn(3, 5). They are equal bit for bit, except normals drawn 16 or
// more at a time, which differ by at most 2.1e-6 (float64: by 2 ulp) because PyTorch computes them
// with vectorised logarithms and cosines. As in PyTorch, only the low 32 bits of the seed are used.
//
// heed_double draws PyTorch's numbers of dtype=torch.float64, which use more random bits. A
// Generator(seed, Precision::float32) draws the same numbers in heed_double as in heed, so that a
// model can start from the same weights. (heed rounds numbers of Precision::float64 to float.)
//
// Arrays are filled in row-major order by one thread. Fewer than 16 normals are generated in pairs.
// If their number is odd, the second normal of the last pair is cached for the next such call,
// whatever is called in between: randn({3}), then randn({2}) gives five consecutive values.
//
// If an argument is outside the range given here, the function throws Error and draws nothing.
class Generator {
 public:
  explicit Generator(std::uint64_t seed, Precision precision = own_precision);

  Precision precision() const { return precision_; }

  // Discard n numbers, as if one call of rand (skip_uniform) or randn (skip_normal) drew them.
  void skip_uniform(std::size_t n);
  void skip_normal(std::size_t n);

  Array rand(const Shape& shape);                              // uniform in [0, 1)
  Array uniform(const Shape& shape, double low, double high);  // finite, low <= high
  Array randn(const Shape& shape);                             // mean 0, standard deviation 1
  Array normal(const Shape& shape, double mean, double std);   // finite, std >= 0
  Indices randint(std::int64_t low, std::int64_t high, const Shape& shape);  // low <= n < high
  Indices randperm(std::size_t n);                // (n): 0 to n - 1 in random order
  Array bernoulli(const Shape& shape, double p);  // 1 with probability p, else 0

  // Draws `count` >= 1 indices per row of weights: (V) -> (count), (N, V) -> (N, count). Weights
  // are finite and not negative and need not sum to one. Without replacement the indices of a row
  // are different, and the row must have at least `count` weights above zero.
  Indices multinomial(const Array& weights, std::size_t count, bool replacement = false);

  // The complete state as one line of printable text (about 6.5 kB), the same on every platform and
  // in both builds. The text does not contain the precision. If state() did not write the text,
  // set_state throws Error and changes nothing.
  std::string state() const;
  void set_state(const std::string& text);

 private:
  double one_normal();  // generates two normals, returns one and caches the other for the next call

  MersenneTwister bits_;
  Precision precision_;
  double cached_normal_ = 0;
  bool has_cached_normal_ = false;
};

}  // namespace HEED_NAMESPACE
