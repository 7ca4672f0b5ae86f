// random_shapes_test.cpp: every slope of every operation, measured at shapes drawn by chance.
//
// Each run draws new ones from the clock and prints its seed; HEED_SEED=123 repeats a run exactly.

#include "random_shapes.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>

#include "catch.hpp"
#include "heed/array/map.hpp"
#include "heed/array/parallel.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/einsum.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;
using T = const Tensor&;

// ---- cases of one kind of operation

// A case of one input.
template <class F>
Case on(const Array& x, const std::string& options, const F& f) {
  return {[=](X in) { return f(in[0]); }, {x}, options};
}

template <class F>
Maker one(const F& f, double low, double high) {
  return [=](Draw& d) { return on(d.values(d.shape(), low, high), "", f); };
}

template <class F>
Maker one_away_from_zero(const F& f) {
  return [=](Draw& d) { return on(d.away(d.shape(), 0.1, 2), "", f); };
}

template <class F>
Maker two(const F& f) {
  return [=](Draw& d) {
    const auto [a, b] = d.pair(d.shape());
    return Case{[=](X x) { return f(x[0], x[1]); }, {d.away(a, 0.5, 1.5), d.away(b, 0.5, 1.5)}};
  };
}

template <class F>
Maker beside_constant(const F& f) {
  return [=](Draw& d) {
    const double c = d.away({}, 0.5, 2).data()[0];
    return on(d.away(d.shape(), 0.5, 1.5), words("c ", c), [=](T x) { return f(x, c); });
  };
}

template <class F>
Maker along(const F& f) {
  return [=](Draw& d) {
    const int axis = d.axis(d.rank);
    return on(d.values(d.shape(), -2, 2), words("axis ", axis), [=](T x) { return f(x, axis); });
  };
}

template <class F>
Case over_axes(Draw& d, const Array& x, const AxisList& axes, const F& f) {
  const bool keepdim = d.coin();
  return on(x, words("axes ", listed(axes), keepdim ? " kept" : ""),
            [=](T in) { return f(in, axes, keepdim); });
}

template <class F>
Maker over(const F& f) {
  return [=](Draw& d) {
    const AxisList axes = d.axes();
    return over_axes(d, d.values(d.shape()), axes, f);
  };
}

// ---- arithmetic, reductions

Case one_tensor_twice(Draw& d) {
  const char sign = d.one_of<char>({'+', '-', '*', '/'});
  return on(d.away(d.shape(), 0.5, 1.5), words("x ", sign, " x"), [=](T x) {
    return sign == '+' ? x + x : sign == '-' ? x - x : sign == '*' ? x * x : x / x;
  });
}

// Whole exponents take negative numbers too.
Case power_case(Draw& d) {
  const bool whole = d.coin();
  const double p = whole ? d.between(-3, 3) : d.number(-2.5, 2.5);
  return on(whole ? d.away(d.shape(), 0.5, 1.5) : d.values(d.shape(), 0.5, 2), words("p ", p),
            [=](T x) { return power(x, p); });
}

Case max_case(Draw& d) {
  const auto [shape, axis] = d.axis_with_elements();
  const bool empty = numel(shape) == 0;  // then there is no largest but along some axes
  const AxisList axes = empty ? AxisList{axis} : d.axes();
  return over_axes(d, d.spread_rows(shape, numel(shape)), axes,
                   [](T x, const AxisList& list, bool keep) { return max(x, list, keep); });
}

Case variance_case(Draw& d) {
  const Shape shape = d.shape();
  const AxisList axes = d.axes();
  std::size_t n = 1;
  for (const std::size_t axis : checked_axes("variance", shape, axes)) n *= shape[axis];
  const bool unbiased = n > 1 && d.coin();  // of one element it is 0 / 0
  Case drawn = over_axes(d, d.values(shape), axes, [=](T x, const AxisList& list, bool keep) {
    return variance(x, list, unbiased, keep);
  });
  drawn.options += unbiased ? ", unbiased" : "";
  return drawn;
}

// ---- shapes

