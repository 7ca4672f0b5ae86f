// shape_test.cpp: gradients of reshaping, slicing and joining at random shapes.

#include "heed/ops/shape.hpp"

#include <algorithm>

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

// Up to four axes: each prime factor of the number of elements goes to one of them.
Case reshape_case(Draw& d) {
  const Shape shape = d.shape();
  std::size_t left = numel(shape);
  std::vector<int> sizes(left == 1 ? d.below(5) : 1 + d.below(4), 1);
  if (left == 0) sizes[d.below(sizes.size())] = 0;
  for (const std::size_t prime : {2u, 3u, 5u})
    for (; left > 0 && left % prime == 0; left /= prime)
      sizes[d.below(sizes.size())] *= static_cast<int>(prime);
  if (numel(shape) > 0 && !sizes.empty() && d.coin()) sizes[d.below(sizes.size())] = -1;
  return on(d.values(shape), words("to ", listed(sizes)), [=](T x) { return reshape(x, sizes); });
}

Case squeeze_case(Draw& d) {
  Shape shape = d.shape();
  const int axis = d.axis(d.rank);
  if (d.rank > 0 && d.coin()) {
    std::size_t& size = shape[Draw::index(axis, d.rank)];
    if (size != d.turn_size()) size = 1;
  }
  return on(d.values(shape), words("axis ", axis), [=](T x) { return squeeze(x, axis); });
}

Case unsqueeze_case(Draw& d) {
  const int axis = d.axis(d.rank + 1);
  return on(d.values(d.shape()), words("axis ", axis), [=](T x) { return unsqueeze(x, axis); });
}

Case expand_case(Draw& d) {
  const Shape shape = d.shape();
  d.coverage.add(shape);
  return on(d.values(d.narrowed(shape)), words("to ", str(shape)),
            [=](T x) { return expand(x, shape); });
}

Case transpose_case(Draw& d) {
  const int a = d.axis(d.rank), b = d.any_axis(d.rank);
  return on(d.values(d.shape()), words("axes ", a, ", ", b),
            [=](T x) { return transpose(x, a, b); });
}

Case permute_case(Draw& d) {
  AxisList order;
  for (const std::size_t axis : d.order(d.rank)) order.push_back(d.from_either_end(axis));
  return on(d.values(d.shape()), words("order ", listed(order)),
            [=](T x) { return permute(x, order); });
}

Case slice_case(Draw& d) {
  const int axis = d.axis(d.rank), begin = d.between(-6, 4), step = d.between(1, 4);
  const std::int64_t end = d.coin() ? to_the_end : d.between(-3, 7);
  const std::string last = end == to_the_end ? "" : std::to_string(end);
  return on(d.values(d.shape()), words("axis ", axis, " [", begin, ":", last, ":", step, "]"),
            [=](T x) { return slice(x, axis, begin, end, step); });
}

Case select_case(Draw& d) {
  const auto [shape, axis] = d.axis_with_elements();
  const int size = static_cast<int>(shape[Draw::index(axis, d.rank)]);
  const int index = d.between(-size, size - 1);
  return on(d.values(shape), words("axis ", axis, ", index ", index),
            [axis = axis, index](T x) { return select(x, axis, index); });
}

// Joins the parts, sometimes with the first part again at the end.
template <class Join>
Case joined(Draw& d, const std::vector<Array>& parts, int axis, const Join& join) {
  const bool again = d.coin();
  const Function f = [=](X x) {
    std::vector<Tensor> list = x;
    if (again) list.push_back(x[0]);
    return join(list, axis);
  };
  return {f, parts, words("axis ", axis, again ? ", the first part again" : "")};
}

Case concat_case(Draw& d) {
  Shape shape = d.shape();
  const int axis = d.axis(d.rank);
  std::vector<Array> parts{d.values(shape)};
  std::size_t& size = shape[Draw::index(axis, d.rank)];
  size = 1;
  const std::size_t beside = numel(shape);
  for (std::size_t more = d.below(3); more > 0; --more) {
    size = d.size(beside);
    parts.push_back(d.values(shape));
  }
  return joined(d, parts, axis, [](X list, int at) { return concat(list, at); });
}

Case stack_case(Draw& d) {
  std::vector<Array> parts{d.values(d.shape())};
  for (std::size_t more = d.below(3); more > 0; --more) parts.push_back(d.values(parts[0].shape()));
  return joined(d, parts, d.axis(d.rank + 1), [](X list, int at) { return stack(list, at); });
}

// Concatenates all pieces in reverse order.
Case split_case(Draw& d) {
  const Shape shape = d.shape();
  const int axis = d.axis(d.rank);
  std::vector<std::int64_t> sizes;
  for (std::size_t left = shape[Draw::index(axis, d.rank)]; left > 0 || sizes.empty();) {
    const std::size_t size = d.below(left + 1);
    sizes.push_back(static_cast<std::int64_t>(size));
    left -= size;
  }
  return on(d.values(shape), words("axis ", axis, " into ", listed(sizes)), [=](T x) {
    std::vector<Tensor> pieces = split(x, sizes, axis);
    std::reverse(pieces.begin(), pieces.end());
    return concat(pieces, axis);
  });
}

}  // namespace

Rows shape_rows() {
  return {{"reshape", 0, 4, reshape_case},     {"squeeze", 0, 4, squeeze_case},
          {"unsqueeze", 0, 4, unsqueeze_case}, {"expand", 0, 4, expand_case},
          {"transpose", 0, 4, transpose_case}, {"permute", 0, 4, permute_case},
          {"slice", 1, 4, slice_case},         {"select", 1, 4, select_case},
          {"concat", 1, 4, concat_case},       {"stack", 0, 4, stack_case},
          {"split", 1, 4, split_case}};
}

TEST_CASE("the gradients of reshaping, slicing and joining are right at random shapes",
          "[double][random_shapes][shape]") {
  check(shape_rows());
}

}  // namespace heed::test
