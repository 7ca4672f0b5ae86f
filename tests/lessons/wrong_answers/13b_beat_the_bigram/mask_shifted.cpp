// The mask is shifted by one: a query attends to the next position, too.
#include <functional>

#include "exercise.hpp"
#include "heed/heed.hpp"

using namespace heed;

using Model = std::function<Tensor(const Indices& tokens)>;  // (B, T) -> (B, T, V)

double learning_rate() { return 0.01; }

Model build_model(const Scope& given, std::size_t V, std::size_t T) {
  const std::size_t C = 24;
  Scope scope = given;
  scope.init = {0.1, 0.05};
  const nn::Embedding token(scope / "token", V, C), position(scope / "position", T, C);
  const nn::Block block(scope / "block", C, 2);
  const nn::LayerNorm norm(scope / "norm", C);
  const nn::Linear output(scope / "output", C, V);
  nn::AttentionMask mask;
  mask.mask = !future_mask(T, T, 1);
  return [=](const Indices& tokens) {
    const Indices positions = xt::arange<std::int64_t>(std::int64_t(tokens.shape(1)));
    const Tensor x = token(tokens) + position(positions);  // (B, T, C) + (T, C)
    return output(norm(block(x, mask)));                   // (B, T, V)
  };
}
