// random.hpp: Generator, a random number generator that gives the same numbers as PyTorch on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heed/array/array.hpp"
#include "heed/array/mersenne_twister.hpp"
#include "heed/base/bool.hpp"
#include "heed/base/source_location.hpp"

namespace HEED_NAMESPACE {

// The floating-point type in which numbers are drawn, like PyTorch's dtype.
enum class Precision { float32, float64 };

// The precision of Real: float32 in the library heed, float64 in the library heed_double.
inline constexpr Precision own_precision =
    sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64;

// Draws the same numbers as PyTorch 1.13 on a CPU: Generator(42).randn({3, 5}) equals
// torch.manual_seed(42); torch.randn(3, 5). The numbers are bit-identical to PyTorch's, except that
// normal samples drawn 16 or more at a time differ by at most 2.1e-6 (float64: by 2 ulp), because
// PyTorch uses vectorised functions. As in PyTorch, only the low 32 bits of the seed are used.
//
// heed_double draws the same numbers as PyTorch with dtype=torch.float64. A float64 number uses
// more random bits than a float32 number. Generator(seed, Precision::float32) draws the same
// numbers in heed and heed_double, so that a model starts from equal weights in both libraries.
// (heed rounds numbers of Precision::float64 to float.)
//
// Arrays are filled in row-major order by one thread. A call for fewer than 16 normal samples
// generates them in pairs. If the number of samples is odd, the second sample of the last pair is
// kept as the first sample of the next call for fewer than 16 normal samples: randn({3}), then
// randn({2}) gives five consecutive samples.
//
// Each function throws Error and draws nothing if an argument is outside its documented range.
class Generator {
 public:
  // Two generators with the same seed and precision draw the same numbers.
  explicit Generator(std::uint64_t seed, Precision precision = own_precision);

  Precision precision() const { return precision_; }  // the type in which numbers are drawn

  // Discard n numbers, as if one call of rand (skip_uniform) or randn (skip_normal) had drawn them.
  void skip_uniform(std::size_t n);
  void skip_normal(std::size_t n);

  // rand() draws uniform samples from [0, 1), uniform() from [low, high) with finite low <= high.
  Array rand(const Shape& shape, SourceLocation location = SourceLocation::current());
  Array uniform(const Shape& shape, double low, double high,
                SourceLocation location = SourceLocation::current());
  // randn() draws normal samples with mean 0 and standard deviation 1, normal() normal samples with
  // a finite mean and a finite standard deviation std >= 0.
  Array randn(const Shape& shape, SourceLocation location = SourceLocation::current());
  Array normal(const Shape& shape, double mean, double std,
               SourceLocation location = SourceLocation::current());
  // Draws integers from [low, high).
  Indices randint(std::int64_t low, std::int64_t high, const Shape& shape,
                  SourceLocation location = SourceLocation::current());
  // Returns the numbers 0 to n - 1 in random order, as an array (n).
  Indices randperm(std::size_t n, SourceLocation location = SourceLocation::current());
  // Returns an array whose elements are 1 with probability p, else 0.
  Array bernoulli(const Shape& shape, double p,
                  SourceLocation location = SourceLocation::current());

  // Draws `count` >= 1 indices per row of weights: (V) -> (count), (N, V) -> (N, count). The
  // weights must be finite and not negative, but need not sum to one. Without replacement, the
  // indices of a row are distinct, and the row must have at least `count` weights above zero.
  Indices multinomial(const Array& weights, std::size_t count, Bool replacement = false,
                      SourceLocation location = SourceLocation::current());

  // state() returns the generator's state as one line of printable text (about 6.5 kB), and
  // set_state restores it. The text does not contain precision(), so it is the same on every
  // platform and in heed and heed_double. set_state throws Error and changes nothing if `text` was
  // not returned by state().
  std::string state() const;
  void set_state(const std::string& text, SourceLocation location = SourceLocation::current());

 private:
  double one_normal();  // generates two normal samples, returns one and caches the other

  MersenneTwister bits_;
  Precision precision_;
  double cached_normal_ = 0;
  bool has_cached_normal_ = false;
};

}  // namespace HEED_NAMESPACE
