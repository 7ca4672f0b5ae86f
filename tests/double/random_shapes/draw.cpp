// draw.cpp: random shapes, axes, masks and values for gradient checks.

#include "draw.hpp"

#include <algorithm>

namespace heed::test {

namespace {

std::size_t numel_without(const Shape& sizes, std::size_t axis) {
  std::size_t n = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (i != axis) n *= sizes[i];
  return n;
}

}  // namespace

std::string pattern_of(const Shape& a, const Shape& b) {
  const auto ones = [](const Shape& narrow, const Shape& wide) {
    for (std::size_t i = 1; i <= std::min(narrow.size(), wide.size()); ++i)
      if (narrow[narrow.size() - i] == 1 && wide[wide.size() - i] != 1) return true;
    return false;
  };
  return words(a.size() == b.size()  ? "as many axes"
               : a.size() < b.size() ? "fewer axes on the left"
                                     : "fewer axes on the right",
               ones(a, b) ? ", ones on the left" : "", ones(b, a) ? ", ones on the right" : "");
}

// ---- Coverage

void Coverage::add(const Shape& shape) {
  ranks.insert(shape.size());
  sizes.insert(shape.begin(), shape.end());
}

void Coverage::merge(const Coverage& other) {
  ranks.insert(other.ranks.begin(), other.ranks.end());
  sizes.insert(other.sizes.begin(), other.sizes.end());
  patterns.insert(other.patterns.begin(), other.patterns.end());
  axes.insert(other.axes.begin(), other.axes.end());
  operations.insert(other.operations.begin(), other.operations.end());
}

// ---- numbers

std::size_t Draw::below(std::size_t n) {
  return static_cast<std::size_t>(
      generator_.randint(0, static_cast<std::int64_t>(n), {}).data()[0]);
}

int Draw::between(int low, int high) {
  return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1)));
}

std::vector<std::size_t> Draw::order(std::size_t n) {
  const Indices shuffled = generator_.randperm(n);
  return {shuffled.begin(), shuffled.end()};
}

// ---- shapes

Shape Draw::shape() {
  Shape sizes(rank, 1);
  if (rank == 0) return sizes;
  for (std::size_t& n : sizes) n = 1 + below(max_size);
  const std::size_t given = below(rank);
  sizes[given] = 0;  // so that max_element finds another one
  while (rank > 1 &&
         numel_without(sizes, given) * std::max<std::size_t>(turn_.size, 1) > max_elements)
    --*std::max_element(sizes.begin(), sizes.end());
  sizes[given] = turn_.size;
  return sizes;
}

std::size_t Draw::size(std::size_t others) {
  const std::size_t limit = std::min(max_size, max_elements / std::max<std::size_t>(others, 1));
  return below(12) == 0 ? 0 : 1 + below(std::max<std::size_t>(limit, 1));
}

Shape Draw::sometimes_one(Shape sizes) {
  for (std::size_t& n : sizes)
    if (below(5) == 0) n = 1;
  return sizes;
}

Shape Draw::narrowed(const Shape& whole) {
  const std::size_t dropped = coin() ? below(whole.size() + 1) : 0;
  Shape narrow(whole.begin() + static_cast<std::ptrdiff_t>(dropped), whole.end());
  for (std::size_t& n : narrow)
    if (coin()) n = 1;
  return narrow;
}

