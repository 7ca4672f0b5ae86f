// 05 autograd: reverse-mode automatic differentiation by hand, and the first trained model.
//
// Before this lesson: 04_query_key_value, whose matrices were found by hand. School calculus is
// enough. After it: 06_backward_through_attention, the backward pass through matrices and softmax.
// Worth a breakpoint: propagate. Each stop is one node that passes its gradient to its inputs.

#include <algorithm>
#include <memory>

#include "estimate.hpp"
#include "harbour.hpp"
#include "micrograd.hpp"
#include "pictures.hpp"

using namespace heed;

// A node of the computation graph: a number, the operation that made it, and its inputs.
struct Number {
  using Input = std::pair<std::shared_ptr<Number>, double>;  // an input and the local derivative
  double data;
  std::string op;
  std::vector<Input> inputs;
  double grad = 0;  // the derivative of the result with respect to this number
};

// A handle of a node. A copy refers to the same node.
struct Scalar {
  Scalar(double data, std::string op = "leaf", std::vector<Number::Input> inputs = {})
      : number(new Number{data, std::move(op), std::move(inputs)}) {}
  double data() const { return number->data; }
  double grad() const { return number->grad; }
  std::shared_ptr<Number> number;
};

// Each operation records its inputs with its derivative with respect to each of them.
Scalar operator+(const Scalar& a, const Scalar& b) {
  return {a.data() + b.data(), "+", {{a.number, 1}, {b.number, 1}}};
}
Scalar operator*(const Scalar& a, const Scalar& b) {
  return {a.data() * b.data(), "*", {{a.number, b.data()}, {b.number, a.data()}}};
}
Scalar power(const Scalar& x, double p) {
  return {std::pow(x.data(), p), "power", {{x.number, p * std::pow(x.data(), p - 1)}}};
}
Scalar relu(const Scalar& x) {  // max(x, 0)
  return {std::max(x.data(), 0.0), "relu", {{x.number, x.data() > 0 ? 1 : 0}}};
}
Scalar operator-(const Scalar& x) { return x * -1; }
Scalar operator-(const Scalar& a, const Scalar& b) { return a + -b; }
Scalar operator/(const Scalar& a, const Scalar& b) { return a * power(b, -1); }

// The chain rule: the node's gradient times each local derivative is added to the input's gradient.
void propagate(const Number& number) {
  for (const auto& [input, local] : number.inputs) input->grad += number.grad * local;
}

// Appends the nodes that `last` depends on, then `last`: a topological order, inputs first.
void collect(Number* last, std::vector<Number*>& order) {
  if (std::find(order.begin(), order.end(), last) != order.end()) return;
  for (const Number::Input& input : last->inputs) collect(input.first.get(), order);
  order.push_back(last);
}

void backward(const Scalar& result) {
  std::vector<Number*> order;
  collect(result.number.get(), order);
  result.number->grad = 1;
  for (auto number = order.rbegin(); number != order.rend(); ++number) propagate(**number);
}

void one_backward_pass() {
  section("One backward pass");
  const Scalar a = 2, b = -3, s = a + b, f = s * b;
  backward(f);
  const Named<Scalar> nodes = {{"a", a}, {"b", b}, {"s", s}, {"f", f}};
  show_data_and_grad(nodes);
  say();
  picture("05_autograd", "graph", drawn(nodes));
  say();
  check_on_paper(a, b);
}

void gradient_descent() {
  section("Gradient descent");
  say("learning rate       x after 0, 1, ... 5 steps");
  for (const double learning_rate : {0.1, 1.1}) {
    double x = 3;
    std::string line = decimal(learning_rate, 1) + "       " + column(x);
    for (int step = 1; step <= 5; ++step) {
      const Scalar now = x;
      backward(now * now);
      x -= learning_rate * now.grad();
      line += column(x);
    }
    say(line);
  }
  say();
}

// The cross-entropy of the bigram model: row x of `logits` has the scores of the tokens after x.
Tensor loss_of(const Tensor& logits, const Batch& batch) {
  return cross_entropy(embedding(batch.inputs, logits), batch.targets);  // (B, T, V) and (B, T)
}