// The same elements in up to four axes: each prime factor goes to one of them.
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
    std::size_t& size = shape[Draw::place(axis, d.rank)];
    if (size != d.given()) size = 1;
  }
  return on(d.values(shape), words("axis ", axis), [=](T x) { return squeeze(x, axis); });
}

Case unsqueeze_case(Draw& d) {
  const int axis = d.axis(d.rank + 1);
  return on(d.values(d.shape()), words("axis ", axis), [=](T x) { return unsqueeze(x, axis); });
}

Case expand_case(Draw& d) {
  const Shape shape = d.shape();
  d.seen.note(shape);
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
  const int size = static_cast<int>(shape[Draw::place(axis, d.rank)]);
  const int index = d.between(-size, size - 1);
  return on(d.values(shape), words("axis ", axis, ", index ", index),
            [axis = axis, index](T x) { return select(x, axis, index); });
}

// The parts, and perhaps the first of them once more.
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
  std::size_t& size = shape[Draw::place(axis, d.rank)];
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

// Every piece, put together from the last to the first.
Case split_case(Draw& d) {
  const Shape shape = d.shape();
  const int axis = d.axis(d.rank);
  std::vector<std::int64_t> sizes;
  for (std::size_t left = shape[Draw::place(axis, d.rank)]; left > 0 || sizes.empty();) {
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

// ---- masks

Case masked_fill_case(Draw& d) {
  const Shape shape = d.shape();
  const Mask mask = d.mask(d.narrowed(shape));
  const double value = d.number(-3, 3);
  return on(d.values(shape), words("mask ", str(shape_of(mask))),
            [=](T x) { return masked_fill(x, mask, value); });
}

// What attention does with a mask: a line may be hidden as a whole.
Case masked_softmax_case(Draw& d) {
  const Shape shape = d.shape();
  const Mask mask = d.mask(d.narrowed(shape));
  const int axis = d.axis(d.rank);
  return on(d.values(shape), words("mask ", str(shape_of(mask)), ", axis ", axis),
            [=](T x) { return softmax(masked_fill(x, mask, -infinity), axis); });
}

Case tril_case(Draw& d) {
  const int diagonal = d.between(-5, 5);
  return on(d.values(d.shape()), words("diagonal ", diagonal),
            [=](T x) { return tril(x, diagonal); });
}

Case dropout_case(Draw& d) {
  const double p = d.one_of<double>({0, 0.2, 0.5, 0.8, 1});
  const std::uint64_t seed = d.seed();
  return on(d.values(d.shape()), words("p ", p), [=](T x) {
    Generator generator(seed);  // the same elements each time
    return dropout(x, p, generator);
  });
}

// ---- products

Array matrices(Draw& d, Shape batch, std::size_t rows, std::size_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return d.values(batch);
}

// Vectors on either side or both; else (..., M, K) (..., K, N), M or N being this turn's sizes.
std::vector<Array> factors(Draw& d) {
  const Shape whole = d.shape();
  if (d.rank == 1 && d.coin()) return {d.values(whole), d.values(whole)};
  if (d.rank == 1) return {d.values(whole), matrices(d, {}, whole[0], d.size())};
  const Shape batch(whole.begin(), whole.end() - 2);
  const std::size_t K = whole[d.rank - 1];
  std::size_t M = whole[d.rank - 2], N = d.size(numel(batch) * K);
  if (d.coin()) std::swap(M, N);
  if (d.below(6) == 0) return {matrices(d, batch, M, K), d.values({K})};
  if (d.below(6) == 0) return {d.values({K}), matrices(d, batch, K, N)};
  const auto [a, b] = d.pair(batch);
  return {matrices(d, a, M, K), matrices(d, b, K, N)};
}

Case matmul_case(Draw& d) {
  return {[](X x) { return matmul(x[0], x[1]); }, factors(d)};
}

Case linear_case(Draw& d) {
  const Shape shape = d.shape();
  const std::size_t out = d.size();
  std::vector<Array> inputs{d.values(shape), d.values({out, shape.back()})};
  if (d.coin()) inputs.push_back(d.values({out}));
  return {[](X x) { return linear(x[0], x[1], x.size() == 3 ? x[2] : Tensor()); }, inputs};
}

// An equation of the letters i, j, k, l: any of them in an operand, twice as well, and after the
// arrow, beside "..." for up to two axes.
struct EquationDraw {
  explicit EquationDraw(Draw& draw) : d(draw) {
    sizes = {d.given(), 1 + d.below(3), 1 + d.below(3), 1 + d.below(2)};
    if (d.below(3) == 0) dots = {1 + d.below(2), 1 + d.below(3)};
    add_operand(d.rank);
    for (std::size_t more = d.below(3); more > 0; --more) add_operand(d.below(4));
    add_result();
  }

  // i is always among the first operand's letters, with this turn's size; others may be of size 1.
  void add_operand(std::size_t rank) {
    const bool first = operands.empty();
    const std::size_t dotted =
        rank == 0 || dots.empty() ? 0 : 1 + d.below(std::min<std::size_t>(rank, 2));
    const Shape own = first ? sizes : d.sometimes_one(sizes);
    std::string letters;
    Shape shape;
    while (letters.size() + dotted < rank) {
      std::size_t letter = first && letters.empty() ? 0 : d.below(4);
      if (numel(shape) * own[letter] > most_elements) letter = 3;
      letters += "ijkl"[letter];
      shape.push_back(own[letter]);
    }
    if (!dots.empty()) put_dots(letters, shape, dotted);
    equation += (first ? "" : ",") + letters;
    operands.push_back(d.values(shape));
  }
  void put_dots(std::string& letters, Shape& shape, std::size_t count) {
    const std::size_t at = d.below(letters.size() + 1);
    letters.insert(at, "...");
    const Shape own = d.sometimes_one(dots);
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at),
                 own.end() - static_cast<std::ptrdiff_t>(count), own.end());
  }
  void add_result() {
    if (d.below(4) == 0) return;  // no arrow
    std::string result;
    for (const std::size_t letter : d.order(4))
      if (equation.find("ijkl"[letter]) != equation.npos && d.coin()) result += "ijkl"[letter];
    if (!dots.empty() && d.below(4) != 0) result.insert(d.below(result.size() + 1), "...");
    equation += "->" + result;
  }

  Draw& d;
  Shape sizes, dots;
  std::string equation;
  std::vector<Array> operands;
};

