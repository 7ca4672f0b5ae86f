// random.cpp: a Mersenne Twister, and how PyTorch makes numbers of its bits on a CPU.

#include "heed/array/random.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/array/error.hpp"
#include "heed/array/shape.hpp"

namespace heed {
namespace {

constexpr double pi = 3.14159265358979323846;

void check_probability(std::string_view function, double p) {
  if (!(p >= 0 && p <= 1)) refuse(function, ": p is ", p, "; give a probability from 0 to 1");
}

// The rows that multinomial draws from: one of rank 1, N of rank 2.
std::size_t checked_rows(const Array& weights) {
  const std::size_t rank = weights.dimension();
  if (rank != 1 && rank != 2)
    refuse("multinomial: weights ", str(shape_of(weights)), " have rank ", rank,
           "; give (V) or (N, V)");
  return rank == 1 ? 1 : weights.shape(0);
}

// Each weight finite and not negative, their sum finite and above zero, enough of them positive.
void check_weights(const Real* weights, std::size_t size, std::size_t row, std::size_t needed) {
  Real sum = 0;
  std::size_t positive = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!(std::isfinite(weights[i]) && weights[i] >= 0))
      refuse("multinomial: weight ", i, " of row ", row, " is ", weights[i],
             "; weights must be finite and not negative");
    sum += weights[i];
    if (weights[i] > 0) ++positive;
  }
  if (positive == 0)
    refuse("multinomial: row ", row, " has no weight above zero; give at least one");
  if (!std::isfinite(sum))
    refuse("multinomial: the weights of row ", row, " sum to ", sum, "; scale them down");
  if (positive < needed)
    refuse("multinomial: ", needed, " draws without replacement, but row ", row, " has ", positive,
           " weights above zero; draw fewer or with replacement");
}

constexpr std::size_t largest_permutation = 0xffffffff;  // one 32-bit draw chooses a place

// Reads one space-separated token of `text` as a whole number and removes it.
template <class Integer>
bool take_number(std::string_view& text, Integer& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || (stop != end && *stop != ' ')) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + (stop != end ? 1 : 0));
  return true;
}

std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

double from_bits(std::uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr std::string_view state_tag = "mt19937 ";

}  // namespace

// The engine: M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998); the seeding
// is their init_genrand of 2002.

Generator::Generator(std::uint64_t seed) {
  words_[0] = static_cast<std::uint32_t>(seed);
  for (std::uint32_t i = 1; i < 624; ++i)
    words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
}

void Generator::twist() {
  const auto renew = [this](std::size_t i, std::size_t after, std::size_t far) {
    const std::uint32_t joined = (words_[i] & 0x80000000u) | (words_[after] & 0x7fffffffu);
    words_[i] = words_[far] ^ (joined >> 1) ^ (joined % 2 * 0x9908b0dfu);
  };
  for (std::size_t i = 0; i < 227; ++i) renew(i, i + 1, i + 397);
  for (std::size_t i = 227; i < 623; ++i) renew(i, i + 1, i - 227);
  renew(623, 0, 396);
  next_ = 0;
}

std::uint32_t Generator::random() {
  if (next_ == words_.size()) twist();
  std::uint32_t x = words_[next_++];
  x ^= x >> 11;
  x ^= (x << 7) & 0x9d2c5680u;
  x ^= (x << 15) & 0xefc60000u;
  return x ^ (x >> 18);
}

std::uint64_t Generator::random64() {
  const std::uint64_t high = random();
  return (high << 32) | random();
}

double Generator::uniform53() {
  return static_cast<double>(random64() & ((std::uint64_t{1} << 53) - 1)) * 0x1p-53;
}

float Generator::uniform24() { return static_cast<float>(random() & 0xffffff) * 0x1p-24f; }

Real Generator::unit() {
#ifdef HEED_DOUBLE
  return uniform53();
#else
  return uniform24();
#endif
}

Array Generator::rand(const Shape& shape) {
  Array x = uninitialized(shape);
  std::generate_n(x.data(), x.size(), [this] { return unit(); });
  return x;
}

