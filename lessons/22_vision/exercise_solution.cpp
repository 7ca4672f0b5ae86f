// 22 patches: cut images into patches.
//
// A vision transformer reads patches (Dosovitskiy et al. 2021, section 3.1). images (B, C, H, W)
// has C channels (not the width of the model), such as red, green and blue, of H rows and W columns
// of pixels. H and W are divisible by P. Cut each image into squares of P x P pixels: the result is
// (B, N, C P P), with N = (H / P) (W / P) patches.
//
// Patches are numbered row by row: patch 0 is at the top left, patch 1 to the right of it. Within a
// patch, channel 0 comes first, as P rows of P pixels, then channel 1, and so on. H and W may
// differ. As handed out, every pixel is written to the first number of patch 0.

#include "exercise.hpp"

using namespace heed;

Array patches_of(const Array& images, std::size_t P) {
  const std::size_t B = images.shape(0), C = images.shape(1);
  const std::size_t H = images.shape(2), W = images.shape(3);
  Array patches = zeros({B, (H / P) * (W / P), C * P * P});
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t c = 0; c < C; ++c)
      for (std::size_t y = 0; y < H; ++y)
        for (std::size_t x = 0; x < W; ++x) {
          // Your part begins here.
          const std::size_t n = y / P * (W / P) + x / P;
          const std::size_t i = (c * P + y % P) * P + x % P;
          patches(b, n, i) = images(b, c, y, x);
          // Your part ends here.
        }
  return patches;
}
