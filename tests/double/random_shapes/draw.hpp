// draw.hpp: Draw, which draws random shapes, axes, masks and values for gradient checks.
#pragma once

#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "heed/array/random.hpp"
#include "near.hpp"

namespace heed::test {

inline constexpr std::size_t max_rank = 4, max_size = 5;
inline constexpr std::size_t max_elements = 60;  // a shape with more is shrunk

template <class... Parts>
std::string words(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <class List>
std::string listed(const List& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + words(item);
  return "{" + text + "}";
}

// One of the twelve ways in which two shapes that broadcast can differ.
std::string pattern_of(const Shape& a, const Shape& b);

// The ranks, sizes and so on that the checks used. Tests compare them with the required ones.
struct Coverage {
  std::set<std::size_t> ranks, sizes;
  std::set<std::string> patterns;              // of broadcasting, see pattern_of
  std::set<std::pair<std::size_t, int>> axes;  // rank, and the axis as it was written
  std::set<std::string> operations;            // operations whose backward was checked

  void add(const Shape& shape);
  void merge(const Coverage& other);
};

// The rank and size that one check must use, and an offset that selects the broadcasting pattern
// and the axis. All else is random. The checks of an operation combine every rank with every size.
struct Turn {
  std::size_t rank, size, offset;
};

class Draw {
 public:
  Draw(std::uint64_t seed, Turn turn) : rank(turn.rank), turn_(turn), generator_(seed) {}

  const std::size_t rank;
  Coverage coverage;

  // ---- numbers

  std::size_t below(std::size_t n);
  int between(int low, int high);
  bool coin() { return below(2) == 0; }
  double number(double low, double high) { return generator_.uniform({}, low, high).data()[0]; }
  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  std::vector<std::size_t> order(std::size_t n);  // a permutation of 0 .. n - 1
  std::uint64_t seed() { return below(1'000'000'000); }

  // ---- shapes

  // A shape with the rank of the turn. One axis has the size of the turn. The other sizes are at
  // least 1, because otherwise most shapes would be empty.
  Shape shape();
  // A random size, rarely 0, for one more axis of an array that has `others` elements without it.
  std::size_t size(std::size_t others = 1);
  std::size_t turn_size() const { return turn_.size; }
  // Sets each size to 1 with probability 1/5.
  Shape sometimes_one(Shape sizes);
  // A shape that broadcasts to `whole`.
  Shape narrowed(const Shape& whole);
  // Two shapes that broadcast to `whole`, except that a size 1 of both becomes 2.
  std::pair<Shape, Shape> pair(Shape whole);

  // ---- axes

  int axis(std::size_t rank_of_array);      // each axis in turn, counted from either end
  int any_axis(std::size_t rank_of_array);  // a random axis
  static std::size_t index(int axis, std::size_t rank_of_array) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(rank_of_array) : axis);
  }
  // A list of some axes without repetitions, or an empty list, which means all axes.
  AxisList axes();
  int from_either_end(std::size_t axis);
  // A shape and an axis of it whose size is at least 1.
  std::pair<Shape, int> axis_with_elements();

  // ---- arrays

  Array values(const Shape& shape, double low = -1, double high = 1) {
    return generator_.uniform(shape, low, high);
  }
  // Values of either sign with absolute values in [low, high).
  Array away_from_zero(const Shape& shape, double low, double high);
  // Rows of `width` elements in [-2, 2]; any two elements of a row differ by at least 2 / width.
  Array spread_rows(const Shape& shape, std::size_t width);
  Mask mask(const Shape& shape);
  Indices indices(const Shape& shape, std::size_t end);  // below max(end, 1)

 private:
  struct Pattern {
    std::size_t fewer;  // which side has fewer axes: 0 neither, 1 left, 2 right
    bool left_ones, right_ones;
  };
  // From rank 3 on each of the twelve patterns in turn; below rank 3, a random possible pattern.
  Pattern pattern(std::size_t axes);
  int recorded(std::size_t rank_of_array, int number);

  const Turn turn_;
  Generator generator_;
};

}  // namespace heed::test
