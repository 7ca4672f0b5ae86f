// product.hpp: the product of two matrices by loops (lesson 02, inner-product form), for lesson
// 05.
#pragma once

#include "lesson.hpp"

namespace heed {

// Element (i, j): the dot product of row i of a and column j of b.
inline Array product(const Array& a, const Array& b) {
  Array c = zeros({a.shape(0), b.shape(1)});
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t j = 0; j < b.shape(1); ++j)
      for (std::size_t d = 0; d < b.shape(0); ++d) c(i, j) += a(i, d) * b(d, j);
  return c;
}

}  // namespace heed
