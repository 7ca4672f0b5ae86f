// label_places.hpp: LabelPlacement chooses label positions with the least overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// A rectangle in screen coordinates: y grows downwards.
struct Box {
  double left, top, right, bottom;                                 // coordinates of the edges
  double area() const { return (right - left) * (bottom - top); }  // width times height
};

inline double overlap(const Box& a, const Box& b) {  // the area of the intersection of a and b
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

// Chooses the position of the next label in a plot.
struct LabelPlacement {
  Box frame;                       // the area of the plot, which a label should not leave
  std::vector<Box> occupied = {};  // boxes of points and earlier labels

  // The area of those parts of `box` that other boxes occupy or that lie outside the frame.
  double covered_area(const Box& box) const {
    double area = box.area() - overlap(box, frame);
    for (const Box& other : occupied) area += overlap(box, other);
    return area;
  }

  // The index of the candidate box with the smallest covered_area(); on a tie, the first index.
  std::size_t best_position(const std::vector<Box>& candidates) const {
    std::vector<double> areas;
    for (const Box& box : candidates) areas.push_back(covered_area(box));
    return static_cast<std::size_t>(std::min_element(areas.begin(), areas.end()) - areas.begin());
  }
};

}  // namespace HEED_NAMESPACE