// Trains a model. Its held-out loss after each quarter of the steps becomes a column of `losses`.
Tensor train(const Harbour& play, std::uint64_t seed, std::int64_t steps, Array& losses) {
  const Tensor logits(zeros({play.vocab_size(), play.vocab_size()}), /*requires_grad=*/true);
  Generator generator(seed);
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (step % (steps / 4) == 0)
      losses(4 * step / steps, seed - 1) = loss_of(logits, play.held_out_windows(32)).item();
    const double learning_rate = step < steps * 3 / 4 ? 50 : 10;
    logits.clear_grad();
    backward(loss_of(logits, play.batch(32, 32, generator)));
    logits.mutable_value() -= Real(learning_rate) * logits.grad();
  }
  return logits;
}

// The logarithms of how often each token follows each other one are the logits of the counts.
// Unseen pairs count as 0.01: with 0, a single one in the held-out text makes the loss infinite.
Tensor counted_logits(const Harbour& play) {
  const Batch pairs = play.training_pairs();
  Array counts = filled({play.vocab_size(), play.vocab_size()}, Real(0.01));
  for (std::size_t i = 0; i < pairs.inputs.size(); ++i)
    counts(pairs.inputs(i), pairs.targets(i)) += 1;
  return Tensor(Array(xt::log(counts)), /*requires_grad=*/true);
}

Tensor first_model(const Harbour& play, const Tensor& counted) {
  section("The first model");
  const std::int64_t steps = in_brief(1000, 400);
  Array losses = zeros({5, 3});
  std::vector<Tensor> models;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    models.push_back(train(play, seed, steps, losses));
  show_trained("held-out loss", losses, quarters(steps), {"seed 1", "seed 2", "seed 3"});
  const double loss = loss_of(counted, play.held_out_windows(32)).item();
  const Estimate mean = estimate({losses(4, 0), losses(4, 1), losses(4, 2)});
  say({{"counted", decimal(loss, 3)},
       {"trained", trained(mean.mean, 3)},
       {"error", trained(mean.standard_error, 4)}});
  guard("the models are within 0.05 of the counts", mean.mean < loss + 0.05, decimal(mean.mean, 4));
  say();
  picture_of_letters(play, models[0], counted);
  return models[0];
}

void first_text(const Harbour& play, const Tensor& trained_logits) {
  section("The first text");
  Generator generator(4);
  for (const Tensor& logits : {Tensor(zeros(trained_logits.shape())), trained_logits}) {
    const LanguageModel model = [&](const Indices& tokens) { return embedding(tokens, logits); };
    quote(play.sample(model, 200, 1, generator));
    say();
  }
}

void gradient_at_the_counts(const Harbour& play, const Tensor& counted) {
  const Batch pairs = play.training_pairs();
  backward(loss_of(counted, pairs));
  const double rest = 0.01 * double(play.vocab_size()) / double(pairs.inputs.size());
  check("the gradient at the counts = 0", counted.grad(), zeros(counted.shape()), rest);
}

void order_of_nodes() {
  const Scalar early = 1, early_b = early + early;
  early_b.number->grad += 1, propagate(*early_b.number);  // the first use
  say("b has passed on after its first use   " + column(early.grad()));
  early_b.number->grad += 1, propagate(*early_b.number);  // the second use
  say("b has passed on after each use        " + column(early.grad()));
  const Scalar a = 1, b = a + a;
  backward(b + b);
  say("b waits for both uses                 " + column(a.grad()));
  say();
}

int main() {
  opening();
  section("The chain rule");
  one_backward_pass();
  gradient_descent();
  const Harbour play;
  const Tensor counted = counted_logits(play);
  first_text(play, first_model(play, counted));
  if (appendix("Why descent ends at the counts")) gradient_at_the_counts(play, counted);
  if (appendix("The same by heed")) show_graph_of_heed();
  if (appendix("Why the order matters")) order_of_nodes();
  if (appendix("A formula with 29 operations")) large_formula<Scalar>();
  ending();
}
