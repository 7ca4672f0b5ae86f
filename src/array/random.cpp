// random.cpp: random numbers (uniform, normal, integers) and permutations by PyTorch's algorithms,
// and the state of a Generator as text.

#include "heed/array/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <locale>
#include <numeric>
#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/array/parallel.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

constexpr double pi = 3.14159265358979323846;
constexpr std::size_t max_permutation = 0xffffffff;  // randperm draws 32 random bits per position

// Returns an array that fill(data, n) fills; data is float* for Precision::float32, else double*.
template <class Fill>
static Array generate(Precision precision, const Shape& shape, const Fill& fill) {
  Array x = uninitialized(shape);
  if (precision == own_precision) return fill(x.data(), x.size()), x;
  using Other = std::conditional_t<std::is_same_v<Real, float>, double, float>;
  std::vector<Other> numbers(x.size());
  fill(numbers.data(), numbers.size());
  std::transform(numbers.begin(), numbers.end(), x.data(),
                 [](Other number) { return static_cast<Real>(number); });
  return x;
}

// Replaces 16 uniform samples by normal samples (Box-Muller, see one_normal): x[0..7] give the
// radii, x[8..15] the angles.
template <class T>
static void make_normals_16(T* x, T mean, T std) {
  for (std::size_t j = 0; j < 8; ++j) {
    const T radius = std::sqrt(-2 * std::log(1 - x[j]));
    const T angle = static_cast<T>(2 * pi) * x[j + 8];
    x[j] = std::fma(radius * std::cos(angle), std, mean);
    x[j + 8] = std::fma(radius * std::sin(angle), std, mean);
  }
}

// Fills the array with uniform samples and transforms them to normal samples in blocks of 16. If n
// is not a multiple of 16, the last 16 elements are sampled again, as in PyTorch.
template <class T>
static void fill_normals(MersenneTwister& bits, T* x, std::size_t n, T mean, T std) {
  const auto uniform = [&] { return bits.uniform<T>(); };
  std::generate_n(x, n, uniform);
  parallel_for(n / 16, 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) make_normals_16(x + 16 * i, mean, std);
  });
  if (n % 16 == 0) return;
  std::generate_n(x + n - 16, 16, uniform);
  make_normals_16(x + n - 16, mean, std);
}

// The bits of `from` as another type (std::bit_cast of C++20).
template <class To, class From>
static To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

Generator::Generator(std::uint64_t seed, Precision precision)
    : bits_(static_cast<std::uint32_t>(seed)), precision_(precision) {}

// A uniform float uses one 32-bit random number, a uniform double uses two.
void Generator::skip_uniform(std::size_t n) {
  const std::size_t draws = precision_ == Precision::float32 ? n : 2 * n;
  for (std::size_t i = 0; i < draws; ++i) bits_.random();
}

// A call for n >= 16 normal samples draws n uniform samples, and 16 more unless 16 divides n.
void Generator::skip_normal(std::size_t n) {
  if (n >= 16) return skip_uniform(n + (n % 16 == 0 ? 0 : 16));
  for (std::size_t i = 0; i < n; ++i) one_normal();
}

Array Generator::rand(const Shape& shape, SourceLocation location) {
  const CallSite site(location);
  return generate(precision_, shape, [this](auto* x, std::size_t n) {
    using T = std::remove_pointer_t<decltype(x)>;
    std::generate_n(x, n, [this] { return bits_.uniform<T>(); });
  });
}

// PyTorch's build computes u * (high - low) + low, where u is a uniform sample from [0, 1), with a
// fused multiply-add. Without std::fma, half of the floats would differ from PyTorch's by one ulp.
Array Generator::uniform(const Shape& shape, double low, double high, SourceLocation location) {
  const CallSite site(location);
  return generate(precision_, shape, [&](auto* x, std::size_t n) {
    using T = std::remove_pointer_t<decltype(x)>;
    const T start = static_cast<T>(low);
    const T range = static_cast<T>(high) - start;
    if (low < high && std::isfinite(low) && std::isfinite(high) && !std::isfinite(range))
      throw_error("uniform: low is ", low, " and high is ", high,
                  ", whose difference is too large; give numbers nearer to each other");
    if (!(low <= high && std::isfinite(range)))
      throw_error("uniform: low is ", low, " and high is ", high,
                  "; give finite numbers, low <= high");
    std::generate_n(x, n, [&] { return std::fma(bits_.uniform<T>(), range, start); });
  });
}

Array Generator::randn(const Shape& shape, SourceLocation location) {
  return normal(shape, 0, 1, location);
}

