// 18 what_survives: how many nearest neighbours a map has kept.
//
// Lesson 18 draws points of many dimensions on a page. Write the test that any such map should
// pass: for how many of the points is its nearest neighbour in space its nearest on the page, too?
//
// space (n, D): near in space means the largest cosine, as for queries and keys.
// page (n, 2):  near on the page means the smallest distance, as the eye sees it.
//
// A point is no neighbour of its own. Of several that are equally near, take the first.
// Return the share of points, from 0 to 1. No point is all zeros.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
double kept(const Array& space, const Array& page) { return space.shape(0) == page.shape(0); }
// Your part ends here.
