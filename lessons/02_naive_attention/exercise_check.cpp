// Tests exercise 02 convex_weights: the verdicts on twelve matrices of weights, and the outputs of
// four.

#include <cmath>
#include <limits>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

bool is_convex(const Array& weights);
Array outputs(const Array& weights, const Array& X);

namespace {

struct Weights {
  std::string what;
  Array weights;
  bool convex;
};

void check_verdict(const Weights& each) {
  const std::string is = each.convex ? "convex: " : "not convex: ";
  expect(is + each.what, is_convex(each.weights) == each.convex,
         std::string("your is_convex says ") + (each.convex ? "false" : "true"));
}

// (100, 100): row t has the weight 1 / (t + 1) for the positions 0 to t. The row sums are rounded.
Array causal_mean() {
  Array weights = zeros({100, 100});
  for (std::size_t t = 0; t < 100; ++t)
    for (std::size_t s = 0; s <= t; ++s) weights(t, s) = 1 / Real(t + 1);
  return weights;
}

void check_outputs(const std::string& what, const Array& weights, const Array& X) {
  const Array got = outputs(weights, X);
  const Shape expected = {weights.shape(0), X.shape(1)};
  expect(what + ": the shape of the outputs is " + str(expected), shape_of(got) == expected,
         "your shape is " + str(shape_of(got)));
  if (shape_of(got) != expected) return;
  expect(what + ": each row is its weighted sum", got, xt::linalg::dot(weights, X), 1e-4);
}

}  // namespace

int main() {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Array by_hand = {{0.8F, 0.1F, 0.1F}, {0.3F, 0.6F, 0.1F}, {0.1F, 0.7F, 0.2F}};
  const Array negative = {{0.5F, 0.5F, 0}, {1.8F, -0.4F, -0.4F}};
  const Array columns = {{0.7F, 0.9F}, {0.3F, 0.1F}};
  const std::vector<Weights> all = {
      {"weights chosen by hand", by_hand, true},
      {"a row with the weights 1.8, -0.4, -0.4", negative, false},
      {"one-hot rows", {{0, 1, 0}, {1, 0, 0}}, true},
      {"rows that sum to 1.1", {{0.5F, 0.6F}, {0.6F, 0.5F}}, false},
      {"rows that sum to 0.9", {{0.5F, 0.4F}, {0.4F, 0.5F}}, false},
      {"row sums 1.5 and 0.5, together 2", {{1, 0.5F}, {0.25F, 0.25F}}, false},
      {"columns that sum to one, but not the rows", columns, false},
      {"rows that sum to one, but not the columns", xt::transpose(columns), true},
      {"the scores of x and -0.9 x, divided by their sum", {{10, -9}, {10, -9}}, false},
      {"the causal mean of 100 tokens, with rounded sums", causal_mean(), true},
      {"a last row of zeros", {{1, 0}, {0, 0}}, false},
      {"a row with NaN", {{0.5F, 0.5F}, {nan, nan}}, false},
  };
  for (const Weights& each : all) check_verdict(each);
  Generator g(2);
  const Array x = {2, 1};
  check_outputs("weights chosen by hand", by_hand, g.randn({3, 2}));
  check_outputs("two rows of weights for three tokens", negative, g.randn({3, 4}));
  check_outputs("x and -0.9 x", {{10, -9}, {10, -9}}, xt::stack(xt::xtuple(x, -0.9 * x)));
  check_outputs("the causal mean", causal_mean(), g.randn({100, 3}));
  return verdict();
}
