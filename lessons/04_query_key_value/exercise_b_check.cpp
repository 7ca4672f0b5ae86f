// Tests exercise 04b attention_end_to_end: compares it with the engine for several sizes, and
// searches for leaks from later tokens.

#include <cmath>
#include <cstring>

#include "exercise.hpp"
#include "heed/array/shape.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/matmul.hpp"

using namespace heed;

Array attention_head(const Array& X, const Array& W_Q, const Array& W_K, const Array& W_V);

namespace {

struct Input {
  Array X, W_Q, W_K, W_V;
};

Array readers_output(const Input& in) { return attention_head(in.X, in.W_Q, in.W_K, in.W_V); }

Array expected_output(const Input& in) {
  const Tensor X(in.X);
  AttentionOptions causal;
  causal.causal = true;
  return scaled_dot_product_attention(matmul(X, Tensor(in.W_Q)), matmul(X, Tensor(in.W_K)),
                                      matmul(X, Tensor(in.W_V)), causal)
      .value();
}

Input random_input(std::uint64_t seed, std::size_t T, std::size_t d, std::size_t d_k,
                   std::size_t d_v) {
  Generator g(seed);
  return {g.randn({T, d}), g.randn({d, d_k}), g.randn({d, d_k}), g.randn({d, d_v})};
}

// Integers below `limit`, so small that the scores computed from them in float are exact.
Array whole_numbers(Generator& g, std::int64_t limit, const Shape& shape) {
  const Indices numbers = g.randint(1 - limit, limit, {shape[0], shape[1]});
  return xt::cast<Real>(numbers);
}

// Scores up to 100000, since d_k = 4. If `negative`, each query's score with its own key is below
// 0.
Input large_input(bool negative) {
  Generator g(55);
  Input in = {whole_numbers(g, 4, {6, 5}), whole_numbers(g, 16, {5, 4}),
              whole_numbers(g, 16, {5, 4}), g.randn({5, 3})};
  if (negative) in.W_K = -in.W_Q;
  return in;
}

std::string sizes_of(const Input& in) {
  const auto size = [](const Array& x, std::size_t axis) { return std::to_string(x.shape(axis)); };
  return "T = " + size(in.X, 0) + ", d = " + size(in.X, 1) + ", d_k = " + size(in.W_Q, 1) +
         ", d_v = " + size(in.W_V, 1);
}

// Replaces the tokens from s on by random vectors. Returns the first row before s that has changed
// in any bit, or s if there is none.
std::size_t first_changed_row(const Input& in, std::size_t s, double factor, const Array& before) {
  Input other = in;
  const Array noise = Generator(s).normal(shape_of(in.X), 0, factor);
  xt::view(other.X, xt::range(s, in.X.shape(0))) = xt::view(noise, xt::range(s, in.X.shape(0)));
  const Array after = readers_output(other);
  if (shape_of(after) != shape_of(before)) return 0;
  std::size_t t = 0;
  while (t < s && std::memcmp(&before(t, 0), &after(t, 0), before.shape(1) * sizeof(Real)) == 0)
    ++t;
  return t;
}

std::string leak(const Input& in, double factor) {
  const Array before = readers_output(in);
  if (before.dimension() != 2 || before.shape(0) != in.X.shape(0)) return "it has another shape";
  for (std::size_t s = 1; s < in.X.shape(0); ++s) {
    const std::size_t t = first_changed_row(in, s, factor, before);
    if (t < s)
      return "row " + std::to_string(t) + " changes when token " + std::to_string(s) + " changes";
  }
  return "";
}

}  // namespace

int main() {
  const Input inputs[] = {random_input(1, 3, 5, 4, 2), random_input(2, 6, 2, 3, 7),
                          random_input(3, 4, 7, 1, 3), random_input(4, 2, 3, 9, 1),
                          random_input(5, 1, 3, 2, 4), random_input(6, 11, 8, 6, 5)};
  for (const Input& in : inputs) expect(sizes_of(in), readers_output(in), expected_output(in));
  const Input large = large_input(false), negative = large_input(true);
  expect("scores up to 100000", readers_output(large), expected_output(large));
  expect("scores below zero, to -100000", readers_output(negative), expected_output(negative));
  for (const double factor : {0.01, 1.0, 1000.0, 1e6}) {
    const std::string found = leak(inputs[5], factor);
    expect("random later tokens, size " + decimal(factor, factor < 1 ? 2 : 0) +
               ": no bit of an earlier row changes",
           found.empty(), found);
  }
  return verdict();
}