Case einsum_case(Draw& d) {
  const EquationDraw drawn(d);
  return {[equation = drawn.equation](X x) { return einsum(equation, x); }, drawn.operands,
          '"' + drawn.equation + '"'};
}

// ---- tables, losses, norms

// The row padding_idx collects no gradient although it is read. Where it is read it is taken off
// again, unseen by the graph, so that its slope is 0 indeed.
Case embedding_case(Draw& d) {
  const Shape shape = d.shape();
  const std::size_t V = numel(shape) == 0 ? d.size() : 1 + d.below(most_size);
  const Indices indices = d.indices(shape, V);
  const Array table = d.values({V, d.size(V)});
  if (V == 0 || d.coin())
    return on(table, words("indices ", str(shape)), [=](T x) { return embedding(indices, x); });
  const auto padding = static_cast<std::int64_t>(d.below(V));
  Array padded = uninitialized(shape);
  std::transform(indices.begin(), indices.end(), padded.data(),
                 [=](std::int64_t i) { return i == padding ? 1 : 0; });
  return on(table, words("indices ", str(shape), ", padding_idx ", padding), [=](T x) {
    const Tensor read = embedding(indices, detach(x)) * unsqueeze(Tensor(padded), -1);
    return embedding(indices, x, padding) - read;
  });
}

Indices some_targets(Draw& d, const Shape& logits, std::int64_t ignored) {
  const std::size_t V = logits.back();
  Indices targets = d.indices(Shape(logits.begin(), logits.end() - 1), V);
  for (std::int64_t& target : targets)
    if (V == 0 || d.below(4) == 0) target = ignored;
  if (V > 0 && targets.size() > 0 && targets.data()[0] == ignored)  // one counts: no 0 / 0
    targets.data()[0] = ignored == 0 ? 1 : 0;
  return targets;
}

