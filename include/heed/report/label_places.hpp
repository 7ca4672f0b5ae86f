// label_places.hpp: LabelPlacement chooses label positions with the least overlap.
#pragma once

#include <cstddef>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// A rectangle in screen coordinates: y grows downwards.
struct Box {
  double left, top, right, bottom;
  double area() const { return (right - left) * (bottom - top); }
};

double overlap(const Box& a, const Box& b);  // the area of their intersection

class LabelPlacement {
 public:
  explicit LabelPlacement(const Box& frame) : frame_(frame) {}

  void occupy(const Box& box) { occupied_.push_back(box); }

  // The area of the box that is occupied or outside the frame.
  double covered_area(const Box& box) const;

  // The index of the candidate with the smallest covered area, the first in case of a tie.
  std::size_t best_position(const std::vector<Box>& candidates) const;

 private:
  Box frame_;
  std::vector<Box> occupied_;
};

}  // namespace HEED_NAMESPACE
