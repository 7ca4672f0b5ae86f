// 22 larger_images: patches of images of any size, and position encodings for them.
//
// A vision transformer was trained on images of one size. Now it is given larger ones, of another
// shape. Two things must fit them (Dosovitskiy et al. 2021, section 3.1 and the end of 3.2).
//
// 1. patches_of cuts images (B, C, H, W) into squares of P x P pixels: (B, N, C P P). C is the
//    number of channels, such as red, green and blue; H and W are divisible by P and may differ.
//    Patches are numbered row by row: patch 0 is at the top left, patch 1 to the right of it.
//    Within a patch, channel 0 comes first, as P rows of P pixels, then channel 1, and so on.
//
// 2. resized_positions makes position encodings for a grid of `to` patches from those of a grid of
//    `from` patches. Row 0 of `positions` (1 + from.rows from.columns, width) belongs to [CLS] and
//    stays. The other rows belong to the patches, numbered as above. Think of both grids as laid
//    over the same image, and interpolate at the centres of the new patches: the centre of row y
//    is, in rows of the old grid,
//
//        r = (y + 0.5) from.rows / to.rows - 0.5
//
//    where 0 is the centre of the first old row. Centres above the first or below the last old row
//    take the value of that row. Between two old rows the encoding is linear in r. The same for
//    columns: so each new encoding is a weighted mean of four old ones (bilinear interpolation,
//    torch.nn.functional.interpolate(mode="bilinear", align_corners=False)).
//
// As handed out, every pixel is written to the first number of patch 0, and each new patch takes
// the encoding of the old patch with its number, or that of the last one.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "grid_size.hpp"

using namespace heed;

// Your part begins here.
Array patches_of(const Array& images, std::size_t P) {
  const std::size_t B = images.shape(0), C = images.shape(1);
  const std::size_t H = images.shape(2), W = images.shape(3);
  Array patches = zeros({B, (H / P) * (W / P), C * P * P});
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t c = 0; c < C; ++c)
      for (std::size_t y = 0; y < H; ++y)
        for (std::size_t x = 0; x < W; ++x) {
          const std::size_t n = y / P * (W / P) + x / P;
          const std::size_t i = (c * P + y % P) * P + x % P;
          patches(b, n, i) = images(b, c, y, x);
        }
  return patches;
}

// The two old rows, or columns, next to a new one, and the weight of the second.
struct Neighbours {
  std::size_t first, second;
  double weight;
};

Neighbours neighbours(std::size_t y, std::size_t from, std::size_t to) {
  double r = (double(y) + 0.5) * double(from) / double(to) - 0.5;
  r = std::min(std::max(r, 0.0), double(from - 1));
  const std::size_t first = std::size_t(r);
  return {first, std::min(first + 1, from - 1), r - double(first)};
}

Array resized_positions(const Array& positions, const GridSize& from, const GridSize& to) {
  const std::size_t width = positions.shape(1);
  Array resized = zeros({1 + to.rows * to.columns, width});
  for (std::size_t c = 0; c < width; ++c) resized(0, c) = positions(0, c);
  const auto old = [&](std::size_t row, std::size_t column, std::size_t c) {
    return double(positions(1 + row * from.columns + column, c));
  };
  for (std::size_t y = 0; y < to.rows; ++y)
    for (std::size_t x = 0; x < to.columns; ++x) {
      const Neighbours row = neighbours(y, from.rows, to.rows);
      const Neighbours column = neighbours(x, from.columns, to.columns);
      for (std::size_t c = 0; c < width; ++c) {
        const auto in_row = [&](std::size_t r) {
          return (1 - column.weight) * old(r, column.first, c) +
                 column.weight * old(r, column.second, c);
        };
        resized(1 + y * to.columns + x, c) =
            Real((1 - row.weight) * in_row(row.first) + row.weight * in_row(row.second));
      }
    }
  return resized;
}
// Your part ends here.