Maker cross_entropies(Reduction reduction) {
  return [=](Draw& d) {
    const Shape shape = d.shape();
    const std::size_t V = shape.back();
    CrossEntropyOptions options;
    options.reduction = reduction;
    options.label_smoothing = d.one_of<double>({0, 0, 0.1, 0.7, 1});
    if (V > 1 && d.coin()) options.ignore_index = static_cast<std::int64_t>(d.below(V));
    const Indices targets = some_targets(d, shape, options.ignore_index);
    return on(d.values(shape, -2, 2),
              words("smoothing ", options.label_smoothing, ", ignoring ", options.ignore_index,
                    ", targets ", listed(targets)),
              [=](T x) { return cross_entropy(x, targets, options); });
  };
}

// Rows of nearly equal elements would be steep: theirs are spread out.
Case layer_norm_case(Draw& d) {
  const Shape shape = d.shape();
  const auto axes = static_cast<std::ptrdiff_t>(1 + d.below(d.rank));
  const Shape last(shape.end() - axes, shape.end());
  const bool weight = d.coin(), bias = d.coin();
  const double eps = d.one_of<double>({1e-5, 1e-2, 1});
  std::vector<Array> inputs{d.spread_rows(shape, numel(last))};
  if (weight) inputs.push_back(d.values(last));
  if (bias) inputs.push_back(d.values(last));
  const Function f = [=](X x) {
    return layer_norm(x[0], last, weight ? x[1] : Tensor(), bias ? x.back() : Tensor(), eps);
  };
  return {f, inputs,
          words("over ", str(last), weight ? ", weight" : "", bias ? ", bias" : "", ", eps ", eps)};
}

// Both vectors longer than eps; both shorter, which makes eps their length; or one of each. Those
// of up to five numbers below 0.3 are shorter than 0.8.
Case cosine_case(Draw& d) {
  const auto [a, b] = d.pair(d.shape());
  const int axis = d.axis(d.rank);
  const std::size_t kind = d.below(4);
  const double eps = kind == 0 ? 1e-8 : kind == 1 ? 10 : 0.8;
  return {[axis = axis, eps](X x) { return cosine_similarity(x[0], x[1], axis, eps); },
          {kind == 2 ? d.away(a, 0.1, 0.3) : d.away(a, 1, 2),
           kind == 3 ? d.away(b, 0.1, 0.3) : d.away(b, 1, 2)},
          words("axis ", axis, ", eps ", eps)};
}

// ---- attention

std::size_t heads_of(Draw& d, std::size_t C) {
  std::vector<std::size_t> divisors;
  for (std::size_t heads = 1; heads <= most_size; ++heads)
    if (C % heads == 0) divisors.push_back(heads);
  return d.one_of(divisors);
}

Case split_heads_case(Draw& d) {
  const Shape shape = d.shape();
  const std::size_t heads = heads_of(d, shape.back());
  return on(d.values(shape), words("heads ", heads), [=](T x) { return split_heads(x, heads); });
}

struct AttentionDraw {
  explicit AttentionDraw(Draw& draw) : d(draw), q(d.shape()), k(q), v(q) {
    const std::size_t rows = q[d.rank - 2], C = q.back();
    scores = Shape(q.begin(), q.end() - 2);
    const std::size_t B = numel(scores), S = d.size(B * std::max(rows, C)), E = d.size(B * S);
    if (d.rank == 3) options.num_heads = heads_of(d, C);
    const std::size_t H = options.num_heads;
    k[d.rank - 2] = v[d.rank - 2] = S;
    v.back() = E == 0 ? 0 : std::max<std::size_t>(E / H, 1) * H;
    if (H > 1) scores.push_back(H);
    scores.push_back(rows);
    scores.push_back(S);
    options.causal = d.coin();
    if (C == 0 || d.coin()) options.scale = d.number(0.2, 1.5);  // 1 / sqrt(0) is no scale
  }

