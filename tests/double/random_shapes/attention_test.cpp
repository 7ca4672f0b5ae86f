// attention_test.cpp: gradients of attention and rotary embedding at random shapes.

#include "heed/ops/attention.hpp"

#include "catch.hpp"
#include "heed/ops/rotary.hpp"
#include "heed/ops/shape.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

// A divisor of n, at most max_size.
std::size_t divisor_of(Draw& d, std::size_t n) {
  std::vector<std::size_t> divisors;
  for (std::size_t divisor = 1; divisor <= max_size; ++divisor)
    if (n % divisor == 0) divisors.push_back(divisor);
  return d.one_of(divisors);
}

Case split_heads_case(Draw& d) {
  const Shape shape = d.shape();
  const std::size_t heads = divisor_of(d, shape.back());
  return on(d.values(shape), words("heads ", heads), [=](T x) { return split_heads(x, heads); });
}

Case repeat_kv_heads_case(Draw& d) {
  Shape shape = d.shape();
  shape[1] = std::max<std::size_t>(shape[1], 1);
  const std::size_t heads = shape[1] * (1 + d.below(3));
  return on(d.values(shape), words("heads ", heads),
            [=](T x) { return repeat_kv_heads(x, heads); });
}

// The weights (B, H, T, S) of several heads, and the values (B, S, H_kv E) of fewer heads.
Case grouped_values_case(Draw& d) {
  Shape weights = d.shape();
  AttentionOptions options;
  const std::size_t H = options.num_heads = weights[1] = std::max<std::size_t>(weights[1], 2);
  const std::size_t H_kv = options.num_kv_heads = divisor_of(d, H);
  const std::size_t E = d.below(max_size / H_kv + 1);
  return {[=](X x) { return weighted_values(x[0], x[1], options); },
          {d.values(weights), d.values({weights[0], weights[3], H_kv * E})},
          words("heads ", H, ", of values ", H_kv)};
}

Case weighted_values_case(Draw& d) {
  const Shape weights = d.shape();
  Shape v = weights;
  v[d.rank - 2] = weights.back();
  v.back() = d.size(numel(v) / std::max<std::size_t>(v.back(), 1));
  return {[](X x) { return weighted_values(x[0], x[1]); }, {d.values(weights), d.values(v)}};
}

Case rotary_case(Draw& d) {
  Shape shape = d.shape();
  shape.back() -= shape.back() % 2;
  const std::size_t heads = divisor_of(d, shape.back() / 2), first = d.below(100);
  const double base = d.one_of<double>({2, 100, 10000});
  const auto pairs = d.one_of<RotaryPairs>({RotaryPairs::interleaved, RotaryPairs::halves});
  const std::size_t half = shape.back() / std::max<std::size_t>(heads, 1) / 2;
  const RotaryOptions options{base, pairs, 2 * d.below(half + 1)};
  return on(d.values(shape),
            words("heads ", heads, ", first position ", first, ", base ", base, ", halves ",
                  pairs == RotaryPairs::halves, ", dim ", options.dim),
            [=](T x) { return rotary_embedding(x, heads, first, options); });
}

struct AttentionDraw {
  explicit AttentionDraw(Draw& draw) : d(draw), q(d.shape()), k(q), v(q) {
    const std::size_t rows = q[d.rank - 2], C = q.back();
    scores = Shape(q.begin(), q.end() - 2);
    const std::size_t B = numel(scores), S = d.size(B * std::max(rows, C)), E = d.size(B * S);
    if (d.rank == 3) options.num_heads = divisor_of(d, C);
    const std::size_t H = options.num_heads;
    k[d.rank - 2] = v[d.rank - 2] = S;
    v.back() = E == 0 ? 0 : std::max<std::size_t>(E / H, 1) * H;
    if (H > 1) scores.push_back(H);
    scores.push_back(rows);
    scores.push_back(S);
    options.causal = d.coin();
    if (C == 0 || d.coin()) options.scale = d.number(0.2, 1.5);  // the default is 1 / sqrt(C)
  }

