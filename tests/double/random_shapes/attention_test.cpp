// attention_test.cpp: gradients of attention at random shapes.

#include "heed/ops/attention.hpp"

#include "catch.hpp"
#include "heed/ops/shape.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

std::size_t heads_of(Draw& d, std::size_t C) {
  std::vector<std::size_t> divisors;
  for (std::size_t heads = 1; heads <= max_size; ++heads)
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
    if (C == 0 || d.coin()) options.scale = d.number(0.2, 1.5);  // the default is 1 / sqrt(C)
  }

  // The mask broadcasts to the scores, or it is (B, T, S), the same for each head.
  void add_mask() {
    const bool per_batch = options.num_heads > 1 && d.coin();
    const Shape whole = per_batch ? Shape{q[0], q[1], k[1]} : scores;
    const Shape shape = d.narrowed(whole);
    options.mask = d.mask(shape.size() == 3 && whole.size() == 4 ? whole : shape);
  }
  // The case of f(x, options). A bias is the last input of the case and is moved into the options.
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

// The output and the weights are one tensor, because a case has one output.
Case output_and_weights_case(Draw& d) {
  AttentionDraw drawn(d);
  if (d.coin()) drawn.add_mask();
  return drawn.with(
      {drawn.q, drawn.k, drawn.v}, d.coin(), [](X x, const AttentionOptions& options) {
        const AttentionResult result = attention_with_weights(x[0], x[1], x[2], options);
        return concat({reshape(result.output, {-1}), reshape(result.weights, {-1})}, 0);
      });
}

Case weights_case(Draw& d) {
  AttentionDraw drawn(d);
  if (d.coin()) drawn.add_mask();
  return drawn.with({drawn.q, drawn.k}, d.coin(), [](X x, const AttentionOptions& options) {
    return attention_weights(x[0], x[1], options);
  });
}

}  // namespace

Rows attention_rows() {
  return {{"scaled_dot_product_attention", 2, 4, attention_case},
          {"scaled_dot_product_attention, with heads", 3, 3, attention_case},
          {"scaled_dot_product_attention, masked or biased", 2, 4, masked_attention_case},
          {"attention_with_weights", 2, 4, output_and_weights_case},
          {"attention_with_weights, with heads", 3, 3, output_and_weights_case},
          {"attention_weights", 2, 4, weights_case},
          {"attention_weights, with heads", 3, 3, weights_case},
          {"split_heads", 3, 3, split_heads_case},
          {"join_heads", 4, 4, one([](T x) { return join_heads(x); }, -1, 1)}};
}

TEST_CASE("the gradients of attention are right at random shapes",
          "[double][random_shapes][attention]") {
  check(attention_rows());
}

}  // namespace heed::test