  // What broadcasts to the scores, or (B, T, S), the same for each head. Of rank 3 it is that.
  void add_mask() {
    const bool alike = options.num_heads > 1 && d.coin();
    const Shape whole = alike ? Shape{q[0], q[1], k[1]} : scores;
    const Shape shape = d.narrowed(whole);
    options.mask = d.mask(shape.size() == 3 && whole.size() == 4 ? whole : shape);
  }
  // The case of f(x, options) with the bias, which comes last, among the options.
  template <class F>
  Case with(std::vector<Shape> shapes, bool biased, const F& f) {
    if (biased) shapes.push_back(d.narrowed(scores));
    Case drawn{[=, given = options](X x) {
                 AttentionOptions all = given;
                 if (biased) all.bias = x.back();
                 return f(x, all);
               },
               {},
               text()};
    for (const Shape& shape : shapes) drawn.inputs.push_back(d.values(shape));
    return drawn;
  }
  std::string text() const {
    return words("heads ", options.num_heads, options.causal ? ", causal" : "",
                 options.mask ? ", mask " + str(shape_of(*options.mask)) : "",
                 options.scale ? words(", scale ", *options.scale) : "");
  }

  Draw& d;
  Shape q, k, v, scores;
  AttentionOptions options;
};

Tensor attend(X x, const AttentionOptions& options) {
  return scaled_dot_product_attention(x[0], x[1], x[2], options);
}

Case attention_case(Draw& d) {
  AttentionDraw drawn(d);
  return drawn.with({drawn.q, drawn.k, drawn.v}, false, attend);
}

Case masked_attention_case(Draw& d) {
  AttentionDraw drawn(d);
  const bool masked = d.coin(), biased = !masked || d.coin();
  if (masked) drawn.add_mask();
  return drawn.with({drawn.q, drawn.k, drawn.v}, biased, attend);
}

Case weights_case(Draw& d) {
  AttentionDraw drawn(d);
  if (d.coin()) drawn.add_mask();
  return drawn.with({drawn.q, drawn.k}, d.coin(), [](X x, const AttentionOptions& options) {
    return attention_weights(x[0], x[1], options);
  });
}

