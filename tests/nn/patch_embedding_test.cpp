// patch_embedding_test.cpp: PatchEmbedding against a loop over pixels.

#include "catch.hpp"
#include "heed/nn/layers.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

struct PatchStore {
  Scope scope() { return Scope(parameters, generator); }
  Parameters parameters;
  Generator generator{3};
};

}  // namespace

TEST_CASE("PatchEmbedding equals a loop over patches, channels and pixels", "[nn][patches]") {
  const std::size_t B = 2, C = 3, P = 2, rows = 3, columns = 4, E = 5;
  PatchStore store;
  const nn::PatchEmbedding layer(store.scope(), C, P, E);
  const Array images = random_array({B, C, rows * P, columns * P}, 1);
  const Array &weight = layer.projection.weight.value(), &bias = layer.projection.bias.value();
  Array expected = zeros({B, rows * columns, E});
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t n = 0; n < rows * columns; ++n)
      for (std::size_t e = 0; e < E; ++e) {
        expected(b, n, e) = bias(e);
        for (std::size_t c = 0; c < C; ++c)
          for (std::size_t i = 0; i < P; ++i)
            for (std::size_t j = 0; j < P; ++j)
              expected(b, n, e) += weight(e, (c * P + i) * P + j) *
                                   images(b, c, n / columns * P + i, n % columns * P + j);
      }
  CHECK(difference(layer(Tensor(images)), expected) == "");
}

TEST_CASE("a patch as large as the image gives one vector, a patch of one pixel one per pixel",
          "[nn][patches]") {
  PatchStore store;
  const Tensor images(random_array({2, 1, 4, 4}, 1));
  CHECK(nn::PatchEmbedding(store.scope() / "a", 1, 4, 3)(images).shape() == Shape({2, 1, 3}));
  CHECK(nn::PatchEmbedding(store.scope() / "b", 1, 1, 3)(images).shape() == Shape({2, 16, 3}));
  CHECK(store.parameters.at("a.weight").shape() == Shape({3, 16}));
}

TEST_CASE("PatchEmbedding rejects images that cannot be cut, and sizes of 0", "[nn][patches]") {
  PatchStore store;
  const nn::PatchEmbedding layer(store.scope(), 3, 4, 8);
  for (const Shape& shape :
       {Shape{1, 3, 8, 6}, Shape{1, 3, 6, 8}, Shape{1, 1, 8, 8}, Shape{3, 8, 8}})
    CHECK(message_of([&] { layer(Tensor(ones(shape))); }) ==
          "PatchEmbedding: images " + str(shape) +
              " must be (B, 3, H, W) with H and W divisible by patch_size = 4");
  CHECK(message_of([&] { nn::PatchEmbedding(store.scope() / "a", 0, 4, 8); }) ==
        "PatchEmbedding: channels must be at least 1");
  CHECK(message_of([&] { nn::PatchEmbedding(store.scope() / "b", 3, 0, 8); }) ==
        "PatchEmbedding: patch_size must be at least 1");
  CHECK(message_of([&] { nn::PatchEmbedding(store.scope() / "c", 3, 4, 0); }) ==
        "PatchEmbedding: embed_dim must be at least 1");
}

TEST_CASE("a PatchEmbedding whose patches have too many numbers is rejected", "[nn][patch]") {
  Parameters parameters;
  Generator generator(1);
  CHECK(message_of([&] {
          nn::PatchEmbedding(Scope(parameters, generator), 1, std::size_t{1} << 32, 2);
        }) ==
        "shape (1, 4294967296, 4294967296) is too large: it has 2^59 elements or more; give "
        "smaller sizes");
}
