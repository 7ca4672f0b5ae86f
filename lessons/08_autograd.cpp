// 08 autograd: reverse-mode automatic differentiation, written out for single numbers.
//
// Before this lesson: 07_causal_mask, which used derivatives. No calculus is needed.
// After it: 09_backward_through_attention, the backward pass through the matrices of attention.
// Worth a breakpoint: propagate. Each stop is one node that passes its gradient to its inputs.

#include <algorithm>
#include <memory>

#include "08_helpers.hpp"

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
struct Value {
  Value(double data, std::string op = "leaf", std::vector<Number::Input> inputs = {})
      : number(new Number{data, std::move(op), std::move(inputs)}) {}
  double data() const { return number->data; }
  double grad() const { return number->grad; }
  std::shared_ptr<Number> number;
};
using NamedValues = std::vector<std::pair<std::string, Value>>;

// Each operation records its inputs with its derivative with respect to each of them.
Value operator+(const Value& a, const Value& b) {
  return {a.data() + b.data(), "+", {{a.number, 1}, {b.number, 1}}};
}
Value operator*(const Value& a, const Value& b) {
  return {a.data() * b.data(), "*", {{a.number, b.data()}, {b.number, a.data()}}};
}
Value power(const Value& x, double p) {
  return {std::pow(x.data(), p), "power", {{x.number, p * std::pow(x.data(), p - 1)}}};
}
Value relu(const Value& x) {  // max(x, 0)
  return {std::max(x.data(), 0.0), "relu", {{x.number, x.data() > 0 ? 1 : 0}}};
}
Value operator-(const Value& x) { return x * -1; }
Value operator-(const Value& a, const Value& b) { return a + -b; }
Value operator/(const Value& a, const Value& b) { return a * power(b, -1); }

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

void backward(const Value& result) {
  std::vector<Number*> order;
  collect(result.number.get(), order);
  result.number->grad = 1;
  for (auto number = order.rbegin(); number != order.rend(); ++number) propagate(**number);
}

void finite_differences() {
  section("Finite differences");
  say("Training needs the derivative (lesson 07) of the loss with respect to each",
      "number of W_Q, W_K and W_V. Take f(x) = x^2 at x = 3. A FINITE DIFFERENCE is the",
      "growth of f for a step h, divided by h:");
  show_differences_of_square(3);
  say("", "The growth is 2xh + h^2, so the derivative is 2x, here 6. Finite differences",
      "evaluate the formula once more for each input, and the model of `./heed train`",
      "has 803,968 parameters. The method of this lesson needs one pass for all.");
}

void order_of_nodes() {
  section("The order of the nodes");
  say("Let b = a + a and c = b + b, so dc/da = 4. b receives 1 from each of its uses.",
      "If b passes its gradient on too early, the gradient of a is wrong. So backward()",
      "visits a topological order in reverse: b waits for both uses.", "");
  Value ea = 1, eb = ea + ea;
  eb.number->grad += 1, propagate(*eb.number);  // the first use
  say("b passes on after its first use only  " + padded(ea.grad()));
  eb.number->grad += 1, propagate(*eb.number);  // the second use
  say("b passes on after each use            " + padded(ea.grad()));
  Value oa = 1, ob = oa + oa;
  backward(ob + ob);
  say("b waits for both uses                 " + padded(oa.grad()));
}

void gradient_accumulation() {
  section("Gradient accumulation");
  say("GRADIENT ACCUMULATION: backward adds to the gradients of the leaves, also in a",
      "second pass. So a large batch can be computed in parts. Before a new step, clear",
      "the gradients. Here is x * x at x = 3:", "");
  Tensor x = leaf(3);
  backward(x * x);
  say("after one backward   " + padded(grad(x)));
  backward(x * x);
  say("after another        " + padded(grad(x)));
  x.clear_grad();
  backward(x * x);
  say("cleared, then again  " + padded(grad(x)));
}

void gradcheck(double derivative) {
  section("Gradcheck");
  say("GRADCHECK compares the gradient of a backward pass with finite differences. The",
      "central difference (g(a + h) - g(a - h)) / 2h, for micrograd's example:");
  show_central_differences(derivative);
  say("", "With h ten times smaller the error is a hundred times smaller: its order is h^2.",
      "Below 1e-5 rounding errors dominate, because they are divided by 2h. heed's",
      "tests check every operation in this way.");
}

