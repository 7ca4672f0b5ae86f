// shapes.hpp: the images of lesson 22: a diamond, a cross or arrows, drawn into noise.
#pragma once

#include <algorithm>
#include <vector>

#include "lesson.hpp"

namespace heed {

constexpr std::size_t side = 24, P = 4;                  // pixels of an image and of a patch
constexpr std::size_t grid = side / P, N = grid * grid;  // 6 x 6 patches
constexpr double noise = 0.3;                            // its standard deviation; lines are 1
inline const Names shapes = {"diamond", "cross", "up", "down"};
// The lines of the four quarters of a shape: top left, top right, bottom left, bottom right.
inline const Names quarters = {"/\\\\/", "\\//\\", "/\\/\\", "\\/\\/"};

// The position of a shape: (row, column) is its top left patch, and each quarter has scale x scale
// patches.
struct Place {
  std::size_t row, column, scale;
};

// A random position whose column is from first_column to last_column.
inline Place random_place(Generator& g, std::size_t first_column = 0,
                          std::size_t last_column = grid) {
  const auto draw = [&](std::size_t low, std::size_t high) {
    return std::size_t(g.randint(int(low), int(high), {1})(0));
  };
  const std::size_t scale = brief() ? 2 : draw(1, 3), end = grid - 2 * scale + 1;
  const std::size_t row = draw(0, end), column = draw(first_column, std::min(end, last_column + 1));
  return {row, column, scale};
}

struct LabelledImages {
  Array images;   // (B, 1, side, side)
  Indices label;  // (B): indices of `shapes`
  Array lines;    // (B, N): 1 where a patch has a part of a line, else 0
};

// Adds the lines of shape label(b) to image b.
inline void draw_shape(LabelledImages& p, std::size_t b, const Place& at) {
  const std::size_t n = P * at.scale;  // pixels per side of a quarter
  for (std::size_t q = 0; q < 4; ++q)
    for (std::size_t i = 0; i < n; ++i) {
      const bool rises = quarters[std::size_t(p.label(b))][q] == '/';
      const std::size_t y = P * at.row + q / 2 * n + i;
      const std::size_t x = P * at.column + q % 2 * n + (rises ? n - 1 - i : i);
      p.images(b, 0, y, x) += 1;
      p.lines(b, y / P * grid + x / P) = 1;
    }
}

// A batch of random shapes at random positions whose column is at least first_column.
inline LabelledImages new_images(Generator& g, std::size_t B, std::size_t first_column = 0) {
  LabelledImages p{g.randn({B, 1, side, side}) * Real(noise), g.randint(0, 4, {B}), zeros({B, N})};
  for (std::size_t b = 0; b < B; ++b) draw_shape(p, b, random_place(g, first_column));
  return p;
}

// Copies patch n of an image (side, side) to patch m of another.
inline void copy_patch(const Real* from, std::size_t n, Real* to, std::size_t m) {
  for (std::size_t i = 0; i < P; ++i)
    std::copy_n(from + (n / grid * P + i) * side + n % grid * P, P,
                to + (m / grid * P + i) * side + m % grid * P);
}

// The images with their patches in another order: patch m of the result is patch order[m].
inline Array in_order(const Array& images, const std::vector<std::size_t>& order) {
  Array result = images;
  for (std::size_t b = 0; b < images.shape(0); ++b)
    for (std::size_t m = 0; m < N; ++m)
      copy_patch(&images(b, 0, 0, 0), order[m], &result(b, 0, 0, 0), m);
  return result;
}

// The order of patches that turns a diamond into another shape: it exchanges whole quarters.
inline std::vector<std::size_t> order_of(std::size_t shape, const Place& at) {
  std::vector<std::size_t> order(N);
  for (std::size_t n = 0; n < N; ++n) order[n] = n;
  std::size_t next[2] = {0, 1};  // the next quarter of the diamond with '/', with '\'
  const auto patch_of = [&](std::size_t q, std::size_t i) {  // patch i of quarter q
    return (at.row + q / 2 * at.scale + i / at.scale) * grid + at.column + q % 2 * at.scale +
           i % at.scale;
  };
  for (std::size_t q = 0; q < 4; ++q) {
    std::size_t& from = next[quarters[shape][q] == '/' ? 0 : 1];  // 0, then 3; or 1, then 2
    for (std::size_t i = 0; i < at.scale * at.scale; ++i) order[patch_of(q, i)] = patch_of(from, i);
    from = 3 - from;
  }
  return order;
}

// Held-out images: `count` diamonds, and each of them rearranged into the other three shapes, so
// that four images have the same patches. Image 4 i + s has shape s.
inline LabelledImages four_of_each(Generator& g, std::size_t count, std::size_t first_column = 0,
                                   std::size_t last_column = grid) {
  LabelledImages all{zeros({4 * count, 1, side, side}), indices({4 * count}),
                     zeros({4 * count, N})};
  for (std::size_t i = 0; i < count; ++i) {
    const Place at = random_place(g, first_column, last_column);
    LabelledImages one{g.randn({1, 1, side, side}) * Real(noise), indices({1}), zeros({1, N})};
    draw_shape(one, 0, at);
    for (std::size_t s = 0; s < 4; ++s) {
      const std::vector<std::size_t> order = order_of(s, at);
      xt::view(all.images, 4 * i + s) = xt::view(in_order(one.images, order), 0);
      all.label(4 * i + s) = std::int64_t(s);
      for (std::size_t m = 0; m < N; ++m) all.lines(4 * i + s, m) = one.lines(0, order[m]);
    }
  }
  return all;
}

}  // namespace heed
