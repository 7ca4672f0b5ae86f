// random_shapes.hpp: shapes, axes and numbers drawn by chance, where every kind has its turn.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "heed/array/random.hpp"
#include "near.hpp"

namespace heed::test {

inline constexpr std::size_t most_rank = 4, most_size = 5;
inline constexpr std::size_t most_elements = 60;  // of one drawn shape: larger ones are shrunk

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
inline std::string pattern_of(const Shape& a, const Shape& b) {
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

// What checks used, written down to prove that nothing was left out.
struct Seen {
  std::set<std::size_t> ranks, sizes;
  std::set<std::string> patterns;
  std::set<std::pair<std::size_t, int>> axes;  // rank, and the axis as it was written
  std::set<std::string> operations;            // whose backward was compared with something

  void note(const Shape& shape) {
    ranks.insert(shape.size());
    sizes.insert(shape.begin(), shape.end());
  }
  void merge(const Seen& other) {
    ranks.insert(other.ranks.begin(), other.ranks.end());
    sizes.insert(other.sizes.begin(), other.sizes.end());
    patterns.insert(other.patterns.begin(), other.patterns.end());
    axes.insert(other.axes.begin(), other.axes.end());
    operations.insert(other.operations.begin(), other.operations.end());
  }
};

// What a check must contain; by chance is all that these leave open. Over the checks of one
// operation every rank meets every size; `offset` says which of them meets which pattern and axis.
struct Turn {
  std::size_t rank, size, offset;
};

class Draw {
 public:
  Draw(std::uint64_t seed, Turn turn) : rank(turn.rank), turn_(turn), generator_(seed) {}

  const std::size_t rank;
  Seen seen;

  // ---- numbers

  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(
        generator_.randint(0, static_cast<std::int64_t>(n), {}).data()[0]);
  }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::size_t>(high - low + 1)));
  }
  bool coin() { return below(2) == 0; }
  double number(double low, double high) { return generator_.uniform({}, low, high).data()[0]; }
  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  std::vector<std::size_t> order(std::size_t n) {
    const Indices shuffled = generator_.randperm(n);
    return {shuffled.begin(), shuffled.end()};
  }

  // ---- shapes

  // Of this turn's rank, one size being this turn's; the others are not 0, or much would be empty.
  Shape shape() {
    Shape sizes(rank, 1);
    if (rank == 0) return sizes;
    for (std::size_t& n : sizes) n = 1 + below(most_size);
    const std::size_t given = below(rank);
    sizes[given] = 0;  // not the largest
    while (rank > 1 &&
           numel_beside(sizes, given) * std::max<std::size_t>(turn_.size, 1) > most_elements)
      --*std::max_element(sizes.begin(), sizes.end());
    sizes[given] = turn_.size;
    return sizes;
  }
  // One size more, for an array that has `others` elements for each of it; rarely 0.
  std::size_t size(std::size_t others = 1) {
    const std::size_t most = std::min(most_size, most_elements / std::max<std::size_t>(others, 1));
    return below(12) == 0 ? 0 : 1 + below(std::max<std::size_t>(most, 1));
  }
  std::size_t given() const { return turn_.size; }

  // The same rank, now and then with a 1.
  Shape sometimes_one(Shape sizes) {
    for (std::size_t& n : sizes)
      if (below(5) == 0) n = 1;
    return sizes;
  }
  // A shape that broadcasts to this one.
  Shape narrowed(const Shape& whole) {
    const std::size_t gone = coin() ? below(whole.size() + 1) : 0;
    Shape narrow(whole.begin() + static_cast<std::ptrdiff_t>(gone), whole.end());
    for (std::size_t& n : narrow)
      if (coin()) n = 1;
    return narrow;
  }

  // Two shapes that broadcast to `whole`, nearly: where both would have size 1, it becomes 2.
  std::pair<Shape, Shape> pair(Shape whole) {
    const Pattern wanted = pattern(whole.size());
    const std::size_t ones = wanted.left_ones + wanted.right_ones;
    const std::size_t gone = wanted.fewer == 0 ? 0 : 1 + below(whole.size() - ones);
    std::vector<std::size_t> places = order(whole.size() - gone);
    for (std::size_t& place : places) place += gone;
    Shape left = whole, right = whole;
    const auto put_one = [&](Shape& narrow, Shape& wide, std::size_t at) {
      narrow[at] = 1;
      if (wide[at] == 1) wide[at] = 2;
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
      const bool free = i >= ones;  // beyond the places that the pattern needs
      if (wanted.left_ones && (i == 0 || (free && below(4) == 0)))
        put_one(left, right, places[i]);
      else if (wanted.right_ones && (i + 1 == ones || (free && below(4) == 0)))
        put_one(right, left, places[i]);
    }
    Shape& shorter = wanted.fewer == 1 ? left : right;
    shorter = Shape(shorter.begin() + static_cast<std::ptrdiff_t>(gone), shorter.end());
    seen.patterns.insert(pattern_of(left, right));
    return {left, right};
  }

  // ---- axes

  int axis(std::size_t axes) {  // it is the turn of each, from either end
    const std::size_t n = std::max<std::size_t>(axes, 1);
    return noted(axes, static_cast<int>((turn_.size + turn_.offset) % (2 * n)));
  }
  int any_axis(std::size_t axes) {
    return noted(axes, static_cast<int>(below(2 * std::max<std::size_t>(axes, 1))));
  }
  static std::size_t place(int axis, std::size_t axes) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(axes) : axis);
  }
  // None, which means all, or some, each of them once.
  AxisList axes() {
    AxisList list;
    if (below(4) == 0) return list;
    list.push_back(axis(rank));
    for (const std::size_t at : order(rank))
      if (coin() && at != place(list[0], rank)) list.push_back(from_either_end(at));
    return list;
  }
  int from_either_end(std::size_t axis) {
    return static_cast<int>(axis) - (coin() ? static_cast<int>(rank) : 0);
  }
  // A shape and an axis of it that is not of size 0: a 0 there changes places with another size.
  std::pair<Shape, int> axis_with_elements() {
    Shape sizes = shape();
    const int chosen = axis(rank);
    if (rank == 0) return {sizes, chosen};
    const std::size_t at = place(chosen, rank);
    if (sizes[at] == 0) std::swap(sizes[at], sizes[at == 0 ? rank - 1 : 0]);
    sizes[at] = std::max<std::size_t>(sizes[at], 1);  // rank 1 has no other place
    return {sizes, chosen};
  }

  // ---- arrays

  std::uint64_t seed() { return below(1'000'000'000); }
  Array values(const Shape& shape, double low = -1, double high = 1) {
    return generator_.uniform(shape, low, high);
  }
  // Of either sign, at least `low` away from 0.
  Array away(const Shape& shape, double low, double high) {
    Array x = values(shape, low, high);
    for (Real& v : x) v = coin() ? v : -v;
    return x;
  }
  // In [-2, 2], no two of them closer than 2 / size.
  void spread_out(Real* x, std::size_t n) {
    for (const std::size_t step : order(n))
      *x++ = (static_cast<double>(step) + number(0, 0.5)) * 4 / static_cast<double>(n) - 2;
  }
  // Rows of `width` elements, each of them spread out.
  Array spread_rows(const Shape& shape, std::size_t width) {
    Array x = uninitialized(shape);
    for (std::size_t i = 0; i < x.size(); i += width) spread_out(x.data() + i, width);
    return x;
  }
  Mask mask(const Shape& shape) {
    Mask x = Mask::from_shape(Mask::shape_type(shape.begin(), shape.end()));
    std::generate_n(x.data(), x.size(), [&] { return coin(); });
    return x;
  }
  Indices indices(const Shape& shape, std::size_t end) {
    seen.note(shape);
    return generator_.randint(0, static_cast<std::int64_t>(std::max<std::size_t>(end, 1)), shape);
  }

 private:
  struct Pattern {
    std::size_t fewer;  // axes: 0 on neither side, 1 on the left, 2 on the right
    bool left_ones, right_ones;
  };
  // By turns from rank 3 on, where every pattern is possible; else one of those that are.
  Pattern pattern(std::size_t axes) {
    for (std::size_t n = (turn_.rank % 2) * 6 + turn_.size + turn_.offset;; n = below(12)) {
      const Pattern p{n % 3, n / 3 % 2 == 1, n / 6 % 2 == 1};
      const std::size_t needed = std::min<std::size_t>(p.fewer, 1) + p.left_ones + p.right_ones;
      if (needed <= axes) return p;
    }
  }
  int noted(std::size_t axes, int from_the_first) {
    const int axis = from_the_first - static_cast<int>(std::max<std::size_t>(axes, 1));
    seen.axes.insert({axes, axis});
    return axis;
  }
  static std::size_t numel_beside(const Shape& sizes, std::size_t at) {
    std::size_t n = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (i != at) n *= sizes[i];
    return n;
  }

  const Turn turn_;
  Generator generator_;
};

// One check: a function, where its slopes are measured, and what was drawn beside shapes.
struct Case {
  Function f;
  std::vector<Array> inputs;
  std::string options = "";
};

using Maker = std::function<Case(Draw&)>;

// An operation as it is called, the ranks that it takes, and what draws a case of it.
struct Row {
  std::string name;
  std::size_t least_rank, most_rank;
  Maker make;
};

// Each rank with each size, twice.
inline constexpr std::size_t checks_per_row = 2 * (most_rank + 1) * (most_size + 1);

// All that the checks of one row have shown.
struct Report {
  Seen seen;
  std::size_t checks = 0, failed = 0;
  std::size_t largest = 0;  // elements in all inputs of one check
  double worst = 0;         // the largest error as a multiple of its tolerance
  std::string failure;      // the first
};

// Every check has a generator of its own, so that none changes what another draws.
inline Draw draw_of(std::uint32_t seed, const Row& row, std::size_t number, std::size_t check) {
  const std::size_t ranks = row.most_rank - row.least_rank + 1, sizes = most_size + 1;
  const std::size_t lap = check / ranks / sizes;  // the next six patterns and axes
  const Turn turn{row.least_rank + check % ranks, check / ranks % sizes,
                  seed + number + lap * sizes};
  std::seed_seq mix{seed, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(check)};
  std::uint32_t mixed = 0;
  mix.generate(&mixed, &mixed + 1);
  return Draw(mixed, turn);
}

inline std::string text_of(const Row& row, const Case& drawn) {
  std::string text = row.name + ":";
  for (const Array& input : drawn.inputs) text += " " + str(input.shape());
  return text + (drawn.options.empty() ? "" : ", " + drawn.options);
}

// What gradcheck says of a case; `operations` gets the names of all that were recorded.
inline GradcheckResult checked(const Case& drawn, std::uint64_t upstream_seed,
                               std::set<std::string>& operations) {
  const Function watched = [&](const std::vector<Tensor>& x) {
    const Tensor y = drawn.f(x);
    if (y.requires_grad())
      for (const auto& node : topological_order(y))
        if (node->depth > 0) operations.insert(std::string(node->op));
    return y;
  };
  GradcheckOptions options;
  options.seed = upstream_seed;
  return gradcheck(watched, drawn.inputs, options);
}

// What is wrong with a case, "" for nothing.
inline std::string fault_of(const Case& drawn, Draw& d, Report& report) {
  std::set<std::string> operations;
  const GradcheckResult result = checked(drawn, d.seed(), operations);
  std::size_t elements = 0;
  for (const Array& input : drawn.inputs) {
    elements += input.size();
    d.seen.note(input.shape());
  }
  if (elements > 0) d.seen.operations = operations;
  report.seen.merge(d.seen);
  report.largest = std::max(report.largest, elements);
  report.worst = std::max(report.worst, result.worst);
  if (!result.ok) return result.message;
  return result.checked == elements ? "" : "some elements were not checked";
}

inline Report report_of(std::uint32_t seed, const Row& row, std::size_t number) {
  Report report;
  for (; report.checks < checks_per_row; ++report.checks) {
    Draw d = draw_of(seed, row, number, report.checks);
    std::string text = row.name, fault;
    try {
      const Case drawn = row.make(d);
      text = text_of(row, drawn);
      fault = fault_of(drawn, d, report);
    } catch (const std::exception& error) {
      fault = words("threw ", error.what());
    }
    if (!fault.empty() && ++report.failed == 1)
      report.failure = words(text, ": ", fault, "; HEED_SEED=", seed, " repeats it");
  }
  if (report.failed > 1)
    report.failure += words(" (and ", report.failed - 1, " more of ", report.checks, " checks)");
  return report;
}

}  // namespace heed::test
