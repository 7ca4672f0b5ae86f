// Tests exercise 19 what_survives: the fraction of points that keep their nearest neighbour.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

double kept(const Array& space, const Array& page);

double product(const Array& x, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t d = 0; d < x.shape(1); ++d) sum += double(x(i, d)) * double(x(j, d));
  return sum;
}

// Similarity, which is larger for nearer points: the cosine, or minus the squared distance.
double nearness(const Array& x, std::size_t i, std::size_t j, bool cosine) {
  const double ii = product(x, i, i), ij = product(x, i, j), jj = product(x, j, j);
  return cosine ? ij / std::sqrt(ii * jj) : 2 * ij - ii - jj;
}

std::size_t nearest_to(const Array& x, std::size_t i, bool cosine) {
  std::size_t best = i == 0 ? 1 : 0;
  for (std::size_t j = 0; j < x.shape(0); ++j)
    if (j != i && nearness(x, i, j, cosine) > nearness(x, i, best, cosine) + 1e-9) best = j;
  return best;
}

double expected_fraction(const Array& space, const Array& page) {
  double count = 0;
  for (std::size_t i = 0; i < space.shape(0); ++i)
    count += nearest_to(space, i, true) == nearest_to(page, i, false) ? 1 : 0;
  return count / double(space.shape(0));
}

void compare(const std::string& what, const Array& space, const Array& page) {
  const double got = kept(space, page), expected = expected_fraction(space, page);
  expect(what, std::abs(got - expected) < 1e-6,
         "expected " + decimal(expected, 4) + ", got " + decimal(got, 4));
}

int main() {
  Generator g(18);
  const Array flat = g.randn({40, 2});
  Array rotated = flat, ring = flat;
  for (std::size_t i = 0; i < 40; ++i) {
    const Real length = std::sqrt(flat(i, 0) * flat(i, 0) + flat(i, 1) * flat(i, 1));
    rotated(i, 0) = 3 - 2 * flat(i, 1), rotated(i, 1) = 2 * flat(i, 0) - 5;
    ring(i, 0) = flat(i, 0) / length, ring(i, 1) = flat(i, 1) / length;
  }
  compare("points on a circle, the map equals the space: all are kept", ring, ring);
  compare("the lengths of vectors do not matter in the space", flat, ring);
  compare("but they matter on the map", flat, flat);
  compare("the map may be rotated, shifted and scaled", flat, rotated);
  const Array three = g.randn({60, 3}), projection = xt::view(three, xt::all(), xt::range(0, 2));
  compare("a projection from three dimensions to two", three, projection);
  compare("two points are each other's neighbours", g.randn({2, 3}), g.randn({2, 2}));
  const Array five = {{1, 0}, {2, 1}, {1, 3}, {0, -1}, {-3, -4}};
  const Array far = {{100, 100}, {101, 100}, {103, 100}, {107, 100}, {115, 100}};
  compare("a map far from its origin, where all cosines are nearly 1", five, far);
  const Array apart = {{1, 0}, {-1, Real(0.5)}, {-1, Real(-0.6)}};
  compare("a point whose cosines are all negative", apart, {{0, 0}, {5, 0}, {1, 0}});
  const Array ties = {{1, 0}, {1, 0}, {1, 0}, {0, 1}}, line = {{0, 0}, {1, 0}, {5, 0}, {6, 0}};
  compare("several points equally near in the space: the smallest index", ties, line);
  const Array fan = {{1, 0}, {1, Real(0.1)}, {0, 1}}, even = {{-1, 0}, {0, 0}, {1, 0}};
  compare("several points equally near on the map: the smallest index", fan, even);
  return verdict();
}