// PyTorch's build contracts unit * (high - low) + low to one rounding; without the fma half of
// the floats would be an ulp off.
Array Generator::uniform(const Shape& shape, double low, double high) {
  const Real from = static_cast<Real>(low);
  const Real range = static_cast<Real>(high) - from;
  if (!(low <= high && std::isfinite(range)))
    refuse("uniform: low is ", low, " and high is ", high, "; give finite numbers, low <= high");
  Array x = uninitialized(shape);
  std::generate_n(x.data(), x.size(), [&] { return std::fma(unit(), range, from); });
  return x;
}

Array Generator::randn(const Shape& shape) { return normal(shape, 0, 1); }

// Box and Muller, "A note on the generation of random normal deviates" (1958).
double Generator::one_normal() {
  if (has_cached_normal_) {
    has_cached_normal_ = false;
    return cached_normal_;
  }
  const double turn = uniform53();
  const double radius = std::sqrt(-2 * std::log1p(-uniform53()));
  cached_normal_ = radius * std::sin(2 * pi * turn);
  has_cached_normal_ = true;
  return radius * std::cos(2 * pi * turn);
}

// The same on a block: x[0..7] give the radii, x[8..15] the angles.
void Generator::fill_normals_16(Real* x, Real mean, Real std) {
  for (std::size_t j = 0; j < 8; ++j) {
    const Real radius = std::sqrt(-2 * std::log(1 - x[j]));
    const Real angle = static_cast<Real>(2 * pi) * x[j + 8];
    x[j] = std::fma(radius * std::cos(angle), std, mean);
    x[j + 8] = std::fma(radius * std::sin(angle), std, mean);
  }
}

// PyTorch has two ways. Fewer than 16 are made one by one. Of 16 or more, uniforms fill the array
// and become normals in blocks of 16; an incomplete last block is replaced by 16 new draws that
// end where the array ends, writing over normals made already.
Array Generator::normal(const Shape& shape, double mean, double std) {
  if (!(std::isfinite(mean) && std::isfinite(std) && std >= 0))
    refuse("normal: mean is ", mean, " and std is ", std, "; give finite numbers, std >= 0");
  const auto one = [&] { return static_cast<Real>(std::fma(one_normal(), std, mean)); };
  const auto block = [&](Real* x) {
    fill_normals_16(x, static_cast<Real>(mean), static_cast<Real>(std));
  };
  if (numel(shape) < 16) {
    Array few = uninitialized(shape);
    std::generate_n(few.data(), few.size(), one);
    return few;
  }
  Array x = rand(shape);
  for (std::size_t i = 0; i + 16 <= x.size(); i += 16) block(x.data() + i);
  if (x.size() % 16 != 0) {
    Real* const last = x.data() + x.size() - 16;
    std::generate_n(last, 16, [this] { return unit(); });
    block(last);
  }
  return x;
}

// The remainder favours small numbers, by less than range / 2^32 (or 2^64): PyTorch's choice.
Indices Generator::randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  if (low >= high)
    refuse("randint: low is ", low, " and high is ", high, "; high must be above low");
  const std::uint64_t base = static_cast<std::uint64_t>(low);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - base;
  const bool wide = range >> 32 != 0;
  Indices n = Indices::from_shape(shape);
  std::generate_n(n.data(), n.size(), [&] {
    return static_cast<std::int64_t>((wide ? random64() : random()) % range + base);
  });
  return n;
}

// Fisher and Yates's shuffle, from the front.
Indices Generator::randperm(std::size_t n) {
  if (n > largest_permutation) refuse("randperm: n is ", n, "; give at most ", largest_permutation);
  Indices order = Indices::from_shape({n});
  std::iota(order.data(), order.data() + n, std::int64_t{0});
  for (std::size_t i = 0; i + 1 < n; ++i)
    std::swap(order.data()[i], order.data()[i + random() % (n - i)]);
  return order;
}

Array Generator::bernoulli(const Shape& shape, double p) {
  check_probability("bernoulli", p);
  Array x = uninitialized(shape);
  std::generate_n(x.data(), x.size(), [&] { return uniform53() < p ? Real{1} : Real{0}; });
  return x;
}

