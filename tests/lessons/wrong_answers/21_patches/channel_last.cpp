// The channels of one pixel stand next to each other, as in (H, W, C) images.
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
          const std::size_t n = y / P * (W / P) + x / P;
          const std::size_t i = (y % P * P + x % P) * C + c;
          patches(b, n, i) = images(b, c, y, x);
        }
  return patches;
}
