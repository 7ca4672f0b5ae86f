// label_places.hpp: where labels stand beside their points, so that they cover least.
#pragma once

#include <cstddef>
#include <vector>

namespace heed {

// From left to right and from top to bottom, y growing downwards.
struct Box {
  double left, top, right, bottom;
  double area() const { return (right - left) * (bottom - top); }
};

double overlap(const Box& a, const Box& b);  // the area both cover

class LabelPlacement {
 public:
  explicit LabelPlacement(const Box& frame) : frame_(frame) {}

  void take(const Box& box) { taken_.push_back(box); }

  // How much of the box is taken or outside the frame.
  double covered(const Box& box) const;

  // The number of the candidate of which least is covered, the first of several.
  std::size_t best(const std::vector<Box>& candidates) const;

 private:
  Box frame_;
  std::vector<Box> taken_;
};

}  // namespace heed
