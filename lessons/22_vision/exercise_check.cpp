// Tests exercise 22 larger_images: compares every number of the patches of several images, which
// are all different, so that a wrong number tells which pixel it comes from. Compares position
// encodings with sums over all old patches, with the weights max(0, 1 - distance) in rows and in
// columns.

#include <algorithm>
#include <cmath>
#include <optional>

#include "exercise.hpp"
#include "grid_size.hpp"
#include "heed/array/shape.hpp"
#include "heed/nn/layers.hpp"

using namespace heed;

Array patches_of(const Array& images, std::size_t P);
Array resized_positions(const Array& positions, const GridSize& from, const GridSize& to);

namespace {

struct Sizes {
  std::size_t B, C, H, W, P;
};

// The numbers 1, 2, 3, ...
Array numbered_images(const Sizes& n) {
  Array images = zeros({n.B, n.C, n.H, n.W});
  for (std::size_t k = 0; k < images.size(); ++k) images.data()[k] = Real(k + 1);
  return images;
}

// "images(0,1,2,3)"
std::string element(std::string name, const std::vector<std::size_t>& index) {
  for (std::size_t i = 0; i < index.size(); ++i)
    name += (i == 0 ? "(" : ",") + std::to_string(index[i]);
  return name + ")";
}

// "images(0,1,2,3)" for an element of numbered_images.
std::string pixel_name(double value, const Sizes& n) {
  if (!(value >= 1 && value <= double(n.B * n.C * n.H * n.W)))
    return value == 0 ? "0: nothing was written here, but two pixels to another number"
                      : decimal(value, 4);
  const std::size_t k = std::size_t(value) - 1;
  return element("images", {k / (n.W * n.H * n.C), k / (n.W * n.H) % n.C, k / n.W % n.H, k % n.W});
}

// Describes the first wrong number; "" if all are right. Walks over the patches in their order.
std::string first_fault(const Array& patches, const Sizes& n) {
  double position = 0;  // position in the result
  for (std::size_t b = 0; b < n.B; ++b)
    for (std::size_t top = 0; top < n.H; top += n.P)
      for (std::size_t left = 0; left < n.W; left += n.P)
        for (std::size_t c = 0; c < n.C; ++c)
          for (std::size_t y = top; y < top + n.P; ++y)
            for (std::size_t x = left; x < left + n.P; ++x) {
              const double expected =
                  ((double(b) * double(n.C) + double(c)) * double(n.H) + double(y)) * double(n.W) +
                  double(x) + 1;
              const double got = patches.data()[std::size_t(position)];
              if (got != expected) {
                const std::size_t at = std::size_t(position), size = n.C * n.P * n.P;
                const std::size_t N = n.H / n.P * (n.W / n.P);
                return element("patches", {at / (size * N), at / size % N, at % size}) +
                       " must be " + pixel_name(expected, n) + ", but is " + pixel_name(got, n);
              }
              ++position;
            }
  return "";
}

// The shape of the patches: (B, N, C P P).
Shape shape_of_patches(const Sizes& n) { return {n.B, n.H / n.P * (n.W / n.P), n.C * n.P * n.P}; }

// The patches of the images, or none if n or i is out of range: then xtensor throws.
std::optional<Array> try_patches(const std::string& what, const Array& images, const Sizes& n) {
  try {
    return patches_of(images, n.P);
  } catch (const std::exception&) {
    const Shape shape = shape_of_patches(n);
    expect(what, false,
           "n or i is too large: patches is " + str(shape) + ", so n is at most " +
               std::to_string(shape[1] - 1) + " and i at most " + std::to_string(shape[2] - 1));
    return {};
  }
}

void judge(const std::string& what, const Sizes& n) {
  const Shape shape = shape_of_patches(n);
  const std::optional<Array> result = try_patches(what, numbered_images(n), n);
  if (!result) return;
  const Array& patches = *result;
  if (shape_of(patches) != shape)
    return expect(what, false,
                  "expected shape " + str(shape) + ", got shape " + str(shape_of(patches)));
  const std::string fault = first_fault(patches, n);
  expect(what, fault.empty(), fault);
}

void judge_embeddings() {
  Generator g(21);
  Parameters parameters;
  const nn::PatchEmbedding layer({parameters, g}, 3, 4, 5);
  const Array images = g.randn({2, 3, 8, 12});
  const std::string what = "the linear layer of nn::PatchEmbedding gives its embeddings";
  const std::optional<Array> patches = try_patches(what, images, {2, 3, 8, 12, 4});
  if (!patches) return;
  const Array embeddings = layer.projection(Tensor(*patches)).value();
  const Array difference = xt::abs(embeddings - layer(Tensor(images)).value());
  const double largest = xt::amax(difference)();
  expect(what, largest < 1e-5, "a number differs by " + decimal(largest, 4));
}

// The weight of old row i of `from` rows for new row y of `to` rows.
double weight_of(std::size_t i, std::size_t from, std::size_t y, std::size_t to) {
  const double centre = (2 * double(y) + 1) * double(from) / (2 * double(to)) - 0.5;
  const double inside = std::clamp(centre, 0.0, double(from) - 1);
  return std::max(0.0, 1 - std::abs(inside - double(i)));
}

Array expected_positions(const Array& positions, const GridSize& from, const GridSize& to) {
  Array resized = zeros({1 + to.rows * to.columns, positions.shape(1)});
  xt::row(resized, 0) = xt::row(positions, 0);
  for (std::size_t m = 0; m < to.rows * to.columns; ++m)
    for (std::size_t n = 0; n < from.rows * from.columns; ++n) {
      const double weight = weight_of(n / from.columns, from.rows, m / to.columns, to.rows) *
                            weight_of(n % from.columns, from.columns, m % to.columns, to.columns);
      for (std::size_t c = 0; c < positions.shape(1); ++c)
        resized(1 + m, c) += Real(weight) * positions(1 + n, c);
    }
  return resized;
}

std::string text_of(const GridSize& size) {
  return std::to_string(size.rows) + " x " + std::to_string(size.columns);
}

// Compares the rows of the resized encodings, and names the first patch that is wrong.
void judge_positions(const std::string& what, const GridSize& from, const GridSize& to,
                     const Array& positions) {
  const std::string name = what + ", " + text_of(from) + " to " + text_of(to);
  const Array got = resized_positions(positions, from, to),
              right = expected_positions(positions, from, to);
  if (shape_of(got) != shape_of(right))
    return expect(name, false,
                  "expected shape " + str(shape_of(right)) + ", got shape " + str(shape_of(got)));
  for (std::size_t n = 0; n < got.shape(0); ++n)
    for (std::size_t c = 0; c < got.shape(1); ++c) {
      if (std::abs(got(n, c) - right(n, c)) < 1e-4) continue;
      const std::size_t m = n - 1;
      const std::string whose = n == 0 ? "[CLS]"
                                       : "the patch in row " + std::to_string(m / to.columns) +
                                             ", column " + std::to_string(m % to.columns);
      return expect(name, false,
                    "number " + std::to_string(c) + " of " + whose + " must be " +
                        decimal(right(n, c), 4) + ", but is " + decimal(got(n, c), 4));
    }
  expect(name, true, "");
}

void judge_positions(const GridSize& from, const GridSize& to, std::uint64_t seed) {
  Generator g(seed);
  judge_positions("random encodings", from, to, g.randn({1 + from.rows * from.columns, 3}));
}

// Encodings that contain the row and the column of each patch. [CLS] has 100 and 200.
Array coordinates(const GridSize& size) {
  Array positions = zeros({1 + size.rows * size.columns, 2});
  positions(0, 0) = 100, positions(0, 1) = 200;
  for (std::size_t n = 0; n < size.rows * size.columns; ++n) {
    positions(1 + n, 0) = Real(n / size.columns);
    positions(1 + n, 1) = Real(n % size.columns);
  }
  return positions;
}

void judge_all_positions() {
  judge_positions("[CLS] and one patch stay", {1, 1}, {1, 1}, coordinates({1, 1}));
  judge_positions("one patch for all", {1, 1}, {2, 3}, coordinates({1, 1}));
  judge_positions("the same grid", {2, 3}, {2, 3}, coordinates({2, 3}));
  judge_positions("rows and columns", {2, 2}, {4, 4}, coordinates({2, 2}));
  judge_positions("rows and columns", {3, 2}, {3, 5}, coordinates({3, 2}));
  judge_positions("rows and columns", {2, 5}, {7, 3}, coordinates({2, 5}));
  judge_positions({4, 4}, {8, 8}, 1);
  judge_positions({6, 6}, {8, 12}, 2);
  judge_positions({3, 5}, {5, 3}, 3);
  judge_positions({8, 6}, {3, 4}, 4);
  judge_positions({1, 6}, {2, 9}, 5);
}

}  // namespace

int main() {
  judge("one patch, one channel: the pixels row by row", {1, 1, 2, 2, 2});
  judge("4 patches of one channel, row by row", {1, 1, 4, 4, 2});
  judge("2 rows and 3 columns of patches", {1, 1, 4, 6, 2});
  judge("3 rows and 2 columns of patches", {1, 1, 9, 6, 3});
  judge("one patch, three channels", {1, 3, 2, 2, 2});
  judge("two images", {2, 1, 4, 4, 2});
  judge("patches of one pixel", {2, 2, 3, 2, 1});
  judge("three images, three channels, all sizes different", {3, 2, 8, 12, 4});
  judge_embeddings();
  judge_all_positions();
  return verdict();
}
