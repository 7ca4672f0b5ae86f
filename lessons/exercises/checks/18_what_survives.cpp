// 18 what_survives: the share of points that keep their nearest neighbour.

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

// How near two points are, by whichever measure: the larger, the nearer.
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

double wanted(const Array& space, const Array& page) {
  double count = 0;
  for (std::size_t i = 0; i < space.shape(0); ++i)
    count += nearest_to(space, i, true) == nearest_to(page, i, false) ? 1 : 0;
  return count / double(space.shape(0));
}

void compare(const std::string& what, const Array& space, const Array& page) {
  const double came = kept(space, page), right = wanted(space, page);
  expect(what, std::abs(came - right) < 1e-6,
         "expected " + decimal(right, 4) + ", came " + decimal(came, 4));
}

int main() {
  Generator g(18);
  const Array flat = g.randn({40, 2});
  Array transposed = flat, ring = flat;
  for (std::size_t i = 0; i < 40; ++i) {
    const Real length = std::sqrt(flat(i, 0) * flat(i, 0) + flat(i, 1) * flat(i, 1));
    transposed(i, 0) = 3 - 2 * flat(i, 1), transposed(i, 1) = 2 * flat(i, 0) - 5;
    ring(i, 0) = flat(i, 0) / length, ring(i, 1) = flat(i, 1) / length;
  }
  compare("points on a ring, drawn as they are: all are kept", ring, ring);
  compare("lengths do not count in space", flat, ring);
  compare("but they do on the page", flat, flat);
  compare("a page may be turned, moved and enlarged", flat, transposed);
  const Array solid = g.randn({60, 3}), shadow = xt::view(solid, xt::all(), xt::range(0, 2));
  compare("a solid and its shadow", solid, shadow);
  compare("two points are each other's neighbours", g.randn({2, 3}), g.randn({2, 2}));
  const Array five = {{1, 0}, {2, 1}, {1, 3}, {0, -1}, {-3, -4}};
  const Array far = {{100, 100}, {101, 100}, {103, 100}, {107, 100}, {115, 100}};
  compare("a page far from its origin: cosines would see nothing there", five, far);
  const Array twins = {{1, 0}, {1, 0}, {1, 0}, {0, 1}, {0, 1}};
  const Array line = {{0, 0}, {1, 0}, {2, 0}, {9, 0}, {8, 0}};
  compare("of several that are equally near, the first", twins, line);
  return verdict();
}