// ---- every operation: a new one is a line more

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"a + b", 0, 4, two([](T a, T b) { return a + b; })},
      {"a - b", 0, 4, two([](T a, T b) { return a - b; })},
      {"a * b", 0, 4, two([](T a, T b) { return a * b; })},
      {"a / b", 0, 4, two([](T a, T b) { return a / b; })},
      {"one tensor on both sides", 0, 4, one_tensor_twice},
      {"-x", 0, 4, one([](T x) { return -x; }, -2, 2)},
      {"x + c", 0, 4, beside_constant([](T x, double c) { return x + c; })},
      {"x - c", 0, 4, beside_constant([](T x, double c) { return x - c; })},
      {"x * c", 0, 4, beside_constant([](T x, double c) { return x * c; })},
      {"x / c", 0, 4, beside_constant([](T x, double c) { return x / c; })},
      {"c + x", 0, 4, beside_constant([](T x, double c) { return c + x; })},
      {"c - x", 0, 4, beside_constant([](T x, double c) { return c - x; })},
      {"c * x", 0, 4, beside_constant([](T x, double c) { return c * x; })},
      {"c / x", 0, 4, beside_constant([](T x, double c) { return c / x; })},
      {"power", 0, 4, power_case},
      {"exp", 0, 4, one([](T x) { return exp(x); }, -2, 2)},
      {"log", 0, 4, one([](T x) { return log(x); }, 0.3, 3)},
      {"sqrt", 0, 4, one([](T x) { return sqrt(x); }, 0.3, 3)},
      {"abs", 0, 4, one_away_from_zero([](T x) { return abs(x); })},
      {"tanh", 0, 4, one([](T x) { return tanh(x); }, -3, 3)},
      {"sigmoid", 0, 4, one([](T x) { return sigmoid(x); }, -4, 4)},
      {"relu", 0, 4, one_away_from_zero([](T x) { return relu(x); })},
      {"gelu, erf", 0, 4, one([](T x) { return gelu(x); }, -4, 4)},
      {"gelu, tanh", 0, 4, one([](T x) { return gelu(x, Gelu::tanh); }, -4, 4)},
      {"softmax", 0, 4, along([](T x, int axis) { return softmax(x, axis); })},
      {"log_softmax", 0, 4, along([](T x, int axis) { return log_softmax(x, axis); })},
      {"logsumexp", 0, 4, along([](T x, int axis) { return logsumexp(x, axis); })},
      {"logsumexp, keepdim", 0, 4, along([](T x, int axis) { return logsumexp(x, axis, true); })},
      {"sum", 0, 4, over([](T x, const AxisList& a, bool keep) { return sum(x, a, keep); })},
      {"mean", 0, 4, over([](T x, const AxisList& a, bool keep) { return mean(x, a, keep); })},
      {"max", 0, 4, max_case},
      {"variance", 0, 4, variance_case},
      {"reshape", 0, 4, reshape_case},
      {"squeeze", 0, 4, squeeze_case},
      {"unsqueeze", 0, 4, unsqueeze_case},
      {"expand", 0, 4, expand_case},
      {"transpose", 0, 4, transpose_case},
      {"permute", 0, 4, permute_case},
      {"slice", 1, 4, slice_case},
      {"select", 1, 4, select_case},
      {"concat", 1, 4, concat_case},
      {"stack", 0, 4, stack_case},
      {"split", 1, 4, split_case},
      {"masked_fill", 0, 4, masked_fill_case},
      {"masked_fill, then softmax", 0, 4, masked_softmax_case},
      {"tril", 2, 4, tril_case},
      {"dropout", 0, 4, dropout_case},
      {"matmul", 1, 4, matmul_case},
      {"linear", 1, 4, linear_case},
      {"einsum", 0, 4, einsum_case},
      {"embedding", 0, 4, embedding_case},
      {"cross_entropy, mean", 1, 4, cross_entropies(Reduction::mean)},
      {"cross_entropy, sum", 1, 4, cross_entropies(Reduction::sum)},
      {"cross_entropy, none", 1, 4, cross_entropies(Reduction::none)},
      {"layer_norm", 1, 4, layer_norm_case},
      {"cosine_similarity", 0, 4, cosine_case},
      {"scaled_dot_product_attention", 2, 4, attention_case},
      {"scaled_dot_product_attention, with heads", 3, 3, attention_case},
      {"scaled_dot_product_attention, masked or biased", 2, 4, masked_attention_case},
      {"attention_weights", 2, 4, weights_case},
      {"attention_weights, with heads", 3, 3, weights_case},
      {"split_heads", 3, 3, split_heads_case},
      {"join_heads", 4, 4, one([](T x) { return join_heads(x); }, -1, 1)}};
  return table;
}

// ---- this run

std::uint32_t seed_from(std::string_view text) {
  std::uint32_t seed = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || stop != text.data() + text.size())
    throw_error("HEED_SEED is \"", text, "\"; give a whole number from 0 to 4294967295");
  return seed;
}

