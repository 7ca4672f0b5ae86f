// 19 what_survives: the fraction of points that keep their nearest neighbour on a map.
//
// Lesson 19 draws points of 8 dimensions in the plane. For how many points is the nearest neighbour
// in the space also the nearest neighbour on the map?
//
// space (n, D): the nearest point in the space has the largest cosine similarity.
// map_points (n, 2): the nearest point on the map has the smallest Euclidean distance.
//
// A point is not its own neighbour. If several points are equally near, take the one with the
// smallest index. Return the fraction of points, from 0 to 1. No point is the origin of the space.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
double kept(const Array& space, const Array& map_points) {
  const std::size_t n = space.shape(0);
  const auto dot = [&](const Array& x, std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t d = 0; d < x.shape(1); ++d) sum += double(x(i, d)) * double(x(j, d));
    return sum;
  };
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t in_space = n, on_page = n;
    double best_cosine = -2, least_distance = INFINITY;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const double cosine = dot(space, i, j) / std::sqrt(dot(space, i, i) * dot(space, j, j));
      const double dx = map_points(i, 0) - map_points(j, 0),
                   dy = map_points(i, 1) - map_points(j, 1);
      if (cosine > best_cosine) best_cosine = cosine, in_space = j;
      if (dx * dx + dy * dy < least_distance) least_distance = dx * dx + dy * dy, on_page = j;
    }
    if (in_space == on_page) ++count;
  }
  return double(count) / double(n);
}
// Your part ends here.