// The method of Box and Muller 1958, "A note on the generation of random normal deviates".
double Generator::one_normal() {
  if (has_cached_normal_) {
    has_cached_normal_ = false;
    return cached_normal_;
  }
  const double angle = 2 * pi * bits_.uniform<double>();
  const double radius = std::sqrt(-2 * std::log1p(-bits_.uniform<double>()));
  cached_normal_ = radius * std::sin(angle);
  has_cached_normal_ = true;
  return radius * std::cos(angle);
}

// As in PyTorch, fewer than 16 normal samples are generated one by one, always in double.
Array Generator::normal(const Shape& shape, double mean, double std, SourceLocation location) {
  const CallSite site(location);
  if (!(std::isfinite(mean) && std::isfinite(std) && std >= 0))
    throw_error("normal: mean is ", mean, " and std is ", std, "; give finite numbers, std >= 0");
  return generate(precision_, shape, [&](auto* x, std::size_t n) {
    using T = std::remove_pointer_t<decltype(x)>;
    if (n >= 16) return fill_normals(bits_, x, n, static_cast<T>(mean), static_cast<T>(std));
    std::generate_n(x, n, [&] { return static_cast<T>(std::fma(one_normal(), std, mean)); });
  });
}

// As in PyTorch, the modulo operation makes small numbers more likely: their probabilities are too
// large by a factor below 1 + range / 2^32 (for 64-bit random numbers, 1 + range / 2^64).
Indices Generator::randint(std::int64_t low, std::int64_t high, const Shape& shape,
                           SourceLocation location) {
  const CallSite site(location);
  if (low >= high)
    throw_error("randint: low is ", low, " and high is ", high, "; high must be above low");
  const std::uint64_t base = static_cast<std::uint64_t>(low);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - base;
  const bool wide = range >> 32 != 0;
  numel(shape);  // throws if the number of elements overflows
  Indices n = Indices::from_shape(shape);
  std::generate_n(n.data(), n.size(), [&] {
    return static_cast<std::int64_t>((wide ? bits_.random64() : bits_.random()) % range + base);
  });
  return n;
}

// The Fisher-Yates shuffle, starting at the first element.
Indices Generator::randperm(std::size_t n, SourceLocation location) {
  const CallSite site(location);
  if (n > max_permutation) throw_error("randperm: n is ", n, "; give 0 to ", max_permutation);
  Indices order = Indices::from_shape({n});
  std::iota(order.data(), order.data() + n, std::int64_t{0});
  for (std::size_t i = 0; i + 1 < n; ++i)
    std::swap(order.data()[i], order.data()[i + bits_.random() % (n - i)]);
  return order;
}

Array Generator::bernoulli(const Shape& shape, double p, SourceLocation location) {
  const CallSite site(location);
  if (!(p >= 0 && p <= 1)) throw_error("bernoulli: p is ", p, "; give a probability from 0 to 1");
  Array x = uninitialized(shape);
  std::generate_n(x.data(), x.size(),
                  [&] { return bits_.uniform<double>() < p ? Real{1} : Real{0}; });
  return x;
}

// Writes "mt19937", the index of the next state word, the 624 state words, and the bits of a cached
// normal sample.
std::string Generator::state() const {
  std::string text = "mt19937 " + std::to_string(bits_.next);
  for (const std::uint32_t word : bits_.words) text += " " + std::to_string(word);
  if (has_cached_normal_) text += " " + std::to_string(bit_cast<std::uint64_t>(cached_normal_));
  return text;
}

// Writes the parsed generator back to text and requires that the result equals `text`. This rejects
// missing or extra characters, numbers out of range and other number formats.
void Generator::set_state(const std::string& text, SourceLocation location) {
  const CallSite site(location);
  Generator parsed(0, precision_);
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  std::string tag;
  in >> tag >> parsed.bits_.next;
  for (std::uint32_t& word : parsed.bits_.words) in >> word;
  std::uint64_t cached = 0;
  parsed.has_cached_normal_ = static_cast<bool>(in >> cached);
  if (parsed.has_cached_normal_) parsed.cached_normal_ = bit_cast<double>(cached);
  // From words that are 0, the algorithm computes only zeros. It reads one bit of the first word.
  const auto& words = parsed.bits_.words;
  const bool all_zero =
      words[0] >> 31 == 0 &&
      std::all_of(words.begin() + 1, words.end(), [](std::uint32_t word) { return word == 0; });
  if (parsed.bits_.next > parsed.bits_.words.size() || !std::isfinite(parsed.cached_normal_) ||
      all_zero || parsed.state() != text)
    throw_error("set_state: not a generator's state (", text.size(),
                " characters); give the text that state() wrote");
  *this = parsed;
}

}  // namespace HEED_NAMESPACE