std::uint32_t this_run_seed() {
  if (const char* const text = std::getenv("HEED_SEED")) return seed_from(text);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ticks = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return static_cast<std::uint32_t>(ticks % 1'000'000'000);
}

// Small arrays on one thread: waiting for another would take longer than the work.
struct OneThread {
  OneThread() { set_num_threads(1); }
  ~OneThread() { set_num_threads(before); }
  int before = num_threads();
};

// The reports of this run, made once, in the order of rows().
const std::vector<Report>& reports() {
  static const std::vector<Report> all = [] {
    const OneThread one_thread;
    const std::uint32_t seed = this_run_seed();
    std::vector<Report> made;
    std::size_t checks = 0;
    double worst = 0;
    for (const Row& row : rows()) {
      made.push_back(report_of(seed, row, made.size()));
      checks += made.back().checks;
      worst = std::max(worst, made.back().worst);
    }
    std::cout << "random shapes: seed " << seed << ", " << checks << " checks, the largest error "
              << worst << " of its tolerance; HEED_SEED=" << seed << " repeats them\n";
    return made;
  }();
  return all;
}

Seen all_seen() {
  Seen all;
  for (const Report& report : reports()) all.merge(report.seen);
  return all;
}

// ---- what the sources say there is

// Every match of the pattern in the files of a folder, written in the format.
std::set<std::string> found_in(const char* folder, const char* pattern, const char* format) {
  const std::regex wanted(pattern);
  std::set<std::string> found;
  const std::filesystem::path root(HEED_SOURCE_DIR);
  for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator i(text.begin(), text.end(), wanted), end; i != end; ++i)
      found.insert(i->format(format));
  }
  return found;
}

// The structs of src/ops, by the names that their nodes carry.
std::set<std::string> operation_names() {
  return found_in("src/ops", R"rx(static constexpr std::string_view name = "(\w+)";)rx", "$1");
}

// What include/heed/ops declares that returns tensors: "softmax"; an operator as "a + b" or "-x".
std::set<std::string> function_names() {
  const char* const folder = "include/heed/ops";
  std::set<std::string> names = found_in(folder, R"(\n(?:[\w:]+<)?Tensor[\w<>, ]* (\w+)\()", "$1");
  names.merge(
      found_in(folder, R"(\nTensor operator(.)\([^,)]*?(\w+), [^,)]*?(\w+)\);)", "$2 $1 $3"));
  names.merge(found_in(folder, R"(\nTensor operator(.)\([^,)]*?(\w+)\);)", "$1$2"));
  return names;
}

// The functions that rows check: "gelu, erf" is gelu's.
std::set<std::string> checked_functions() {
  std::set<std::string> names;
  for (const Row& row : rows()) names.insert(row.name.substr(0, row.name.find(',')));
  return names;
}

std::string missing(const std::set<std::string>& wanted, const std::set<std::string>& present) {
  std::vector<std::string> absent_ones;
  std::set_difference(wanted.begin(), wanted.end(), present.begin(), present.end(),
                      std::back_inserter(absent_ones));
  return absent_ones.empty() ? "" : listed(absent_ones);
}

// y = x along an axis, with the slope 1.01.
struct PlantedCopy {
  static constexpr std::string_view name = "PlantedCopy";
  Array forward(const Array& x) const { return x; }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return map([](auto d) { return d * Real(1.01); }, dy);
  }
};

}  // namespace

TEST_CASE("every operation's slopes are the measured ones, at shapes drawn by chance",
          "[double][random_shapes]") {
  std::size_t checks = 0;
  for (const Report& report : reports()) {
    CHECK(report.failure == "");
    checks += report.checks;
  }
  CHECK(checks >= 1000);
}

TEST_CASE("so they are at the shapes of thirty more seeds", "[double][random_shapes][.long]") {
  const OneThread one_thread;
  const std::uint32_t seed = this_run_seed();
  for (std::uint32_t more = 1; more <= 30; ++more)
    for (std::size_t i = 0; i < rows().size(); ++i)
      CHECK(report_of(seed + more, rows()[i], i).failure == "");
}

TEST_CASE("every operation meets every rank that it takes and every size",
          "[double][random_shapes]") {
  const std::set<std::size_t> sizes{0, 1, 2, 3, 4, 5};
  for (std::size_t i = 0; i < rows().size(); ++i) {
    INFO(rows()[i].name);
    const Seen& seen = reports()[i].seen;
    CHECK(seen.sizes == sizes);
    for (std::size_t rank = rows()[i].least_rank; rank <= rows()[i].most_rank; ++rank)
      CHECK(seen.ranks.count(rank) == 1);
    CHECK(reports()[i].largest <= 600);
  }
}

