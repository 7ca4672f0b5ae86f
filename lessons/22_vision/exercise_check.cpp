// 22 patches: checks every number of the patches of several images. The numbers of the images are
// all different, so that a wrong number tells which pixel it comes from.

#include <optional>

#include "exercise.hpp"
#include "heed/array/shape.hpp"
#include "heed/nn/layers.hpp"

using namespace heed;

Array patches_of(const Array& images, std::size_t P);

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

// "images(0,1,2,3)" for a number of numbered_images.
std::string pixel_name(double value, const Sizes& n) {
  if (!(value >= 1 && value <= double(n.B * n.C * n.H * n.W)))
    return value == 0 ? "0: nothing was written here, but two pixels to another number"
                      : decimal(value, 4);
  const std::size_t k = std::size_t(value) - 1;
  return element("images", {k / (n.W * n.H * n.C), k / (n.W * n.H) % n.C, k / n.W % n.H, k % n.W});
}

// Describes the first wrong number; "" if all are right. Walks over the patches in their order.
std::string first_fault(const Array& patches, const Sizes& n) {
  double position = 0;  // in the result
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
  return verdict();
}
