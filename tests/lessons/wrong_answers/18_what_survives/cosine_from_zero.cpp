// The search for the largest cosine starts at 0: negative cosines are never the largest.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

double kept(const Array& space, const Array& page) {
  const std::size_t n = space.shape(0);
  const auto dot = [&](const Array& x, std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t d = 0; d < x.shape(1); ++d) sum += double(x(i, d)) * double(x(j, d));
    return sum;
  };
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t in_space = n, on_page = n;
    double best_cosine = 0, least_distance = INFINITY;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const double cosine = dot(space, i, j) / std::sqrt(dot(space, i, i) * dot(space, j, j));
      const double dx = page(i, 0) - page(j, 0), dy = page(i, 1) - page(j, 1);
      if (cosine > best_cosine) best_cosine = cosine, in_space = j;
      if (dx * dx + dy * dy < least_distance) least_distance = dx * dx + dy * dy, on_page = j;
    }
    if (in_space == on_page) ++count;
  }
  return double(count) / double(n);
}
