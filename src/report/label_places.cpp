// label_places.cpp: where labels stand beside their points, so that they cover least.

#include "heed/report/label_places.hpp"

#include <algorithm>

namespace heed {

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

double LabelPlacement::covered(const Box& box) const {
  double area = box.area() - overlap(box, frame_);
  for (const Box& other : taken_) area += overlap(box, other);
  return area;
}

std::size_t LabelPlacement::best(const std::vector<Box>& candidates) const {
  std::size_t best = 0;
  double least = covered(candidates[0]);
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (const double area = covered(candidates[i]); area < least) best = i, least = area;
  return best;
}

}  // namespace heed
