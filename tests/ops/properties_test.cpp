// properties_test.cpp: invariances of operations: shared inputs, shifts, permutations, causality.

#include <algorithm>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/einsum.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

// ---- one tensor as several inputs

struct Shared {
  std::string name;
  std::size_t uses;
  Shape shape;
  Function f;
  double tolerance = 0;
};

Function einsum_of(std::string equation) {
  return [equation](X x) { return einsum(equation, x); };
}

AttentionOptions options_of(bool causal, std::size_t heads) {
  AttentionOptions options;
  options.causal = causal;
  options.num_heads = heads;
  return options;
}
Function attention(bool causal, std::size_t heads) {
  return [=](X x) {
    return scaled_dot_product_attention(x[0], x[1], x[2], options_of(causal, heads));
  };
}
Function weights(bool causal, std::size_t heads) {
  return [=](X x) { return attention_weights(x[0], x[1], options_of(causal, heads)); };
}

Tensor biased_attention(X x) {
  AttentionOptions options;
  options.bias = x[3];
  return scaled_dot_product_attention(x[0], x[1], x[2], options);
}

const Array square = random_array({5, 5}, 3);

const std::vector<Shared> shared_inputs{
    {"add", 2, {3, 4}, [](X x) { return x[0] + x[1]; }},
    {"subtract", 2, {3, 4}, [](X x) { return x[0] - x[1]; }},
    {"multiply", 2, {3, 4}, [](X x) { return x[0] * x[1]; }},
    {"divide", 2, {3, 4}, [](X x) { return x[0] / x[1]; }},
    {"matmul", 2, {5, 5}, [](X x) { return matmul(x[0], x[1]); }},
    {"matmul of a batch", 2, {3, 5, 5}, [](X x) { return matmul(x[0], x[1]); }},
    {"matmul of vectors", 2, {7}, [](X x) { return matmul(x[0], x[1]); }},
    {"linear, weight", 2, {5, 5}, [](X x) { return linear(x[0], x[1]); }},
    {"linear, bias", 2, {5}, [](X x) { return linear(x[0], Tensor(square), x[1]); }},
    {"layer norm, weight", 2, {7}, [](X x) { return layer_norm(x[0], {7}, x[1]); }},
    {"layer norm, bias", 2, {7}, [](X x) { return layer_norm(x[0], {7}, {}, x[1]); }},
    {"layer norm, both", 3, {7}, [](X x) { return layer_norm(x[0], {7}, x[1], x[2]); }},
    {"cosine", 2, {3, 4}, [](X x) { return cosine_similarity(x[0], x[1]); }},
    {"concat", 32, {3, 4}, [](X x) { return concat(x, 1); }},
    {"stack", 2, {3, 4}, [](X x) { return stack(x, 1); }},
    {"einsum, product", 2, {4, 4}, einsum_of("ij,jk->ik")},
    {"einsum, transposed", 2, {3, 4}, einsum_of("ij,kj->ik")},
    {"einsum, elements", 2, {3, 4}, einsum_of("ij,ij->ij")},
    {"einsum, outer", 2, {3}, einsum_of("i,j->ij")},
    {"einsum, traces", 2, {4, 4}, einsum_of("ii,jj->")},
    {"einsum, chain", 3, {4, 4}, einsum_of("ij,jk,kl->il")},
    {"attention", 3, {2, 35, 4}, attention(false, 1)},
    {"attention, causal", 3, {2, 35, 4}, attention(true, 1)},
    {"attention, heads", 3, {2, 35, 4}, attention(true, 2)},
    {"attention weights", 2, {2, 5, 4}, weights(false, 1)},
    {"attention weights, heads", 2, {2, 5, 4}, weights(true, 2)},
    {"attention, biased", 4, {5, 5}, biased_attention, 1e-6},  // other order of summation
};

