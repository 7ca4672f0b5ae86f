// helpers.hpp: an example formula, tables and the drawing of a graph, for lesson 05.
#pragma once

#include <cmath>
#include <map>

#include "lesson.hpp"

namespace heed {

// A Tensor of one number, made at this line of source.
inline Tensor leaf(double x, SourceLocation location = SourceLocation::current()) {
  return Tensor(scalar(Real(x)), /*requires_grad=*/true, location);
}

inline Real grad(const Tensor& x) { return item(x.grad()); }

inline Array two(double a, double b) { return {Real(a), Real(b)}; }

inline std::string padded(double x) { return pad_left(decimal(x, 4), 10); }

// Finite differences of f(x) = x^2.
inline void show_differences_of_square(double x) {
  say("", "         h    growth of f    divided by h");
  for (const double h : {1.0, 0.1, 0.01, 0.001}) {
    const double growth = (x + h) * (x + h) - x * x;
    say(padded(h) + "     " + padded(growth) + "      " + padded(growth / h));
  }
}

inline double power(double x, double p) { return std::pow(x, p); }
inline double relu(double x) { return x > 0 ? x : 0; }

// The formula of the README of micrograd (Karpathy 2020), which the lesson prints.
template <class Number>  // double, the lesson's Value, or heed's Tensor
Number micrograd_example(const Number& a, const Number& b) {
  Number c = a + b, d = a * b + power(b, 3);
  c = c + c + 1;
  c = c + 1 + c + -a;
  d = d + 2 * d + relu(b + a);
  d = d + 3 * d + relu(b - a);
  Number e = c - d, f = power(e, 2);
  return f / 2 + 10 / f;
}

inline void say_micrograd_formula() {
  say("micrograd (Karpathy 2020) is a small program for derivatives. Its README has",
      "this formula, in which = gives c and d new values:", "",
      "  c = a + b               d = a b + b^3",
      "  c = c + c + 1           d = d + 2 d + relu(b + a)",
      "  c = c + 1 + c - a       d = d + 3 d + relu(b - a)",
      "  e = c - d               f = e^2               g = f / 2 + 10 / f", "",
      "relu(x) = max(x, 0) is a NONLINEARITY, also called activation: a function that",
      "is not linear and is applied to each number separately. (At 0 it has no",
      "derivative; programs use 0.) For a = -4 and b = 2 the README has g = 24.7041,",
      "dg/da = 138.8338 and dg/db = 645.5773.", "");
}

inline void finite_differences() {
  section("Finite differences");
  say("Training, in its simplest form, is gradient descent: each step subtracts from",
      "each parameter, such as a number of W_Q, the learning rate times the derivative",
      "of the loss with respect to this parameter (lesson 09). How does a program",
      "compute derivatives? Take the function f(x) = x^2 at x = 3. A FINITE DIFFERENCE",
      "is the growth of f for a step h, divided by h. The one below is the FORWARD",
      "DIFFERENCE (difference quotient):", "", "  (f(x + h) - f(x)) / h");
  show_differences_of_square(3);
  say("", "The growth is 2 x h + h^2. Divided by h it is 2 x + h. For smaller and smaller h",
      "this approaches the derivative 2 x, here 6. Finite differences evaluate the",
      "formula once more for each input, and the small language model of `./heed train`",
      "has 803,968 parameters. This lesson's method needs one pass for all of them.");
}

// Central differences of the example with respect to a, and their distance from the derivative.
inline void show_central_differences(double derivative) {
  say("", "    h    central difference    error");
  for (const double h : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
    const double high = micrograd_example(-4 + h, 2.0), low = micrograd_example(-4 - h, 2.0);
    const double measured = (high - low) / (2 * h);
    say(scientific(h, 0) + "    " + decimal(measured, 8) + "    " +
        decimal(std::abs(measured - derivative), 10));
  }
}

// The mean over a batch of three examples in two parts, each weighted by its fraction of the batch.
inline void accumulate_a_mean() {
  const auto loss = [](const Tensor& w, const Array& targets) {
    const Tensor difference = w - Tensor(targets);
    return mean(difference * difference);
  };
  Tensor whole = leaf(1), parts = leaf(1);
  backward(loss(whole, {2, 4, 9}));
  backward(loss(parts, {2, 4}) * (2.0 / 3));
  backward(loss(parts, {9}) * (1.0 / 3));
  say("", "If the loss is a mean over the batch, multiply the loss of each part by the",
      "fraction of the examples that it contains, here 2/3 and 1/3:");
  check("gradient of a mean over 3 examples = by parts of 2 and 1", scalar(grad(whole)),
        scalar(grad(parts)));
}

inline void gradient_accumulation() {
  section("Gradient accumulation");
  say("heed's backward, like PyTorch's, adds to the gradients of the leaves. So the",
      "gradients of a large batch can be computed in parts, with one backward pass for",
      "each part: GRADIENT ACCUMULATION. Before a new step, clear the gradients. (Our",
      "backward() does not clear the gradients of inner nodes, so a second pass with it",
      "would be wrong.) Here is x * x at x = 3, in heed:", "");
  Tensor x = leaf(3);
  backward(x * x);
  say("after one backward   " + padded(grad(x)));
  backward(x * x);
  say("after another        " + padded(grad(x)));
  x.clear_grad();
  backward(x * x);
  say("cleared, then again  " + padded(grad(x)));
  accumulate_a_mean();
}

inline void gradcheck(double derivative) {
  section("Gradcheck");
  say("GRADCHECK compares the gradient of a backward pass with finite differences. The",
      "central difference steps to both sides, and is more exact:", "",
      "  (g(a + h) - g(a - h)) / (2 h)", "", "For micrograd's formula:");
  show_central_differences(derivative);
  say("", "With h ten times smaller the error is about a hundred times smaller: it is",
      "proportional to h^2. The reason is Taylor's formula:", "",
      "  g(a + h) = g(a) + h g'(a) + h^2 g''(a) / 2 + h^3 g'''(a) / 6 + ...", "",
      "In the difference the even powers of h cancel. After division by 2 h the error",
      "h^2 g'''(a) / 6 remains. Below h = 1e-5, rounding errors dominate: they are",
      "about eps, the relative precision of the numbers, and are divided by h. The sum",
      "of both errors is smallest for h near eps^(1/3), and then of the order eps^(2/3)",
      "(4e-11 in double, 2e-5 in float) times numbers that depend on g: its size and",
      "g''', here about 100. So gradcheck uses doubles. In float, even",
      "-4 + 1e-7 and -4 - 1e-7 are both rounded to -4:");
  const auto g = [](double a) { return micrograd_example(leaf(a), leaf(2)).item(); };
  check("g(-4 + 1e-7) - g(-4 - 1e-7) in float = 0", scalar(g(-4 + 1e-7) - g(-4 - 1e-7)), scalar(0),
        0);
  say("", "heed's tests check every operation by gradcheck.");
}

// The operation, data and gradient of each of the lesson's named Values.
template <class NamedValues>
void show_values(const NamedValues& values) {
  say("", "   made by      data      grad");
  for (const auto& [name, v] : values)
    say(name + pad_right("  " + v.number->op, 9) + padded(v.data()) + padded(v.grad()));
}

// The graph of the lesson's named Values in Graphviz's language: data and gradient of each node,
// and the local derivative of each edge. The two paths from b to f are orange and blue.
template <class NamedValues>
std::string drawn(const NamedValues& values) {
  std::map<const void*, std::string> names;
  std::string dot =
      "digraph {\n  rankdir=LR\n  fontname=\"sans-serif\"\n  labelloc=t\n"
      "  label=\"df/db = -3 * 1 (orange path) + -1 (blue path) = -4\\n"
      "Edges: local derivatives. Nodes: data and gradient.\\n \"\n"
      "  node [shape=record, fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\"]\n";
  for (const auto& [name, v] : values) {
    names[v.number.get()] = name;
    dot += "  " + name + " [label=\"" + name + " (" + v.number->op + ") | data " +
           decimal(v.data(), 1) + " | grad " + decimal(v.grad(), 1) + "\"]\n";
    for (const auto& [input, local] : v.number->inputs) {
      const std::string from = names[input.get()];
      const std::string color = from == "a"           ? "#888888"
                                : from + name == "bf" ? "#0072B2"
                                                      : "#D55E00";
      dot += "  " + from + " -> " + name + " [label=\" " + decimal(local, 0) + " \" color=\"" +
             color + "\" fontcolor=\"" + color + "\" penwidth=" + (from == "a" ? "1" : "2.5") +
             "]\n";
    }
  }
  return dot + "}\n";
}

}  // namespace heed
