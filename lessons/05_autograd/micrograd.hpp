// micrograd.hpp: heed's graph, and the formula of micrograd's README (Karpathy 2020), for the
// appendices of lesson 05.
#pragma once

#include "pictures.hpp"

namespace heed {

// A Tensor of one number, made at this line of source.
inline Tensor leaf(double x, SourceLocation location = SourceLocation::current()) {
  return Tensor(scalar(Real(x)), /*requires_grad=*/true, location);
}

inline Real grad(const Tensor& x) { return item(x.grad()); }

inline Array two(double a, double b) { return {Real(a), Real(b)}; }

// Compares the derivatives of f = (a + b) b, for a = 2 and b = -3, on paper, by the lesson's engine
// and by heed.
template <class Scalar>
void check_on_paper(const Scalar& a, const Scalar& b) {
  check("on paper = by our engine", two(-3, -4), two(a.grad(), b.grad()));
  const Tensor ta = leaf(2), tb = leaf(-3);
  backward((ta + tb) * tb);
  check("on paper = by heed", two(-3, -4), two(grad(ta), grad(tb)));
}

// Prints heed's graph of f = s b with s = a + b.
inline void show_graph_of_heed() {
  Tensor a = leaf(2).set_name("a"), b = leaf(-3).set_name("b");
  const Tensor s = (a + b).set_name("s"), f = (s * b).set_name("f");
  std::cout << '\n' << graph_text(f);
}

inline double power(double x, double p) { return std::pow(x, p); }
inline double relu(double x) { return x > 0 ? x : 0; }

// g of a and b, which are doubles, the lesson's Scalars, or Tensors.
template <class N>
N micrograd(const N& a, const N& b) {
  N c = a + b, d = a * b + power(b, 3);
  c = c + c + 1;
  c = c + 1 + c + -a;
  d = d + 2 * d + relu(b + a);
  d = d + 3 * d + relu(b - a);
  N e = c - d, f = power(e, 2);
  return f / 2 + 10 / f;
}

// Prints central differences of g with respect to a, and their distance from the derivative.
inline void show_central_differences(double derivative) {
  say("\n    h    central difference    error");
  for (const double h : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
    const double high = micrograd(-4 + h, 2.0), low = micrograd(-4 - h, 2.0);
    const double measured = (high - low) / (2 * h);
    say(scientific(h, 0) + "    " + decimal(measured, 8) + "    " +
        decimal(std::abs(measured - derivative), 10));
  }
}

template <class Scalar>
void large_formula() {
  const Scalar a = -4, b = 2, g = micrograd(a, b);
  backward(g);
  const Tensor ta = leaf(-4), tb = leaf(2), tg = micrograd(ta, tb);
  backward(tg);
  const Array ours = {Real(g.data()), Real(a.grad()), Real(b.grad())};
  const Array heeds = {tg.item(), grad(ta), grad(tb)};
  show("our engine and heed", xt::stack(xt::xtuple(ours, heeds)), {"ours", "heed"},
       {"g", "dg/da", "dg/db"});
  check("ours = heed, in float", ours, heeds, 1e-3);
  say();
  show_central_differences(a.grad());
  say();
}

}  // namespace heed