TEST_CASE("every operation of two shapes meets all twelve ways to broadcast",
          "[double][random_shapes]") {
  const std::set<std::string> operations{"a + b", "a - b", "a * b", "a / b", "cosine_similarity"};
  for (std::size_t i = 0; i < rows().size(); ++i)
    if (operations.count(rows()[i].name) == 1) CHECK(reports()[i].seen.patterns.size() == 12);
}

TEST_CASE("every axis comes up, counted from either end", "[double][random_shapes]") {
  const Seen seen = all_seen();
  for (int rank = 0; rank <= 4; ++rank)
    for (int axis = -std::max(rank, 1); axis < std::max(rank, 1); ++axis)
      CHECK(seen.axes.count({rank, axis}) == 1);
}

TEST_CASE("the twelve ways to broadcast are told apart", "[double][random_shapes]") {
  CHECK(pattern_of({2, 3}, {2, 3}) == "as many axes");
  CHECK(pattern_of({}, {3}) == "fewer axes on the left");
  CHECK(pattern_of({1, 3}, {1}) == "fewer axes on the right, ones on the right");
  CHECK(pattern_of({2, 1}, {1, 3}) == "as many axes, ones on the left, ones on the right");
  CHECK(pattern_of({1, 1}, {1, 1}) == "as many axes");
  CHECK(pattern_of({1}, {2, 0}) == "fewer axes on the left, ones on the left");
}

TEST_CASE("every operation that src/ops records has been checked", "[double][random_shapes]") {
  CHECK(missing(operation_names(), all_seen().operations) == "");
  CHECK(missing(all_seen().operations, operation_names()) == "");  // the search finds them all
}

TEST_CASE("every function that include/heed/ops declares has its row", "[double][random_shapes]") {
  CHECK(missing(function_names(), checked_functions()) == "");
  CHECK(missing(checked_functions(), function_names()) == "{one tensor on both sides}");
}

TEST_CASE("a seed draws the same cases again, another seed draws others",
          "[double][random_shapes]") {
  std::size_t different = 0;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const Row& row = rows()[i];
    Draw first = draw_of(7, row, i, 20), again = draw_of(7, row, i, 20),
         other = draw_of(8, row, i, 20);
    const Case one = row.make(first), same = row.make(again);
    CHECK(text_of(row, one) == text_of(row, same));
    CHECK(difference(one.inputs[0], same.inputs[0], 0) == "");
    different += difference(one.inputs[0], row.make(other).inputs[0], 0) != "";
  }
  CHECK(different > rows().size() / 2);
}

TEST_CASE("a wrong slope is reported with operation, shapes, axis and seed",
          "[double][random_shapes]") {
  const Row planted{"copy", 2, 2, along([](T x, int) {
                      return record(PlantedCopy{}, SourceLocation::current(), x);
                    })};
  const std::string failure = report_of(7, planted, 0).failure;
  CHECK(std::regex_match(failure, std::regex(R"(copy: \(\d, \d\), axis -?\d: input 0 element \d+: )"
                                             R"(backward \S+, measured \S+; HEED_SEED=7 repeats it)"
                                             R"( \(and 49 more of 60 checks\))")));
}

TEST_CASE("a case that throws is reported with its seed", "[double][random_shapes]") {
  const Row planted{"product", 2, 2,
                    one(
                        [](T x) {
                          return matmul(x, Tensor(ones({7, 2})));
                        },
                        0, 1)};
  const std::string failure = report_of(7, planted, 0).failure;
  CHECK(failure.find("product: (") == 0);
  CHECK(failure.find("): threw matmul: inner sizes differ: a (") != std::string::npos);
  CHECK(failure.find("; HEED_SEED=7 repeats it") != std::string::npos);
}

TEST_CASE("HEED_SEED is a whole number or refused", "[double][random_shapes]") {
  CHECK(seed_from("0") == 0);
  CHECK(seed_from("4294967295") == 4294967295);
  for (const char* text : {"", "12x", "-1", " 1", "4294967296"})
    CHECK(message_of([=] { seed_from(text); }) ==
          words("HEED_SEED is \"", text, "\"; give a whole number from 0 to 4294967295"));
}