// "" if f(x, x, ...) equals f(a, b, ...) at a = b = x, and its gradient is the sum of the gradients
// of a, b, ...: exactly, since they are added in the order of the inputs.
std::string sharing_error(const Shared& op) {
  const Array x = away_from_zero(op.shape, 1);
  const Function shared = [&](X in) { return op.f(std::vector<Tensor>(op.uses, in[0])); };
  const std::vector<Array> copies(op.uses, x);
  const Tensor value = op.f(std::vector<Tensor>(copies.begin(), copies.end()));
  if (!same_bits(shared({Tensor(x)}).value(), value.value())) return op.name + ": value";
  const Array upstream = random_array(value.shape(), 2);
  const std::vector<Array> parts = gradients(op.f, copies, upstream);
  Tensor total(parts[0]);
  for (std::size_t i = 1; i < op.uses; ++i) total = total + Tensor(parts[i]);
  const Array got = gradients(shared, {x}, upstream)[0];
  const std::string off = difference(got, total.value(), op.tolerance);
  return off.empty() ? "" : op.name + ": " + off;
}

// ---- operations and their inverses

Tensor identity(X x) { return x[0]; }

// A function that returns its i-th input.
Function input(std::size_t i) {
  return [i](X x) { return x[i]; };
}

std::vector<Array> pieces_of(const Shape& shape, const std::vector<std::int64_t>& sizes, int axis) {
  std::vector<Array> pieces;
  for (const Tensor& piece : split(Tensor(random_array(shape, 1)), sizes, axis))
    pieces.push_back(piece.value());
  return pieces;
}

// ---- multiples of 1/8, whose sums of products are exact in any order

Array eighths(const Shape& shape, std::uint64_t seed) {
  const Indices integers = Generator(seed).randint(-16, 17, {numel(shape)});
  Array x = uninitialized(shape);
  std::transform(integers.begin(), integers.end(), x.data(),
                 [](std::int64_t n) { return static_cast<Real>(n) / 8; });
  return x;
}

// ---- rows of a sequence (B, T, C)

// Row t is x's row order[t].
Array reordered(const Array& x, const Indices& order) {
  std::vector<Tensor> permuted_rows;
  for (const std::int64_t t : order) permuted_rows.push_back(select(Tensor(x), 1, t));
  return stack(permuted_rows, 1).value();
}

Array rows(const Array& x, std::size_t begin, std::size_t end) {
  const auto from = static_cast<std::int64_t>(begin), to = static_cast<std::int64_t>(end);
  return slice(Tensor(x), 1, from, to).value();
}

// The rows of x before row t, and the rows of `later` from row t on.
Array with_later_rows(const Array& x, std::size_t t, const Array& later) {
  const std::size_t T = x.shape()[1];
  return concat({Tensor(rows(x, 0, t)), Tensor(rows(later, t, T))}, 1).value();
}

Array value_of(const Function& f, const std::vector<Array>& inputs) {
  return f(std::vector<Tensor>(inputs.begin(), inputs.end())).value();
}

bool all_zero(const Array& x) {
  return std::all_of(x.begin(), x.end(), [](Real v) { return v == 0; });
}

// A gradient that is 0 except in row t.
Array gradient_in_row(std::size_t t, const Shape& shape) {
  Array upstream = zeros(shape);
  const Array row = away_from_zero({shape[2]}, 4);
  std::copy_n(row.data(), row.size(), upstream.data() + t * shape[2]);
  return upstream;
}

// "" if, for every t, the output rows before t do not depend on the input rows from t on.
std::string output_leak(const Function& f, const std::vector<Array>& x,
                        const std::vector<Array>& others) {
  const Array before = value_of(f, x);
  for (std::size_t t = 1; t < x[0].shape()[1]; ++t) {
    std::vector<Array> changed;
    for (std::size_t i = 0; i < x.size(); ++i)
      changed.push_back(with_later_rows(x[i], t, others[i]));
    if (!same_bits(rows(value_of(f, changed), 0, t), rows(before, 0, t)))
      return "a row before " + std::to_string(t) + " changes";
  }
  return "";
}

// "" if, for every t, the gradient of output row t is exactly 0 for all later keys and values and
// all other queries.
std::string gradient_leak(const Function& f, const std::vector<Array>& x) {
  const std::size_t T = x[0].shape()[1];
  for (std::size_t t = 0; t < T; ++t) {
    const std::vector<Array> g = gradients(f, x, gradient_in_row(t, x[2].shape()));
    const std::string row = " at row " + std::to_string(t);
    if (!all_zero(rows(g[0], 0, t)) || !all_zero(rows(g[0], t + 1, T))) return "query" + row;
    if (!all_zero(rows(g[1], t + 1, T))) return "key" + row;
    if (!all_zero(rows(g[2], t + 1, T))) return "value" + row;
    if (all_zero(rows(g[2], t, t + 1))) return "no gradient" + row;
  }
  return "";
}

