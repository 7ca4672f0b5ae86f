// grid_size.hpp: the size of a grid of patches, for exercise 22.
#pragma once

#include <cstddef>

namespace heed {

// The patches of an image of H x W pixels: H / P rows and W / P columns.
struct GridSize {
  std::size_t rows, columns;
};

}  // namespace heed