Array Generator::dropout_mask(const Shape& shape, double p) {
  check_probability("dropout_mask", p);
  if (p == 0) return ones(shape);
  if (p == 1) return zeros(shape);
  const Real kept = 1 / static_cast<Real>(1 - p);
  Array x = uninitialized(shape);
  std::generate_n(x.data(), x.size(), [&] { return uniform53() < 1 - p ? kept : Real{0}; });
  return x;
}

// A race: with q_i exponential of rate 1, the largest w_i / q_i is i with probability w_i / sum w,
// the largest two are a draw of two without replacement, and so on.
void Generator::draw_by_race(const Real* weights, std::size_t size, std::int64_t* chosen,
                             std::size_t count) {
  std::vector<Real> speed(size);
  for (std::size_t i = 0; i < size; ++i) {
    const Real q = static_cast<Real>(std::abs(std::log(1 - uniform53())));
    speed[i] = weights[i] > 0 ? weights[i] / q : 0;
  }
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto faster = [&](std::int64_t a, std::int64_t b) {
    const Real va = speed[static_cast<std::size_t>(a)], vb = speed[static_cast<std::size_t>(b)];
    return va > vb || (va == vb && a < b);
  };
  const auto places = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), places, order.end(), faster);
  std::copy(order.begin(), places, chosen);
}

// Each draw falls on one of the steps of the weights' running sum, scaled to end at 1.
void Generator::draw_with_replacement(const Real* weights, std::size_t size, std::int64_t* chosen,
                                      std::size_t count) {
  std::vector<Real> share(size);
  Real sum = 0;
  for (std::size_t i = 0; i < size; ++i) share[i] = sum += weights[i];
  for (Real& s : share) s /= sum;
  share.back() = 1;
  for (std::size_t k = 0; k < count; ++k)
    chosen[k] = std::lower_bound(share.begin(), share.end(), uniform53()) - share.begin();
}

Indices Generator::multinomial(const Array& weights, std::size_t count, bool replacement) {
  const std::size_t rows = checked_rows(weights);
  const std::size_t size = weights.shape(weights.dimension() - 1);
  if (count == 0) refuse("multinomial: count is 0; draw at least 1");
  for (std::size_t row = 0; row < rows; ++row)
    check_weights(weights.data() + row * size, size, row, replacement ? 1 : count);
  const bool in_a_row = weights.dimension() == 1;
  Indices drawn = Indices::from_shape(in_a_row ? Shape{count} : Shape{rows, count});
  for (std::size_t row = 0; row < rows; ++row) {
    const Real* const from = weights.data() + row * size;
    std::int64_t* const to = drawn.data() + row * count;
    if (replacement)
      draw_with_replacement(from, size, to, count);
    else
      draw_by_race(from, size, to, count);
  }
  return drawn;
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

// "mt19937", the next word's number, 624 words, and the waiting normal's bits where there is one.
std::string Generator::state() const {
  std::string text(state_tag);
  text += std::to_string(next_);
  for (const std::uint32_t word : words_) text += " " + std::to_string(word);
  return has_cached_normal_ ? text + " " + std::to_string(bits_of(cached_normal_)) : text;
}

// Only what state() writes comes back as the same text: spelling and leftovers need no own check.
void Generator::set_state(const std::string& text) {
  Generator read(0);
  std::string_view rest = text;
  bool good = rest.substr(0, state_tag.size()) == state_tag;
  if (good) rest.remove_prefix(state_tag.size());
  good = good && take_number(rest, read.next_) && read.next_ <= words_.size();
  for (std::uint32_t& word : read.words_) good = good && take_number(rest, word);
  std::uint64_t bits = 0;
  read.has_cached_normal_ = good && !rest.empty() && take_number(rest, bits);
  if (read.has_cached_normal_) read.cached_normal_ = from_bits(bits);
  if (!good || !std::isfinite(read.cached_normal_) || read.state() != text)
    refuse("set_state: not a generator's state (", text.size(),
           " characters); give the text that state() wrote");
  *this = read;
}

}  // namespace heed