void gradient_descent() {
  section("Gradient descent");
  say("Each gradient descent step (lesson 06) subtracts the gradient times the learning",
      "rate, here 0.00002. g = f / 2 + 10 / f has its minimum 4.4721 at f = sqrt(20).", "",
      "step         a         b         g");
  const double learning_rate = 2e-5;
  double now_a = -4, now_b = 2;
  for (int step = 0; step <= 10; ++step) {
    Value la = now_a, lb = now_b, lg = micrograd_example(la, lb);
    backward(lg);
    if (step % 2 == 0)
      say(pad_left(std::to_string(step), 4) + padded(now_a) + padded(now_b) + padded(lg.data()));
    now_a -= learning_rate * la.grad();
    now_b -= learning_rate * lb.grad();
  }
}

int main() {
  opening({"compute all derivatives of a formula in one backward pass",
           "df/dx = sum of df/du * du/dx over all u that are computed from x\n"
           "f, u, x: numbers, shape ()",
           "reverse mode: Baydin et al. 2018, Automatic Differentiation in\n"
           "Machine Learning: a Survey, section 3.2",
           "Tensor.backward, Tensor.grad, torch.autograd.gradcheck"});
  finite_differences();
  section("The computation graph and the chain rule");
  say("Let s = a + b and f = s b, with a = 2 and b = -3, so s = -1 and f = 3. This",
      "COMPUTATION GRAPH has a node for each number and an edge from each input of an",
      "operation to its result. Each edge has a local derivative:", "",
      "  s = a + b    ds/da = 1         ds/db = 1",
      "  f = s b      df/ds = b = -3    df/db = s = -1", "",
      "The CHAIN RULE: multiply the local derivatives along each path, add the paths.", "",
      "  df/da = -3 * 1      = -3    path a, s, f",
      "  df/db = -3 * 1 + -1 = -4    paths b, s, f and b, f", "",
      "heed's Tensors record this graph, with the line of source that made each node:", "");
  Tensor a = leaf(2).set_name("a"), b = leaf(-3).set_name("b");
  Tensor s = (a + b).set_name("s"), f = (s * b).set_name("f");
  std::cout << graph_text(f);
  backward(f);
  check("df/da and df/db, by hand = by heed", two(-3, -4), two(grad(a), grad(b)));
  section("Reverse mode");
  say("backward() in this file sets df/df = 1. Then it visits the nodes from the result",
      "back to the leaves, and does at each node, for each of its inputs:", "",
      "  input.grad += node.grad * local derivative", "",
      "This BACKWARD PASS computes df/dx for every x. The method is called",
      "REVERSE-MODE AUTOMATIC DIFFERENTIATION. (The derivatives of several outputs form",
      "a matrix, their JACOBIAN. For one output it has one row, the gradient.)");
  Value va = 2, vb = -3, vs = va + vb, vf = vs * vb;
  backward(vf);
  const NamedValues values = {{"a", va}, {"b", vb}, {"s", vs}, {"f", vf}};
  show_values(values);
  check("by hand = by our engine", two(-3, -4), two(va.grad(), vb.grad()));
  say("");
  picture("08_autograd", "graph", drawn(values));
  section("A larger example");
  say("The README of micrograd (Karpathy 2020) has the formula micrograd_example (in",
      "08_helpers.hpp). It contains relu(x) = max(x, 0), a NONLINEARITY, also called",
      "activation: a function of each number alone that is not linear. For a = -4 and b",
      "= 2 the README has g = 24.7041, dg/da = 138.8338 and dg/db = 645.5773.", "");
  Value wa = -4, wb = 2, wg = micrograd_example(wa, wb);
  backward(wg);
  Tensor ta = leaf(-4), tb = leaf(2), tg = micrograd_example(ta, tb);
  backward(tg);
  say("               g     dg/da     dg/db",
      "ours  " + padded(wg.data()) + padded(wa.grad()) + padded(wb.grad()),
      "heed  " + padded(tg.item()) + padded(grad(ta)) + padded(grad(tb)));
  check("ours = heed, in float", two(wa.grad(), wb.grad()), two(grad(ta), grad(tb)), 1e-3);
  order_of_nodes();
  gradient_accumulation();
  gradcheck(wa.grad());
  gradient_descent();
  say("", "Next, the backward pass through matrices and softmax:",
      "09_backward_through_attention. To watch the backward pass of this lesson: ./heed",
      "debug 8, and in gdb: break propagate, continue, print number.op, print",
      "number.grad. To stop in heed's engine: break heed::Multiply::backward, continue.",
      "There `heed graph` prints the nodes, and `heed step` runs to the next one.");
  questions("In propagate, replace += by =. Which derivative of f = (a + b) b is wrong?",
            "In relu of a Value, replace > 0 by < 0. Which printed numbers change?",
            "Change learning_rate to 1e-4. Is g lower after ten steps?");
}