constexpr std::size_t lengths[] = {5, 7, 33, 70};  // attention processes blocks of 32 rows
constexpr std::size_t head_counts[] = {1, 2, 4};

std::vector<Array> sequences(std::size_t T, std::uint64_t seed, double limit = 1) {
  std::vector<Array> x;
  for (std::size_t i = 0; i < 3; ++i) x.push_back(random_array({1, T, 8}, seed + i, -limit, limit));
  return x;
}

// A mask, here one that is true everywhere, makes attention use elementary operations.
Tensor plain_causal(X x) {
  AttentionOptions options = options_of(true, 2);
  options.mask = mask_of({1}, {1});
  return scaled_dot_product_attention(x[0], x[1], x[2], options);
}

}  // namespace

TEST_CASE("a tensor used as several inputs gets the sum of their gradients", "[ops][properties]") {
  for (const Shared& op : shared_inputs) CHECK(sharing_error(op) == "");
}

TEST_CASE("doubling twenty times multiplies value and gradient by 2^20", "[ops][properties]") {
  const Array x = random_array({3}, 1);
  const Function doubled = [](X in) {
    Tensor y = in[0];
    for (int i = 0; i < 20; ++i) y = y + y;
    return y;
  };
  CHECK(twin_difference(
            doubled, [](X in) { return in[0] * 1048576.0; }, {x}, 0) == "");
}

TEST_CASE("a tensor that the output does not depend on gets no gradient", "[ops][properties]") {
  const Tensor x = tensor_of({2}, {1, 2}), y = tensor_of({2}, {3, 4});
  const Tensor unused = x * y;
  backward(sum(x * 2));
  CHECK((x.grad() == filled({2}, 2)));
  CHECK_FALSE(y.has_grad());
  CHECK_FALSE(unused.has_grad());
}

TEST_CASE("softmax, log_softmax and their gradients do not change when a constant is added",
          "[ops][properties]") {
  const std::vector<Array> x{eighths({3, 5, 4}, 1)};
  for (int axis = 0; axis < 3; ++axis) {
    Shape shape{3, 5, 4};
    shape[static_cast<std::size_t>(axis)] = 1;
    const Tensor constant = Tensor(eighths(shape, 2)) * 512.0;  // integers: exact sums
    const auto twins = [&](Tensor (*f)(In, int)) {
      return twin_difference([&](X in) { return f(in[0] + constant, axis); },
                             [&](X in) { return f(in[0], axis); }, x, 0);
    };
    CHECK(twins(softmax) == "");
    CHECK(twins(log_softmax) == "");
    CHECK(twin_difference([&](X in) { return logsumexp(in[0] + constant, axis, true) - constant; },
                          [&](X in) { return logsumexp(in[0], axis, true); }, x, 2e-4) == "");
  }
}

TEST_CASE("layer norm and its gradients do not change when a constant is added to a row",
          "[ops][properties]") {
  const Function norm = [](X x) { return layer_norm(x[0], {x[0].shape().back()}); };
  const Function shifted = [&](X x) { return norm({x[0] + 3}); };
  CHECK(twin_difference(shifted, norm, {eighths({5, 16}, 1)}, 0) == "");  // a mean without rounding
  CHECK(twin_difference(shifted, norm, {random_array({5, 7}, 1)}, 1e-5) == "");
  CHECK(twin_difference(shifted, norm, {random_array({40, 33}, 1)}, 1e-5) == "");
}

TEST_CASE("layer norm does not change when x is scaled by 2^n and eps by its square",
          "[ops][properties]") {
  const std::vector<Array> x{random_array({5, 7}, 1), random_array({7}, 2), random_array({7}, 3)};
  const auto scaled = [](double factor, double eps) {
    return
        [=](X in) { return layer_norm(in[0] * factor, {7}, in[1], in[2], eps * factor * factor); };
  };
  for (const double factor : {1.0 / 1024, 0.5, 4.0, 1048576.0}) {
    CHECK(twin_difference(scaled(factor, 1e-5), scaled(1, 1e-5), x, 0) == "");
    CHECK(twin_difference(scaled(factor, 0), scaled(1, 0), x, 0) == "");
  }
}

