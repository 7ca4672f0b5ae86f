// label_places.cpp: LabelPlacement chooses label positions with the least overlap.

#include "heed/report/label_places.hpp"

#include <algorithm>

namespace HEED_NAMESPACE {

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

double LabelPlacement::covered_area(const Box& box) const {
  double area = box.area() - overlap(box, frame_);
  for (const Box& other : occupied_) area += overlap(box, other);
  return area;
}

std::size_t LabelPlacement::best_position(const std::vector<Box>& candidates) const {
  std::size_t best = 0;
  double min_area = covered_area(candidates[0]);
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (const double area = covered_area(candidates[i]); area < min_area) best = i, min_area = area;
  return best;
}

}  // namespace HEED_NAMESPACE
