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
  return space.shape(0) == map_points.shape(0);
}
// Your part ends here.