TEST_CASE("the gradient of layer norm is orthogonal to constants and to the normalized row",
          "[ops][properties]") {
  for (const std::size_t width : {5u, 7u, 33u}) {
    const Array x = random_array({5, width}, 1), weight = random_array({width}, 2);
    const Function norm = [&](X in) { return layer_norm(in[0], {width}, in[1], {}, 1e-12); };
    const Tensor dx(gradients(norm, {x, weight}, random_array({5, width}, 3))[0]);
    const Tensor n = layer_norm(Tensor(x), {width}, {}, {}, 1e-12);
    const Tensor size = sum(abs(dx), {1});
    CHECK(difference(sum(dx, {1}) / size, zeros({5}), 3e-6) == "");
    CHECK(difference(sum(dx * n, {1}) / size, zeros({5}), 3e-6) == "");
  }
}

TEST_CASE("the gradients of softmax and log_softmax sum to 0 along the axis", "[ops][properties]") {
  const Array x = random_array({3, 5, 4}, 1, -3, 3), upstream = random_array({3, 5, 4}, 2);
  for (int axis = 0; axis < 3; ++axis)
    for (const auto f : {softmax, log_softmax}) {
      const Function along = [&](X in) { return f(in[0], axis); };
      const Tensor total = sum(Tensor(gradients(along, {x}, upstream)[0]), {axis});
      CHECK(difference(total, zeros(total.shape())) == "");
    }
}

TEST_CASE("no output of causal attention depends on later positions", "[ops][properties]") {
  for (const std::size_t T : lengths)
    for (const std::size_t heads : head_counts) {
      CAPTURE(T, heads);
      const auto x = sequences(T, 1), others = sequences(T, 11, 50);
      CHECK(output_leak(attention(true, heads), x, others) == "");
      CHECK(output_leak(attention(false, heads), x, others) != "");
    }
  CHECK(output_leak(plain_causal, sequences(33, 1), sequences(33, 11, 50)) == "");
}

TEST_CASE("later queries and keys that are NaN do not change causal attention",
          "[ops][properties]") {
  for (const std::size_t T : lengths) {
    const auto x = sequences(T, 1);
    const Array all_nan = filled({1, T, 8}, static_cast<Real>(not_a_number));
    CHECK(output_leak(attention(true, 2), x, {all_nan, all_nan, x[2]}) == "");
  }
  const auto x = sequences(33, 1);
  const Array all_nan = filled({1, 33, 8}, static_cast<Real>(not_a_number));
  CHECK(output_leak(plain_causal, x, {all_nan, all_nan, x[2]}) == "");
}

TEST_CASE("no gradient of causal attention reaches a later key or value", "[ops][properties]") {
  for (const std::size_t T : lengths)
    for (const std::size_t heads : head_counts) {
      CAPTURE(T, heads);
      CHECK(gradient_leak(attention(true, heads), sequences(T, 1)) == "");
    }
  CHECK(gradient_leak(plain_causal, sequences(33, 1)) == "");
}

TEST_CASE("attention is permutation-equivariant: permuted inputs give permuted outputs",
          "[ops][properties]") {
  for (const std::size_t T : lengths)
    for (const std::size_t heads : head_counts) {
      CAPTURE(T, heads);
      const Array q = eighths({2, T, 8}, 1), k = eighths({2, T, 8}, 2);
      const Array v = random_array({2, T, 8}, 3),
                  out = value_of(attention(false, heads), {q, k, v});
      Generator draws(T);
      int changed = 0;
      for (int i = 0; i < 20; ++i) {
        const Indices order = draws.randperm(T);
        const std::vector<Array> permuted_inputs{reordered(q, order), reordered(k, order),
                                                 reordered(v, order)};
        changed +=
            !same_bits(value_of(attention(false, heads), permuted_inputs), reordered(out, order));
      }
      CHECK(changed == 0);
    }
}