std::pair<Shape, Shape> Draw::pair(Shape whole) {
  const Pattern wanted = pattern(whole.size());
  const std::size_t ones = wanted.left_ones + wanted.right_ones;
  const std::size_t dropped = wanted.fewer == 0 ? 0 : 1 + below(whole.size() - ones);
  std::vector<std::size_t> axes = order(whole.size() - dropped);
  for (std::size_t& axis : axes) axis += dropped;
  Shape left = whole, right = whole;
  const auto put_one = [&](Shape& narrow, Shape& wide, std::size_t at) {
    narrow[at] = 1;
    if (wide[at] == 1) wide[at] = 2;
  };
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool free = i >= ones;  // the pattern does not need this axis
    if (wanted.left_ones && (i == 0 || (free && below(4) == 0)))
      put_one(left, right, axes[i]);
    else if (wanted.right_ones && (i + 1 == ones || (free && below(4) == 0)))
      put_one(right, left, axes[i]);
  }
  Shape& shorter = wanted.fewer == 1 ? left : right;
  shorter = Shape(shorter.begin() + static_cast<std::ptrdiff_t>(dropped), shorter.end());
  coverage.patterns.insert(pattern_of(left, right));
  return {left, right};
}

Draw::Pattern Draw::pattern(std::size_t axes) {
  for (std::size_t n = (turn_.rank % 2) * 6 + turn_.size + turn_.offset;; n = below(12)) {
    const Pattern p{n % 3, n / 3 % 2 == 1, n / 6 % 2 == 1};
    const std::size_t needed = std::min<std::size_t>(p.fewer, 1) + p.left_ones + p.right_ones;
    if (needed <= axes) return p;
  }
}

// ---- axes

int Draw::axis(std::size_t rank_of_array) {
  const std::size_t n = std::max<std::size_t>(rank_of_array, 1);
  return recorded(rank_of_array, static_cast<int>((turn_.size + turn_.offset) % (2 * n)));
}

int Draw::any_axis(std::size_t rank_of_array) {
  const std::size_t n = std::max<std::size_t>(rank_of_array, 1);
  return recorded(rank_of_array, static_cast<int>(below(2 * n)));
}

// Number i stands for axis i - n of an array of rank n. A scalar has the axes -1 and 0.
int Draw::recorded(std::size_t rank_of_array, int number) {
  const int axis = number - static_cast<int>(std::max<std::size_t>(rank_of_array, 1));
  coverage.axes.insert({rank_of_array, axis});
  return axis;
}

AxisList Draw::axes() {
  AxisList list;
  if (below(4) == 0) return list;
  list.push_back(axis(rank));
  for (const std::size_t other : order(rank))
    if (coin() && other != index(list[0], rank)) list.push_back(from_either_end(other));
  return list;
}

int Draw::from_either_end(std::size_t axis) {
  return static_cast<int>(axis) - (coin() ? static_cast<int>(rank) : 0);
}

std::pair<Shape, int> Draw::axis_with_elements() {
  Shape sizes = shape();
  const int chosen = axis(rank);
  if (rank == 0) return {sizes, chosen};
  const std::size_t at = index(chosen, rank);
  if (sizes[at] == 0) std::swap(sizes[at], sizes[at == 0 ? rank - 1 : 0]);
  sizes[at] = std::max<std::size_t>(sizes[at], 1);  // rank 1 has no other axis to swap with
  return {sizes, chosen};
}

// ---- arrays

Array Draw::away_from_zero(const Shape& shape, double low, double high) {
  Array x = values(shape, low, high);
  for (Real& v : x) v = coin() ? v : -v;
  return x;
}

Array Draw::spread_rows(const Shape& shape, std::size_t width) {
  Array x = uninitialized(shape);
  for (std::size_t i = 0; i < x.size(); i += width) {
    Real* out = x.data() + i;
    for (const std::size_t step : order(width))
      *out++ = (static_cast<double>(step) + number(0, 0.5)) * 4 / static_cast<double>(width) - 2;
  }
  return x;
}

Mask Draw::mask(const Shape& shape) {
  Mask x = Mask::from_shape(Mask::shape_type(shape.begin(), shape.end()));
  std::generate_n(x.data(), x.size(), [&] { return coin(); });
  return x;
}

Indices Draw::indices(const Shape& shape, std::size_t end) {
  coverage.add(shape);
  return generator_.randint(0, static_cast<std::int64_t>(std::max<std::size_t>(end, 1)), shape);
}

}  // namespace heed::test
