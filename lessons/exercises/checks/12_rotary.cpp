// 12 rotary: turns worked by hand, lengths that stay, and dot products that tell distance only.

#include <algorithm>
#include <cmath>
#include <complex>

#include "exercise.hpp"

using namespace heed;

Array rotary(const Array& x);

namespace {

// The same by another road: a turn is a product with e^(i angle).
Array wanted(const Array& x) {
  Array transposed = x;
  const std::size_t pairs = x.shape(1) / 2;
  for (std::size_t t = 0; t < x.shape(0); ++t)
    for (std::size_t p = 0; p < pairs; ++p) {
      const double angle = double(t) * std::exp(-std::log(10000.0) * double(p) / double(pairs));
      const std::complex<double> point(x(t, 2 * p), x(t, 2 * p + 1));
      const std::complex<double> to = point * std::polar(1.0, angle);
      transposed(t, 2 * p) = Real(to.real());
      transposed(t, 2 * p + 1) = Real(to.imag());
    }
  return transposed;
}

double dot_of(const Array& a, std::size_t s, const Array& b, std::size_t t) {
  double sum = 0;
  for (std::size_t d = 0; d < a.shape(1); ++d) sum += double(a(s, d)) * double(b(t, d));
  return sum;
}

// Whether place 1 got another row than it gave. Of rows that nobody turned, lengths stay as well.
bool anything_turned(const Array& came, const Array& x) {
  if (shape_of(came) != shape_of(x)) return false;
  double apart = 0;
  for (std::size_t d = 0; d < x.shape(1); ++d)
    apart = std::max(apart, std::abs(double(came(1, d)) - double(x(1, d))));
  return apart > 1e-3;
}

// The same row at each of n places.
Array everywhere(const Array& row, std::size_t n) {
  Array x = zeros({n, row.size()});
  for (std::size_t t = 0; t < n; ++t) xt::row(x, int(t)) = row;
  return x;
}

}  // namespace

int main() {
  expect("place 0 is not turned", rotary({{3, 4}}), Array{{3, 4}});
  Array right = zeros({3, 2});
  for (int t = 0; t < 3; ++t) right(t, 0) = 1;
  expect("of (1, 0) at places 0, 1 and 2, cosine and sine", rotary(right), wanted(right));
  Generator g(12);
  for (const Shape& shape : {Shape{2, 4}, Shape{5, 8}, Shape{300, 16}}) {
    const Array x = g.randn(shape), came = rotary(x);
    const std::string name = std::to_string(shape[0]) + " x " + std::to_string(shape[1]);
    expect("turned, " + name, came, wanted(x), 1e-4);
    if (!anything_turned(came, x)) continue;
    double off = 0;
    for (std::size_t t = 0; t < shape[0]; ++t)
      off = std::max(off, std::abs(dot_of(came, t, came, t) - dot_of(x, t, x, t)));
    expect("lengths stay, " + name, off < 1e-3, "a square is " + decimal(off, 4) + " off");
  }

  const Array asks = everywhere(g.randn({16}), 40), answers = everywhere(g.randn({16}), 40);
  const Array q = rotary(asks), k = rotary(answers);
  if (anything_turned(q, asks) && anything_turned(k, answers)) {
    const double here = dot_of(q, 3, k, 1), there = dot_of(q, 39, k, 37);
    expect("two places on, the same dot product from 1 and from 37", std::abs(here - there) < 1e-3,
           decimal(here, 4) + " and " + decimal(there, 4));
    const double near = dot_of(q, 3, k, 2), back = dot_of(q, 2, k, 3);
    expect("one place on and one back differ", std::abs(near - back) > 1e-2,
           decimal(near, 4) + " and " + decimal(back, 4));
  }
  return verdict();
}