  // The mask broadcasts to the scores, or it is (B, T, S), the same for each head. If B = H, three
  // axes would be ambiguous.
  bool per_batch_item() const {
    return options.num_heads > 1 && q[0] != options.num_heads && d.coin();
  }
  void add_mask() {
    const Shape whole = per_batch_item() ? Shape{q[0], q[1], k[1]} : scores;
    const Shape shape = d.narrowed(whole);
    options.mask = d.mask(shape.size() == 3 && whole.size() == 4 ? whole : shape);
  }
  // Grouped queries, padded keys, and, if causal, a window and keys from a cache. Needs rank 3.
  void add_variants() {
    const std::size_t H = options.num_heads, H_kv = options.num_kv_heads = divisor_of(d, H);
    k.back() = k.back() / H * H_kv;
    v.back() = v.back() / H * H_kv;
    if (d.coin()) options.key_padding = d.mask({k[0], k[1]});
    if (!options.causal) return;
    options.window = d.below(max_size + 2);
    if (k[1] > q[1]) options.past = d.below(k[1] - q[1] + 1);
  }
  // The case of f(x, options). A bias is the last input of the case and is moved into the options.
  template <class F>
  Case with(std::vector<Shape> shapes, bool biased, const F& f) {
    if (biased) shapes.push_back(d.narrowed(scores));
    if (biased && shapes.back().size() == 3 && scores.size() == 4)
      shapes.back() = per_batch_item() ? Shape{q[0], q[1], k[1]} : scores;
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
    return words("heads ", options.num_heads, ", of keys ", options.num_kv_heads,
                 options.causal ? ", causal" : "", ", softcap ", options.softcap, ", window ",
                 options.window, ", past ", options.past, options.key_padding ? ", padded" : "",
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

Case varied_attention_case(Draw& d) {
  AttentionDraw drawn(d);
  drawn.add_variants();
  return drawn.with({drawn.q, drawn.k, drawn.v}, false, attend);
}

Case masked_attention_case(Draw& d) {
  AttentionDraw drawn(d);
  const bool masked = d.coin(), biased = !masked || d.coin();
  if (masked) drawn.add_mask();
  if (d.coin()) drawn.options.softcap = d.number(0.5, 3);
  return drawn.with({drawn.q, drawn.k, drawn.v}, biased, attend);
}

// The output and the weights are one tensor, because a case has one output.
Case output_and_weights_case(Draw& d, bool varied) {
  AttentionDraw drawn(d);
  if (varied) drawn.add_variants();
  if (d.coin()) drawn.add_mask();
  return drawn.with(
      {drawn.q, drawn.k, drawn.v}, d.coin(), [](X x, const AttentionOptions& options) {
        const AttentionResult result = attention_with_weights(x[0], x[1], x[2], options);
        return concat({reshape(result.output, {-1}), reshape(result.weights, {-1})}, 0);
      });
}

Case weights_case(Draw& d, bool varied) {
  AttentionDraw drawn(d);
  if (varied) drawn.add_variants();
  if (d.coin()) drawn.add_mask();
  if (d.below(3) == 0) drawn.options.softcap = d.number(0.5, 3);
  return drawn.with({drawn.q, drawn.k}, d.coin(), [](X x, const AttentionOptions& options) {
    return attention_weights(x[0], x[1], options);
  });
}

}  // namespace

Rows attention_rows() {
  const auto with = [](Case (*make)(Draw&, bool), bool varied) {
    return [=](Draw& d) { return make(d, varied); };
  };
  return {{"scaled_dot_product_attention", 2, 4, attention_case},
          {"scaled_dot_product_attention, with heads", 3, 3, attention_case},
          {"scaled_dot_product_attention, masked or biased", 2, 4, masked_attention_case},
          {"scaled_dot_product_attention, grouped, padded, windowed", 3, 3, varied_attention_case},
          {"attention_with_weights", 2, 4, with(output_and_weights_case, false)},
          {"attention_with_weights, with heads", 3, 3, with(output_and_weights_case, false)},
          {"attention_with_weights, grouped, padded, windowed", 3, 3,
           with(output_and_weights_case, true)},
          {"attention_weights", 2, 4, with(weights_case, false)},
          {"attention_weights, with heads", 3, 3, with(weights_case, false)},
          {"attention_weights, grouped, padded, windowed", 3, 3, with(weights_case, true)},
          {"weighted_values", 2, 4, weighted_values_case},
          {"weighted_values, grouped", 4, 4, grouped_values_case},
          {"repeat_kv_heads", 4, 4, repeat_kv_heads_case},
          {"rotary_embedding", 2, 4, rotary_case},
          {"split_heads", 3, 3, split_heads_case},
          {"join_heads", 4, 4, one([](T x) { return join_heads(x); }, -1, 1)}};
}

TEST_CASE("the gradients of attention are right at random shapes",
          "[double][random_shapes][attention]") {
  check(attention_rows());
}

}  // namespace heed::test
