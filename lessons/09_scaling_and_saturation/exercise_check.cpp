// Tests exercise 09 predict: computes each answer with the engine, and compares the predictions
// with it.

#include <cmath>

#include "exercise.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/softmax.hpp"

using namespace heed;

std::vector<double> predictions();

namespace {

// The measured answer, the allowed error of a prediction, and where the lesson explains it.
struct Answer {
  std::string question;
  double measured, tolerance;
  std::string explained_in;
};

Array weights_of(const Array& scores) { return softmax(Tensor(scores), -1).value(); }

const Real ln3 = std::log(Real(3));

// The standard deviation of q.k / divisor, for 5000 random pairs of 256 numbers each.
double standard_deviation(double divisor) {
  Generator g(6);
  const Tensor q(g.randn({5000, 256})), k(g.randn({5000, 256}));
  const Tensor scores = sum(q * k, {1}) / divisor;  // (5000)
  return std::sqrt(mean(scores * scores).item() - std::pow(mean(scores).item(), 2));
}

// The ratio p_1 / p_2 of the weights of a two-dimensional query that has a third key, too. If
// `factor` is 1, then s_1 = s_2 + ln 3.
double ratio_of_weights(double factor) {
  const Tensor query(Array{{Real(factor), Real(factor)}});
  AttentionOptions options;
  options.scale = 1;
  const Tensor keys(Array{{ln3, Real(0.5)}, {0, Real(0.5)}, {-1, 1}});
  const Array p = attention_weights(query, keys, options).value();  // (1, 3)
  return p(0, 0) / p(0, 1);
}

// The weight of position 0 for itself in five positions with a causal mask.
double first_weight() {
  AttentionOptions options;
  options.causal = true, options.scale = 1;
  Array keys = filled({5, 1}, 50);
  keys(0, 0) = -50;
  return attention_weights(Tensor(ones({5, 1})), Tensor(keys), options).value()(0, 0);
}

// dp_i / ds_j for all i and j, by the backward pass of softmax: row i is the gradient of p_i.
Array jacobian(const Array& scores) {
  const std::size_t n = scores.size();
  Array derivatives = zeros({n, n});
  for (std::size_t i = 0; i < n; ++i) {
    Tensor s(scores, /*requires_grad=*/true);
    Array upstream = zeros({n});
    upstream(i) = 1;
    backward(softmax(s, 0), upstream);
    xt::row(derivatives, int(i)) = s.grad();
  }
  return derivatives;
}

// The index of the row of scores whose Jacobian has the largest norm.
double largest_jacobian() {
  double best = 0, largest = -1;
  for (const int row : {1, 2, 3}) {
    const Array J = jacobian({0, Real(row == 3 ? 20 : 0), Real(row == 1 ? 0 : 20)});
    const double norm = std::sqrt(xt::sum(J * J)());
    if (norm > largest) largest = norm, best = row;
  }
  return best;
}

std::vector<Answer> measured_answers() {
  const double deviation = standard_deviation(1), variance = deviation * deviation;
  const Array before = weights_of({1, 2, 3}), after = weights_of({6, 7, 8});
  const Array copies = weights_of({ln3, 0, ln3});
  const double ln19 = std::log(19.0);  // softmax of (ln 19, 0) is (0.95, 0.05)
  return {{"1. variance of q.k", variance, 0.1 * variance, "lesson 09, The variance of a score"},
          {"2. standard deviation of q.k / sqrt(d)", standard_deviation(16), 0.05,
           "lesson 09, The variance of a score"},
          {"3. p_1 of four equal scores", weights_of({-7, -7, -7, -7})(0), 1e-3,
           "lesson 03, where softmax is introduced"},
          {"4. growth of p_3 if 5 is added to all scores", double(after(2)) - before(2), 1e-3,
           "lesson 03 and exercise 03: e^5 is a factor of all terms and cancels"},
          {"5. p_1 / p_2 if s_1 = s_2 + ln 3", ratio_of_weights(1), 1e-3,
           "lesson 03: p_1 / p_2 = e^s_1 / e^s_2 = e^(s_1 - s_2)"},
          {"6. p_1 / p_2 if the query is doubled", ratio_of_weights(2), 1e-3,
           "lesson 09, Softmax saturates: weights to the power of the factor"},
          {"7. weight of position 0 for itself", first_weight(), 1e-3,
           "lesson 04, From scores to attention weights: one key remains"},
          {"8. derivative of p_1 = 0.95 with respect to s_1", jacobian({Real(ln19), 0})(0, 0), 1e-3,
           "lesson 09, The gradient vanishes"},
          {"9. row with the largest Jacobian", largest_jacobian(), 0,
           "lesson 09, The gradient vanishes; differences of scores saturate, "
           "not large scores: row 3 is nearly 0, 1/2, 1/2"},
          {"10. weight of both copies of a key", double(copies(0)) + copies(2), 1e-3,
           "lesson 03: 3 / (3 + 1) becomes (3 + 3) / (3 + 1 + 3)"}};
}

std::size_t missing(const std::vector<double>& numbers) {
  std::size_t count = 0;
  for (const double number : numbers) count += std::isnan(number) ? 1 : 0;
  return count;
}

void compare(const Answer& answer, double predicted) {
  expect(answer.question, std::abs(predicted - answer.measured) <= answer.tolerance,
         "you predicted " + decimal(predicted, 4) + ", measured " + decimal(answer.measured, 4) +
             "\nexplained in " + answer.explained_in);
}

}  // namespace

int main() {
  const std::vector<double> predicted = predictions();
  const std::size_t open = missing(predicted);
  expect("all ten predictions are written down", open == 0,
         std::to_string(open) + " are still NAN; nothing is computed before you predict");
  if (open > 0) return verdict();
  const std::vector<Answer> answers = measured_answers();
  for (std::size_t n = 0; n < answers.size(); ++n) compare(answers[n], predicted.at(n));
  return verdict();
}
