// random.cpp: how PyTorch makes numbers of a Mersenne Twister's bits on a CPU.

#include "heed/array/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr std::size_t largest_permutation = 0xffffffff;  // one 32-bit draw chooses a place

void check_probability(std::string_view function, double p) {
  if (!(p >= 0 && p <= 1)) throw_error(function, ": p is ", p, "; give a probability from 0 to 1");
}

template <class Pointer>
using Pointed = std::remove_pointer_t<Pointer>;

// An array whose numbers fill(first, n) makes as floats or as doubles, whichever the precision.
template <class Fill>
Array made(Precision precision, const Shape& shape, const Fill& fill) {
  Array x = uninitialized(shape);
  if (precision == own_precision) return fill(x.data(), x.size()), x;
  using Other = std::conditional_t<std::is_same_v<Real, float>, double, float>;
  std::vector<Other> numbers(x.size());
  fill(numbers.data(), numbers.size());
  std::transform(numbers.begin(), numbers.end(), x.data(),
                 [](Other number) { return static_cast<Real>(number); });
  return x;
}

// Box and Muller's normals (see one_normal) of 16 uniforms: x[0..7] give the radii, x[8..15] the
// angles.
template <class T>
void make_normals_16(T* x, T mean, T std) {
  for (std::size_t j = 0; j < 8; ++j) {
    const T radius = std::sqrt(-2 * std::log(1 - x[j]));
    const T angle = static_cast<T>(2 * pi) * x[j + 8];
    x[j] = std::fma(radius * std::cos(angle), std, mean);
    x[j + 8] = std::fma(radius * std::sin(angle), std, mean);
  }
}

// Uniforms fill the array and become normals in blocks of 16; an incomplete last block is replaced
// by 16 new draws that end where the array ends, writing over normals made already.
template <class T>
void fill_normals(MersenneTwister& bits, T* x, std::size_t n, T mean, T std) {
  const auto uniform = [&] { return bits.uniform<T>(); };
  std::generate_n(x, n, uniform);
  for (std::size_t i = 0; i + 16 <= n; i += 16) make_normals_16(x + i, mean, std);
  if (n % 16 == 0) return;
  std::generate_n(x + n - 16, 16, uniform);
  make_normals_16(x + n - 16, mean, std);
}

}  // namespace

Generator::Generator(std::uint64_t seed, Precision precision)
    : bits_(static_cast<std::uint32_t>(seed)), precision_(precision) {}

Array Generator::rand(const Shape& shape) {
  return made(precision_, shape, [this](auto* x, std::size_t n) {
    std::generate_n(x, n, [this] { return bits_.uniform<Pointed<decltype(x)>>(); });
  });
}

// PyTorch's build contracts unit * (high - low) + low to one rounding; without the fma half of
// the floats would be an ulp off.
Array Generator::uniform(const Shape& shape, double low, double high) {
  return made(precision_, shape, [&](auto* x, std::size_t n) {
    using T = Pointed<decltype(x)>;
    const T from = static_cast<T>(low);
    const T range = static_cast<T>(high) - from;
    if (!(low <= high && std::isfinite(range)))
      throw_error("uniform: low is ", low, " and high is ", high,
                  "; give finite numbers, low <= high");
    std::generate_n(x, n, [&] { return std::fma(bits_.uniform<T>(), range, from); });
  });
}

Array Generator::randn(const Shape& shape) { return normal(shape, 0, 1); }

// Box and Muller, "A note on the generation of random normal deviates" (1958).
double Generator::one_normal() {
  if (has_cached_normal_) {
    has_cached_normal_ = false;
    return cached_normal_;
  }
  const double turn = bits_.uniform<double>();
  const double radius = std::sqrt(-2 * std::log1p(-bits_.uniform<double>()));
  cached_normal_ = radius * std::sin(2 * pi * turn);
  has_cached_normal_ = true;
  return radius * std::cos(2 * pi * turn);
}

// PyTorch has two ways: fewer than 16 are made one by one, always in double.
Array Generator::normal(const Shape& shape, double mean, double std) {
  if (!(std::isfinite(mean) && std::isfinite(std) && std >= 0))
    throw_error("normal: mean is ", mean, " and std is ", std, "; give finite numbers, std >= 0");
  return made(precision_, shape, [&](auto* x, std::size_t n) {
    using T = Pointed<decltype(x)>;
    if (n >= 16) return fill_normals(bits_, x, n, static_cast<T>(mean), static_cast<T>(std));
    const auto one = [&] { return static_cast<T>(std::fma(one_normal(), std, mean)); };
    std::generate_n(x, n, one);
  });
}

// The remainder favours small numbers, by less than range / 2^32 (or 2^64): PyTorch's choice.
Indices Generator::randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  if (low >= high)
    throw_error("randint: low is ", low, " and high is ", high, "; high must be above low");
  const std::uint64_t base = static_cast<std::uint64_t>(low);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - base;
  const bool wide = range >> 32 != 0;
  Indices n = Indices::from_shape(shape);
  std::generate_n(n.data(), n.size(), [&] {
    return static_cast<std::int64_t>((wide ? bits_.random64() : bits_.random()) % range + base);
  });
  return n;
}

// Fisher and Yates's shuffle, from the front.
Indices Generator::randperm(std::size_t n) {
  if (n > largest_permutation)
    throw_error("randperm: n is ", n, "; give at most ", largest_permutation);
  Indices order = Indices::from_shape({n});
  std::iota(order.data(), order.data() + n, std::int64_t{0});
  for (std::size_t i = 0; i + 1 < n; ++i)
    std::swap(order.data()[i], order.data()[i + bits_.random() % (n - i)]);
  return order;
}

Array Generator::bernoulli(const Shape& shape, double p) {
  check_probability("bernoulli", p);
  Array x = uninitialized(shape);
  std::generate_n(x.data(), x.size(),
                  [&] { return bits_.uniform<double>() < p ? Real{1} : Real{0}; });
  return x;
}

Array Generator::dropout_mask(const Shape& shape, double p) {
  check_probability("dropout_mask", p);
  if (p == 0) return ones(shape);
  if (p == 1) return zeros(shape);
  return made(precision_, shape, [&](auto* x, std::size_t n) {
    using T = Pointed<decltype(x)>;
    const T kept = 1 / static_cast<T>(1 - p);
    std::generate_n(x, n, [&] { return bits_.uniform<double>() < 1 - p ? kept : T{0}; });
  });
}

// He et al., "Delving deep into rectifiers" (2015), eq. 10, with the slope a = sqrt(5) that makes
// the bound 1 / sqrt(in): written as PyTorch computes it, so that the rounding is the same
// (volatile keeps a compiler that may reassociate from cancelling sqrt(3) against the gain).
Array Generator::linear_weight(std::size_t in_features, std::size_t out_features) {
  if (in_features == 0) return uninitialized({out_features, in_features});
  const double gain = std::sqrt(2.0 / (1 + std::pow(std::sqrt(5.0), 2)));
  const volatile double std = gain / std::sqrt(static_cast<double>(in_features));
  const double bound = std::sqrt(3.0) * std;
  return uniform({out_features, in_features}, -bound, bound);
}

Array Generator::linear_bias(std::size_t in_features, std::size_t out_features) {
  const double bound = in_features == 0 ? 0 : 1 / std::sqrt(static_cast<double>(in_features));
  return uniform({out_features}, -bound, bound);
}

}  // namespace heed
