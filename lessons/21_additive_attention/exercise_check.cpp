// Tests exercise 21 both_paths: compares weights, context vectors and gradients with those of
// autograd, for several sizes, and says which path of the gradient is missing.

#include <cmath>
#include <limits>

#include "additive.hpp"
#include "exercise.hpp"
#include "heed/ops/mask.hpp"

using namespace heed;

Attention attention(const Inputs& x);
Gradients gradients(const Inputs& x, const Array& dc);

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Sizes {
  std::size_t S, A, C, D;
};

Inputs random_inputs(std::uint64_t seed, const std::vector<std::size_t>& lengths, const Sizes& n) {
  Generator g(seed);
  const std::size_t B = lengths.size();
  return {g.randn({B, n.C}),   g.randn({B, n.S, n.D}), g.randn({n.A, n.C}),
          g.randn({n.A, n.D}), g.randn({n.A}),         lengths};
}

// True at padding: (B, S).
Mask padding_of(const Inputs& x) {
  Mask padding = mask({x.H.shape(0), x.H.shape(1)});
  for (std::size_t b = 0; b < x.H.shape(0); ++b)
    for (std::size_t j = x.lengths[b]; j < x.H.shape(1); ++j) padding(b, j) = true;
  return padding;
}

// The weights and the context vectors as tensors that know how they were computed. `values` (B, S,
// D) are weighted, `keys` (B, S, D) are scored; usually both are H.
struct Graph {
  Graph(const Inputs& x, const Tensor& s, const Tensor& keys, const Tensor& values, const Tensor& W,
        const Tensor& U, const Tensor& v) {
    const Tensor hidden = tanh(unsqueeze(linear(s, W), 1) + linear(keys, U));  // (B, S, A)
    const Tensor scores = squeeze(matmul(hidden, unsqueeze(v, -1)), -1);       // (B, S)
    weights = softmax(masked_fill(scores, padding_of(x), -infinity), -1);
    context = squeeze(matmul(unsqueeze(weights, 1), values), 1);  // (B, D)
  }
  Tensor weights, context;
};

Attention expected_attention(const Inputs& x) {
  const Tensor H(x.H);
  const Graph graph(x, Tensor(x.s), H, H, Tensor(x.W), Tensor(x.U), Tensor(x.v));
  return {graph.weights.value(), graph.context.value()};
}

struct Expected {
  Gradients all;
  Array as_value, as_key;  // the two parts of the gradient of H
};

Tensor leaf(const Array& x) { return Tensor(x, /*requires_grad=*/true); }

Expected expected_gradients(const Inputs& x, const Array& dc) {
  const Tensor s = leaf(x.s), keys = leaf(x.H), values = leaf(x.H), W = leaf(x.W), U = leaf(x.U),
               v = leaf(x.v);
  backward(Graph(x, s, keys, values, W, U, v).context, dc);
  return {{s.grad(), keys.grad() + values.grad(), W.grad(), U.grad(), v.grad()},
          values.grad(),
          keys.grad()};
}

bool is_close(const Array& a, const Array& b) { return xt::allclose(a, b, 1e-4, 1e-4); }

void judge_attention(const std::string& name, const Inputs& x) {
  const Attention got = attention(x), right = expected_attention(x);
  expect(name + ": the weights", got.weights, right.weights);
  expect(name + ": the context vectors", got.context, right.context, 1e-4);
}

void judge_gradients(const std::string& name, const Inputs& x, std::uint64_t seed) {
  Generator g(seed);
  const Array dc = g.randn({x.H.shape(0), x.H.shape(2)});
  const Gradients got = gradients(x, dc);
  const Expected right = expected_gradients(x, dc);
  expect(name + ": the gradient of v", got.v, right.all.v, 1e-4);
  expect(name + ": the gradient of W", got.W, right.all.W, 1e-4);
  expect(name + ": the gradient of U", got.U, right.all.U, 1e-4);
  expect(name + ": the gradient of s", got.s, right.all.s, 1e-4);
  expect(name + ": the gradient of H", got.H, right.all.H, 1e-4);
  if (shape_of(got.H) != shape_of(x.H) || is_close(got.H, right.all.H)) return;
  if (is_close(got.H, right.as_value)) say("           as if h_j were a value only, and no key");
  if (is_close(got.H, right.as_key)) say("           as if h_j were a key only, and no value");
}

// A change of one encoder state must change its weight, unless it is padding.
void change_encoder_states(const Inputs& x) {
  const Array before = attention(x).weights;
  for (std::size_t b = 0; b < x.H.shape(0); ++b)
    for (std::size_t j = 0; j < x.H.shape(1); ++j) {
      Inputs changed = x;
      for (std::size_t d = 0; d < x.H.shape(2); ++d) changed.H(b, j, d) += d % 2 == 0 ? 1 : -1;
      const Array after = attention(changed).weights;
      const double change = std::abs(double(after(b, j)) - double(before(b, j)));
      const std::string state = "h_" + std::to_string(j) + " of line " + std::to_string(b);
      if (j < x.lengths[b])
        expect("another " + state + " has another weight", change > 1e-6,
               "its weight does not depend on it");
      else
        expect(state + " is padding: it changes no weight", xt::allclose(after, before, 0, 0),
               "a weight changes");
    }
}

// Fills the padding with any numbers: the gradients of all parameters must stay the same.
void judge_padding(const Inputs& x) {
  Inputs other = x;
  for (std::size_t b = 0; b < x.H.shape(0); ++b)
    for (std::size_t j = x.lengths[b]; j < x.H.shape(1); ++j)
      for (std::size_t d = 0; d < x.H.shape(2); ++d) other.H(b, j, d) = 1000;
  const Array dc = ones({x.H.shape(0), x.H.shape(2)});
  const Gradients a = gradients(x, dc), b = gradients(other, dc);
  expect("other numbers in the padding change no gradient",
         is_close(a.v, b.v) && is_close(a.W, b.W) && is_close(a.U, b.U) && is_close(a.s, b.s) &&
             is_close(a.H, b.H),
         "one changes");
}

}  // namespace

int main() {
  const Inputs two = random_inputs(1, {4, 3}, {4, 3, 2, 5}),
               three = random_inputs(2, {7, 2, 5}, {7, 8, 6, 3}),
               single = random_inputs(3, {1, 5}, {5, 4, 3, 2});
  Inputs saturated = random_inputs(4, {6, 6}, {6, 5, 4, 3});
  saturated.W *= Real(4), saturated.U *= Real(4), saturated.v *= Real(4);
  judge_attention("two lines", two);
  change_encoder_states(two);
  judge_attention("three lines with padding", three);
  judge_attention("a line of a single position", single);
  judge_attention("large scores", saturated);
  judge_gradients("one line", random_inputs(5, {4}, {4, 3, 2, 5}), 11);
  judge_gradients("two lines", two, 12);
  judge_gradients("three lines with padding", three, 13);
  judge_gradients("a line of a single position", single, 14);
  judge_gradients("large scores", saturated, 15);
  judge_padding(three);
  return verdict();
}