TEST_CASE("permuting keys and values changes no output; permuting queries permutes the outputs",
          "[ops][properties]") {
  for (const std::size_t S : lengths)
    for (const std::size_t heads : head_counts) {
      CAPTURE(S, heads);
      const Array few = eighths({2, 9, 8}, 1), many = eighths({2, S, 8}, 2);
      const Array v = random_array({2, S, 8}, 3), w = random_array({2, 9, 8}, 4);
      const Function f = attention(false, heads);
      const Array out_few = value_of(f, {few, many, v}), out_many = value_of(f, {many, few, w});
      Generator draws(S);
      int changed_keys = 0, changed_queries = 0;
      for (int i = 0; i < 20; ++i) {
        const Indices order = draws.randperm(S);
        const Array shuffled = reordered(many, order);
        changed_keys += !same_bits(value_of(f, {few, shuffled, reordered(v, order)}), out_few);
        changed_queries += !same_bits(value_of(f, {shuffled, few, w}), reordered(out_many, order));
      }
      CHECK(changed_keys == 0);
      CHECK(changed_queries == 0);
    }
}

TEST_CASE("concat and split are inverse, also for gradients", "[ops][properties]") {
  const std::vector<std::vector<std::int64_t>> partitions{{7},    {3, 4},    {1, 2, 4},
                                                          {0, 7}, {2, 0, 5}, {1, 1, 1, 1, 1, 1, 1}};
  for (int axis = -3; axis < 3; ++axis)
    for (const auto& sizes : partitions) {
      Shape shape{2, 3, 4};
      shape[static_cast<std::size_t>((axis + 3) % 3)] = 7;
      CHECK(twin_difference([&](X x) { return concat(split(x[0], sizes, axis), axis); }, identity,
                            {random_array(shape, 1)}, 0) == "");
      for (std::size_t i = 0; i < sizes.size(); ++i)
        CHECK(twin_difference([&](X x) { return split(concat(x, axis), sizes, axis)[i]; }, input(i),
                              pieces_of(shape, sizes, axis), 0) == "");
    }
}

TEST_CASE("stack and select are inverse, also for gradients", "[ops][properties]") {
  const Shape shape{3, 3, 3};
  for (int axis = -3; axis < 3; ++axis) {
    const Function restacked = [axis](X x) {
      return stack({select(x[0], axis, 0), select(x[0], axis, 1), select(x[0], axis, 2)}, axis);
    };
    CHECK(twin_difference(restacked, identity, {random_array(shape, 1)}, 0) == "");
    const std::vector<Array> parts{random_array({3, 3}, 1), random_array({3, 3}, 2)};
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(twin_difference(
                [=](X x) { return select(stack(x, axis), axis, static_cast<std::int64_t>(i)); },
                input(i), parts, 0) == "");
  }
}

TEST_CASE("transpose applied twice is the identity, also for gradients", "[ops][properties]") {
  const Array x = random_array({2, 3, 4}, 1);
  for (int a = -3; a < 3; ++a)
    for (int b = -3; b < 3; ++b)
      CHECK(twin_difference([=](X in) { return transpose(transpose(in[0], a, b), a, b); }, identity,
                            {x}, 0) == "");
}

TEST_CASE("permute with the inverse order restores x, also for gradients", "[ops][properties]") {
  const Array x = random_array({2, 3, 4, 5}, 1);
  AxisList order{0, 1, 2, 3};
  do {
    std::vector<int> inverse(4);
    for (int k = 0; k < 4; ++k)
      inverse[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = k;
    CHECK(twin_difference([&](X in) { return permute(permute(in[0], order), inverse); }, identity,
                          {x}, 0) == "");
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("reshape to another shape and back restores x, also for gradients", "[ops][properties]") {
  const Array x = random_array({2, 3, 4}, 1);
  for (const std::vector<int>& shape :
       {std::vector<int>{24}, {4, 3, 2}, {1, 6, 1, 4}, {-1, 8}, {2, 12}})
    CHECK(twin_difference(
              [&](X in) {
                return reshape(reshape(in[0], shape), {2, 3, 4});
              },
              identity, {x}, 0) == "");
}
