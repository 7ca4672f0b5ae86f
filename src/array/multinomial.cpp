// multinomial.cpp: draws by weight, as PyTorch makes them on a CPU.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "heed/array/random.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

// The rows that multinomial draws from: one of rank 1, N of rank 2.
std::size_t checked_rows(const Array& weights) {
  const std::size_t rank = weights.dimension();
  if (rank != 1 && rank != 2)
    throw_error("multinomial: weights ", str(shape_of(weights)), " have rank ", rank,
                "; give (V) or (N, V)");
  return rank == 1 ? 1 : weights.shape(0);
}

// Each weight finite and not negative, their sum finite and above zero, enough of them positive.
template <class T>
void check_weights(const T* weights, std::size_t size, std::size_t row, std::size_t needed) {
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
  if (positive < needed)
    throw_error("multinomial: ", needed, " draws without replacement, but row ", row, " has ",
                positive, " weights above zero; draw fewer or with replacement");
}

// A race: with q_i exponential of rate 1, the largest w_i / q_i is i with probability w_i / sum w,
// the largest two are a draw of two without replacement, and so on.
template <class T>
void draw_by_race(MersenneTwister& bits, const T* weights, std::size_t size, std::int64_t* chosen,
                  std::size_t count) {
  std::vector<T> speed(size);
  for (std::size_t i = 0; i < size; ++i) {
    const T q = static_cast<T>(std::abs(std::log(1 - bits.uniform<double>())));
    speed[i] = weights[i] > 0 ? weights[i] / q : 0;
  }
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto faster = [&](std::int64_t a, std::int64_t b) {
    const T va = speed[static_cast<std::size_t>(a)], vb = speed[static_cast<std::size_t>(b)];
    return va > vb || (va == vb && a < b);
  };
  const auto places = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), places, order.end(), faster);
  std::copy(order.begin(), places, chosen);
}

// Each draw falls on one of the steps of the weights' running sum, scaled to end at 1.
template <class T>
void draw_with_replacement(MersenneTwister& bits, const T* weights, std::size_t size,
                           std::int64_t* chosen, std::size_t count) {
  std::vector<T> share(size);
  T sum = 0;
  for (std::size_t i = 0; i < size; ++i) share[i] = sum += weights[i];
  for (T& s : share) s /= sum;
  share.back() = 1;
  for (std::size_t k = 0; k < count; ++k)
    chosen[k] =
        std::lower_bound(share.begin(), share.end(), bits.uniform<double>()) - share.begin();
}

template <class T>
Indices draw_rows(MersenneTwister& bits, const Array& given, std::size_t count, bool replacement) {
  const std::size_t rows = checked_rows(given), size = given.shape(given.dimension() - 1);
  if (count == 0) throw_error("multinomial: count is 0; draw at least 1");
  const std::vector<T> weights(given.data(), given.data() + given.size());
  for (std::size_t row = 0; row < rows; ++row)
    check_weights(weights.data() + row * size, size, row, replacement ? 1 : count);
  Indices drawn = Indices::from_shape(given.dimension() == 1 ? Shape{count} : Shape{rows, count});
  const auto draw = replacement ? draw_with_replacement<T> : draw_by_race<T>;
  for (std::size_t row = 0; row < rows; ++row)
    draw(bits, weights.data() + row * size, size, drawn.data() + row * count, count);
  return drawn;
}

}  // namespace

Indices Generator::multinomial(const Array& weights, std::size_t count, bool replacement) {
  const auto draw = precision_ == Precision::float32 ? draw_rows<float> : draw_rows<double>;
  return draw(bits_, weights, count, replacement);
}

}  // namespace heed
