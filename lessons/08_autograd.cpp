// 08 autograd: the slopes of a formula along all its numbers, from one walk back through its graph.
//
// Before this lesson: 07_causal_mask. No calculus is needed, only numbers.
// After it: 09_backward_through_attention, the same walk through the matrices of attention.
// Worth a breakpoint: send_back. Each stop is one number that passes its gradient on.

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "heed/autograd/backward.hpp"
#include "heed/autograd/graph.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "lesson.hpp"

using namespace heed;

// A number that remembers what it was made from, and how steeply it follows each of those.
struct Number {
  using Input = std::pair<std::shared_ptr<Number>, double>;  // a number, and the slope along it
  double data;
  std::string op;
  std::vector<Input> inputs;
  double grad = 0;  // the slope of the final result along this number
};

// A handle, as short to write as a double: its copies are the same number.
struct Value {
  Value(double data, std::string op = "given", std::vector<Number::Input> inputs = {})
      : number(new Number{data, std::move(op), std::move(inputs)}) {}
  double data() const { return number->data; }
  double grad() const { return number->grad; }
  std::shared_ptr<Number> number;
};

// Each operation knows its own slopes, and nothing of the formula around it.
Value operator+(const Value& a, const Value& b) {
  return {a.data() + b.data(), "+", {{a.number, 1}, {b.number, 1}}};
}
Value operator*(const Value& a, const Value& b) {
  return {a.data() * b.data(), "*", {{a.number, b.data()}, {b.number, a.data()}}};
}
Value power(const Value& x, double p) {
  return {std::pow(x.data(), p), "power", {{x.number, p * std::pow(x.data(), p - 1)}}};
}
Value relu(const Value& x) {  // 0 in place of anything below it
  return {std::max(x.data(), 0.0), "relu", {{x.number, x.data() > 0 ? 1 : 0}}};
}
Value operator-(const Value& x) { return x * -1; }
Value operator-(const Value& a, const Value& b) { return a + -b; }
Value operator/(const Value& a, const Value& b) { return a * power(b, -1); }

// The chain rule: what has arrived at a number goes on to its inputs, times the slope of each.
void send_back(const Number& number) {
  const double arrived = number.grad;
  for (const auto& [input, slope] : number.inputs) input->grad += arrived * slope;
}

// Adds everything behind `last` to `order`, then `last`: inputs before what is made from them.
void collect(Number* last, std::vector<Number*>& order) {
  if (std::find(order.begin(), order.end(), last) != order.end()) return;
  for (const Number::Input& input : last->inputs) collect(input.first.get(), order);
  order.push_back(last);
}

void backward(const Value& result) {
  std::vector<Number*> order;
  collect(result.number.get(), order);
  result.number->grad = 1;
  for (auto number = order.rbegin(); number != order.rend(); ++number) send_back(**number);
}

// Wrong: runs ahead with what has arrived so far, at every arrival or at the first only.
void run_ahead(const Number& number, bool every_arrival, std::set<const Number*>& met) {
  for (const auto& [input, slope] : number.inputs) {
    input->grad += number.grad * slope;
    if (met.insert(input.get()).second || every_arrival) run_ahead(*input, every_arrival, met);
  }
}

double hurried_slope_of_4a(bool every_arrival) {
  Value a = 1, b = a + a, c = b + b;
  std::set<const Number*> met;
  c.number->grad = 1;
  run_ahead(*c.number, every_arrival, met);
  return a.grad();
}

double power(double x, double p) { return std::pow(x, p); }
double relu(double x) { return std::max(x, 0.0); }

template <class Kind>  // double, our Value, or heed's Tensor
Kind known_example(const Kind& a, const Kind& b) {
  Kind c = a + b, d = a * b + power(b, 3);
  c = c + c + 1;
  c = c + 1 + c + -a;
  d = d + 2 * d + relu(b + a);
  d = d + 3 * d + relu(b - a);
  Kind e = c - d, f = power(e, 2);
  return f / 2 + 10 / f;
}

