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
          const std::size_t n = 0;  // the number of the patch
          const std::size_t i = 0;  // the number of the pixel in its patch
          patches(b, n, i) = images(b, c, y, x);
        }
  return patches;
}

Array resized_positions(const Array& positions, const GridSize& from, const GridSize& to) {
  const std::size_t width = positions.shape(1), last = from.rows * from.columns;
  Array resized = zeros({1 + to.rows * to.columns, width});
  for (std::size_t n = 0; n < resized.shape(0); ++n)
    for (std::size_t c = 0; c < width; ++c) resized(n, c) = positions(std::min(n, last), c);
  return resized;
}
// Your part ends here.
