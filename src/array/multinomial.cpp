// multinomial.cpp: draws indices at random in proportion to weights, like torch.multinomial.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "heed/array/random.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// Checks that the weights are finite and not negative, that at least min_positive of them are above
// zero, and that their sum is finite.
template <class T>
static void check_weights(const T* weights, std::size_t size, std::size_t row,
                          std::size_t min_positive) {
  T sum = 0;
  std::size_t positive = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!(std::isfinite(weights[i]) && weights[i] >= 0))
      throw_error("multinomial: weight ", i, " of row ", row, " is ", weights[i],
                  "; weights must be finite and not negative");
    sum += weights[i];
    if (weights[i] > 0) ++positive;
  }
  if (positive == 0)
    throw_error("multinomial: row ", row, " has no weight above zero; give at least one");
  if (!std::isfinite(sum))
    throw_error("multinomial: the weights of row ", row, " sum to ", sum, "; scale them down");
  if (positive < min_positive)
    throw_error("multinomial: ", min_positive, " draws without replacement, but row ", row, " has ",
                positive, " weights above zero; draw fewer or with replacement");
}

// The exponential trick (the Gumbel-max trick without logarithms): if each q_i is drawn from the
// exponential distribution of rate 1, the ratio w_i / q_i is the largest with probability
// w_i / sum_j w_j, and the indices of the `count` largest ratios are a sample without replacement.
template <class T>
static void draw_without_replacement(MersenneTwister& bits, const T* weights, std::size_t size,
                                     std::int64_t* chosen, std::size_t count) {
  std::vector<T> keys(size);
  for (std::size_t i = 0; i < size; ++i) {
    const T q = static_cast<T>(std::abs(std::log(1 - bits.uniform<double>())));
    keys[i] = weights[i] > 0 ? weights[i] / q : 0;
  }
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto larger = [&](std::int64_t a, std::int64_t b) {
    const T key_a = keys[static_cast<std::size_t>(a)], key_b = keys[static_cast<std::size_t>(b)];
    return key_a > key_b || (key_a == key_b && a < b);
  };
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), last, order.end(), larger);
  std::copy(order.begin(), last, chosen);
}

// Inverse transform sampling: looks up a uniform number in the cumulative probabilities.
template <class T>
static void draw_with_replacement(MersenneTwister& bits, const T* weights, std::size_t size,
                                  std::int64_t* chosen, std::size_t count) {
  std::vector<T> cumulative(size);
  T sum = 0;
  for (std::size_t i = 0; i < size; ++i) cumulative[i] = sum += weights[i];
  for (T& c : cumulative) c /= sum;
  cumulative.back() = 1;
  for (std::size_t k = 0; k < count; ++k)
    chosen[k] = std::lower_bound(cumulative.begin(), cumulative.end(), bits.uniform<double>()) -
                cumulative.begin();
}

template <class T>
static Indices draw_rows(MersenneTwister& bits, const Array& given, std::size_t count,
                         Bool replacement) {
  const std::size_t rank = given.dimension();
  if (rank != 1 && rank != 2)
    throw_error("multinomial: weights ", str(given.shape()), " have rank ", rank,
                "; give (V) or (N, V)");
  const std::size_t rows = rank == 1 ? 1 : given.shape(0), size = given.shape(rank - 1);
  if (count == 0) throw_error("multinomial: count is 0; draw at least 1");
  const std::vector<T> weights(given.data(), given.data() + given.size());
  for (std::size_t row = 0; row < rows; ++row)
    check_weights(weights.data() + row * size, size, row, replacement ? 1 : count);
  const Shape shape = rank == 1 ? Shape{count} : Shape{rows, count};
  numel(shape);  // throws if the number of elements overflows
  Indices drawn = Indices::from_shape(shape);
  const auto draw = replacement ? draw_with_replacement<T> : draw_without_replacement<T>;
  for (std::size_t row = 0; row < rows; ++row)
    draw(bits, weights.data() + row * size, size, drawn.data() + row * count, count);
  return drawn;
}

Indices Generator::multinomial(const Array& weights, std::size_t count, Bool replacement,
                               SourceLocation location) {
  const CallSite site(location);
  const auto draw = precision_ == Precision::float32 ? draw_rows<float> : draw_rows<double>;
  return draw(bits_, weights, count, replacement);
}

}  // namespace HEED_NAMESPACE
