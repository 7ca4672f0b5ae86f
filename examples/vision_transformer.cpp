// vision_transformer.cpp: a vision transformer learns whether a line is horizontal or vertical.
// Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", section 3.1.
#include <heed/heed.hpp>
#include <iostream>
using namespace heed;

struct VisionTransformer {
  VisionTransformer(const Scope& scope, std::size_t size, std::size_t patch, std::size_t C)
      : patches(scope / "patches", 1, patch, C),
        class_token((scope / "class").parameter("weight", scope.generator.randn({1, 1, C}))),
        positions((scope / "position").parameter(
            "weight", scope.generator.randn({size / patch * (size / patch) + 1, C}))),
        norm(scope / "norm", C),
        head(scope / "head", C, 2) {
    for (std::size_t i = 0; i < 2; ++i) blocks.emplace_back(scope / "blocks" / i, C, 4);
  }
  Tensor operator()(const Tensor& images) const {  // (B, 1, H, W) -> logits (B, 2)
    const Tensor first = expand(class_token, {images.size(0), 1, class_token.size(2)});
    Tensor x = concat({first, patches(images)}, 1) + positions;  // (B, N + 1, C)
    for (const nn::Block& block : blocks) x = block(x);
    return head(norm(select(x, 1, 0)));
  }
  nn::PatchEmbedding patches;
  Tensor class_token, positions;
  std::vector<nn::Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;
};

int main() {
  const std::size_t B = 32, size = 16;
  Parameters parameters;
  Generator generator(0);
  const VisionTransformer model({parameters, generator}, size, 4, 32);
  optim::AdamW optimizer(parameters, {/*lr=*/0.002});
  for (int step = 1; step <= 200; ++step) {
    const Indices label = generator.randint(0, 2, {B}), place = generator.randint(0, size, {B});
    Array images = generator.randn({B, 1, size, size});  // noise; the loop adds a brighter line
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t i = 0; i < size; ++i)
        (label(b) == 0 ? images(b, 0, place(b), i) : images(b, 0, i, place(b))) += 2;
    const Tensor logits = model(Tensor(images));
    const Tensor loss = cross_entropy(logits, label);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 50 == 0)
      std::cout << "step " << step << "  loss " << loss.item() << "  right "
                << xt::sum(xt::equal(argmax(logits, 1), label))() << " of " << B << '\n';
  }
}