Tensor leaf(double x, SourceLocation location = SourceLocation::current()) {  // one number
  return Tensor(scalar(Real(x)), /*requires_grad=*/true, location);
}
Real slope(const Tensor& x) { return item(x.grad()); }
Array two(double a, double b) { return {Real(a), Real(b)}; }
std::string padded(double x) { return pad_left(decimal(x, 4), 10); }

int main() {
  section("What a slope is");
  say("Lesson 07 asked `backward` for slopes, and believed it. Training asks for them",
      "too. W_Q, W_K and W_V are still random. If one of their numbers grows a little,",
      "does the result grow or shrink, and how fast? That speed is the slope of the",
      "result along the number. Take x^2, at x = 3, and nudge x by h:", "",
      "       h      x^2 grows by     for each unit of h");
  for (double h : {1.0, 0.1, 0.01, 0.001}) {
    const double growth = (3 + h) * (3 + h) - 9;
    say(padded(h) + "  " + padded(growth) + "        " + padded(growth / h));
  }
  say("", "The smaller the nudge, the nearer to 6. For any x the growth is 2xh + h^2, so",
      "for each unit of h it is 2x + h, and the slope is 2x. Nudging needs a run of the",
      "formula for every number. The model of `./heed train` has 803,968 numbers. We",
      "want all their slopes for the price of a few runs.");

  section("A formula is a graph");
  say("Let s = a + b and f = s b, with a = 2 and b = -3. So s = -1 and f = 3. Each step",
      "has slopes of its own. A sum grows as much as either summand does: 1 and 1.",
      "Raise one factor by h, and a product grows by h times the other: f has the slope",
      "b = -3 along s, and s = -1 along b.", "",
      "Go back from f. A unit more of a is a unit more of s, and that makes -3 for f:",
      "slopes multiply along the way. And b has two ways to f, which add up: with b, s",
      "grows by h too, and (s + h)(b + h) = f + h s + h b + h^2.", "", "slope along s  -3",
      "slope along a  -3 * 1 = -3, by way of s",
      "slope along b  -3 * 1 = -3, by way of s, and -1 straight into the product: -4", "",
      "This is the chain rule. All the slopes together are called the gradient. heed's",
      "Tensor remembers each step that made it, with its line in this file, so it can",
      "find the way back. Here is f, from its inputs on; () is a single number's shape.", "");
  Tensor a = leaf(2).set_name("a"), b = leaf(-3).set_name("b");
  Tensor s = (a + b).set_name("s"), f = (s * b).set_name("f");
  std::cout << graph_text(f);
  say("");
  picture("08_autograd", "graph", graph_dot(f));
  say("");
  backward(f);
  check("the slopes along a and b, by hand = by heed", two(-3, -4), two(slope(a), slope(b)));

  section("An engine of our own");
  say("struct Number, in this file, holds a number, what made it, and beside each input",
      "the slope along it. backward() puts 1 at the result, which follows itself one to",
      "one. Then it walks back, and at each number does one thing, for each input:", "",
      "  input.grad += number.grad * slope", "",
      "That is all. heed's engine, src/autograd/backward.cpp, has arrays for numbers.");
  Value va = 2, vb = -3, vs = va + vb, vf = vs * vb;
  backward(vf);
  say("", "   made by    number     slope");
  for (const auto& [name, v] : {std::pair("a", va), {"b", vb}, {"s", vs}, {"f", vf}})
    say(name + pad_right("  " + v.number->op, 9) + padded(v.data()) + padded(v.grad()));
  check("by hand = by our engine", two(-3, -4), two(va.grad(), vb.grad()));

  section("A known example");
  say("The README of micrograd (Karpathy 2020) has a formula of two numbers in which",
      "most numbers are used several times: known_example, in this file. For a = -4 and",
      "b = 2 it says 24.7041, and along a and b the slopes 138.8338 and 645.5773.", "");
  Value wa = -4, wb = 2, wg = known_example(wa, wb);
  backward(wg);
  Tensor ta = leaf(-4), tb = leaf(2), tg = known_example(ta, tb);
  backward(tg);
  say("               g   along a   along b",
      "ours  " + padded(wg.data()) + padded(wa.grad()) + padded(wb.grad()),
      "heed  " + padded(tg.item()) + padded(slope(ta)) + padded(slope(tb)));
  check("ours = heed, as far as a float goes", two(wa.grad(), wb.grad()), two(slope(ta), slope(tb)),
        1e-3);

  section("Why the order matters");
  say("Let b = a + a and c = b + b. So c = 4a, and the slope is 4. Somebody in a hurry",
      "runs ahead: the first 1 that arrives at b goes on at once, and a has 2. Then the",
      "second 1 arrives. Send on all of b's 2? Then a has 2 + 4. Take b for done? Then",
      "a stays at 2. Both are wrong. A number may send only when all that was made from",
      "it has sent. That is why backward() sorts the numbers first.", "");
  Value oa = 1, ob = oa + oa, oc = ob + ob;
  backward(oc);
  Tensor ha = leaf(1), hb = ha + ha;
  backward(hb + hb);
  say("sent on at every arrival  " + padded(hurried_slope_of_4a(true)),
      "sent on at the first      " + padded(hurried_slope_of_4a(false)),
      "sent on when complete     " + padded(oa.grad()),
      "heed                      " + padded(slope(ha)));

  section("Gradients add up");
  say("What arrives is added: within one walk, and also from one walk to the next. So a",
      "large batch may come in pieces. Who wants to start afresh must say so. Here is",
      "x^2 at x = 3 again, as x * x, which uses x twice. Each use sends back a 3.", "");
  Tensor x = leaf(3);
  backward(x * x);
  say("after one backward   " + padded(slope(x)));
  backward(x * x);
  say("after another        " + padded(slope(x)));
  x.clear_grad();
  backward(x * x);
  say("cleared, then again  " + padded(slope(x)));

  section("The judge");
  say("How can we tell that a backward is right? Nudge, as we began, but to both sides:",
      "(g(a + h) - g(a - h)) / 2h, the central difference. For the known example:", "",
      "    h       slope along a      off by");
  for (double h : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
    const double measured = (known_example(-4 + h, 2.0) - known_example(-4 - h, 2.0)) / (2 * h);
    say(scientific(h, 0) + "    " + decimal(measured, 8) + "    " +
        decimal(std::abs(measured - wa.grad()), 10));
  }
  say("", "With h ten times smaller, it is off by a hundredth of that: what goes with h",
      "cancels between the sides, h^2 stays. Then rounding wins. The two values of g",
      "share most digits, the rest is mostly rounding, and it is divided by a tiny 2h.",
      "1e-5 is about best, in double. This is how heed's tests judge every operation.");

  section("Downhill");
  say("A gradient says which way g grows. So take a little of it, 0.00002 times the",
      "slope, away from a and from b, ten times, and g falls. It is f / 2 + 10 / f, so",
      "it can fall to 4.4721, at f = sqrt(20).", "", "step         a         b         g");
  double now_a = -4, now_b = 2;
  for (int step = 0; step <= 10; ++step) {
    Value la = now_a, lb = now_b, lg = known_example(la, lb);
    backward(lg);
    if (step % 2 == 0)
      say(pad_left(std::to_string(step), 4) + padded(now_a) + padded(now_b) + padded(lg.data()));
    now_a -= 2e-5 * la.grad();
    now_b -= 2e-5 * lb.grad();
  }
  say("", "This is all that training is. But attention is made of matrices, and of softmax,",
      "in which each share depends on every score: 09_backward_through_attention.", "",
      "To watch the gradients being sent: gdb build/release/lessons/08_autograd, and in",
      "it: break send_back, run, then print number.op, print number.grad, and continue.",
      "To stop in heed's own: ./heed debug 8, and in it: break heed::Multiply::backward",
      "and continue. `heed graph` shows the nodes, `heed step` goes to the next of them.");
}
