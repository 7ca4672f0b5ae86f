// 05 autograd: reverse-mode automatic differentiation, written out for single numbers.
//
// Before this lesson: 08_causal_mask, which used derivatives. School calculus is enough.
// After it: 06_backward_through_attention, the backward pass through the matrices of attention.
// Worth a breakpoint: propagate. Each stop is one node that passes its gradient to its inputs.

#include <algorithm>
#include <memory>

#include "helpers.hpp"

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

// The operations of a formula, and the edges of its graph: one for each input of an operation.
void show_cost(const Value& result) {
  std::vector<Number*> order;
  collect(result.number.get(), order);
  std::size_t operations = 0, edges = 0;
  for (const Number* number : order)
    operations += number->inputs.empty() ? 0 : 1, edges += number->inputs.size();
  say("",
      "The graph of g has " + std::to_string(operations) + " operations and " +
          std::to_string(edges) + " edges. The backward pass does one",
      "multiplication and one addition for each edge: at most two of each for an",
      "operation, as no operation here has more than two inputs. So it costs at most a",
      "constant factor more than computing g, whatever the number of inputs (Baydin et",
      "al.: below 6, typically 2 to 3). But it needs memory: the local derivatives",
      "depend on the intermediate values, which must be kept until the backward pass.");
}

void order_of_nodes() {
  section("The order of the nodes");
  say("Let b = a + a and c = b + b, so c = 4 a and dc/da = 4. The gradient of b is 2: 1",
      "from each of its two uses in c. If b passes its gradient on after each use, then",
      "a gets 2 * 1 after the first use, when b's gradient is 1, and 2 * 2 after the",
      "second use, when it is 2. The sum 6 is wrong. So our backward() first lists the",
      "nodes in a topological order, each after its inputs. It visits them from the",
      "end: b passes its gradient on only when both uses have been added.", "");
  Value ea = 1, eb = ea + ea;
  eb.number->grad += 1, propagate(*eb.number);  // the first use
  say("b passes on after its first use only  " + padded(ea.grad()));
  eb.number->grad += 1, propagate(*eb.number);  // the second use
  say("b passes on after each use            " + padded(ea.grad()));
  Value oa = 1, ob = oa + oa;
  backward(ob + ob);
  say("b waits for both uses                 " + padded(oa.grad()));
}

void gradient_descent() {
  section("Gradient descent");
  say("Now use the gradients of micrograd's formula for ten gradient descent steps with",
      "the learning rate 0.00002. As g = f / 2 + 10 / f, dg/df = 1/2 - 10 / f^2:",
      "negative below f = sqrt(20), positive above. So for f > 0 the lowest possible g",
      "is sqrt(20) = 4.4721.", "", "step         a         b         g");
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
  opening({"to compute all derivatives of a formula in one backward pass",
           "df/dx = sum of df/du * du/dx over all uses of x as an input,\n"
           "u: the operation's result, du/dx: the derivative of this operation\n"
           "f, u, x: numbers, of shape ()",
           "reverse mode: Baydin et al. 2018, Automatic Differentiation in\n"
           "Machine Learning: a Survey, section 3.2",
           "Tensor.backward, Tensor.grad, torch.autograd.gradcheck"});
  finite_differences();
  section("The computation graph and the chain rule");
  say("Let s = a + b and f = s b, with a = 2 and b = -3, so s = -1 and f = 3. This",
      "COMPUTATION GRAPH has a node for each number and an edge from each input of an",
      "operation to its result. Each edge has a local derivative: that of the result",
      "with respect to this input, while the other input stays fixed. If s grows by h,",
      "s b grows by h b, so the local derivative of f = s b with respect to s is b:", "",
      "  s = a + b    with respect to a: 1         to b: 1",
      "  f = s b      with respect to s: b = -3    to b: s = -1", "",
      "If b grows by h, s grows by 1 h, and thereby f by -3 * 1 h: local derivatives",
      "are multiplied along a path. b also changes f directly, by -1 h. Both changes",
      "add up. (Exactly, f grows by -4 h + h^2. Divided by h this is -4 + h, which",
      "approaches -4.) This is the CHAIN RULE: a derivative such as df/db is a sum over",
      "all paths from b to f. Each path adds the product of its local derivatives. (The",
      "formula at the top groups the paths by their first edge, a use of x.)", "",
      "  df/da = -3 * 1      = -3    path a, s, f",
      "  df/db = -3 * 1 + -1 = -4    paths b, s, f and b, f", "",
      "heed's Tensors record this graph, with the line of source that made each node. A",
      "Leaf has no inputs. The nodes are numbered so that inputs come first, and `from`",
      "has the numbers of the inputs:", "");
  Tensor a = leaf(2).set_name("a"), b = leaf(-3).set_name("b");
  Tensor s = (a + b).set_name("s"), f = (s * b).set_name("f");
  std::cout << graph_text(f);
  backward(f);
  check("df/da and df/db, by hand = by heed's backward", two(-3, -4), two(grad(a), grad(b)));
  section("Reverse mode");
  say("Our backward(), in this file, sets df/df = 1. Then it visits the nodes from the",
      "result back to the leaves, and does at each node, for each of its inputs:", "",
      "  input.grad += node.grad * local derivative", "",
      "This BACKWARD PASS computes df/dx for every x. The method is called REVERSE-MODE",
      "AUTOMATIC DIFFERENTIATION, and BACKPROPAGATION (Rumelhart et al. 1986) if f is",
      "the loss of a neural network. For arrays, node.grad is multiplied by the",
      "operation's Jacobian (lesson 09): a VECTOR-JACOBIAN PRODUCT. A pass in the other",
      "direction, from one input to all results, is called FORWARD MODE: it gives the",
      "derivatives for one input only.");
  Value va = 2, vb = -3, vs = va + vb, vf = vs * vb;
  backward(vf);
  const NamedValues values = {{"a", va}, {"b", vb}, {"s", vs}, {"f", vf}};
  show_values(values);
  check("by hand = by our backward", two(-3, -4), two(va.grad(), vb.grad()));
  say("");
  picture("05_autograd", "graph", drawn(values));
  section("A larger example");
  say_micrograd_formula();
  Value wa = -4, wb = 2, wg = micrograd_example(wa, wb);
  backward(wg);
  Tensor ta = leaf(-4), tb = leaf(2), tg = micrograd_example(ta, tb);
  backward(tg);
  say("               g     dg/da     dg/db",
      "ours  " + padded(wg.data()) + padded(wa.grad()) + padded(wb.grad()),
      "heed  " + padded(tg.item()) + padded(grad(ta)) + padded(grad(tb)));
  check("ours = heed, in float", two(wa.grad(), wb.grad()), two(grad(ta), grad(tb)), 1e-3);
  show_cost(wg);
  order_of_nodes();
  gradient_accumulation();
  gradcheck(wa.grad());
  gradient_descent();
  say("", "Next, the backward pass through matrices and softmax:",
      "06_backward_through_attention. To watch the backward pass of this lesson:",
      "`./heed debug 8`, and in gdb `break propagate`, `continue`, `print number.op`,",
      "`print number.grad`. To stop in heed: `break heed::Multiply::backward`,",
      "`continue`. There `heed graph` prints the nodes, and `heed step` runs to the", "next one.");
  questions("In propagate, replace += by =. Which derivative of f = (a + b) b is wrong?",
            "In relu of a Value, replace > 0 by < 0. Which printed numbers change?",
            "Change learning_rate to 1e-4. Is g lower after ten steps?");
}
