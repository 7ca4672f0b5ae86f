// alignment.hpp: the weights of cross-attention, and how often the largest weight is on the
// token that is copied, for lesson 20.
#pragma once

#include "transformer.hpp"

namespace heed {

// The weights of the cross-attention: (B, H, T, S).
inline Array cross_weights(const Transformer& model, const Batch& batch) {
  const NoGrad no_grad;
  const nn::DecoderBlock& block = model.decoder.blocks[0];
  const Tensor memory = model.encode(batch.source), x = model.embed(batch.input);
  const Tensor after_self = x + block.attention(block.norm1(x), nn::AttentionMask{true, {}, {}});
  return block.cross.weights(block.norm2(after_self), memory, model.mask_of(batch.source)).value();
}

// The weights of one pair, the mean over the heads: (T, S).
inline Array alignment_of(const Transformer& model, const Pair& pair) {
  const Array weights = cross_weights(model, batch_of({pair}));  // (1, H, T, S)
  return xt::mean(xt::view(weights, 0), {0});
}

// Whether letter t of the target is a copy of the token at position s of the source. For 'sort' and
// 'shuffle' any position of this letter counts.
inline bool is_copied(const Pair& pair, std::size_t t, std::size_t s) {
  const std::size_t n = pair.source.size() - 2;  // letters; letter s - 1 is at position s
  return pair.source[0] == reverse ? s == n - t : pair.source[s] == pair.target[t];
}

// The fraction of the output letters whose row of `weights` (T, S) of their pair has its largest
// element at a position that they copy.
inline double aligned_fraction(const std::vector<Pair>& pairs, const std::vector<Array>& weights) {
  double letters = 0, aligned = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Indices largest = argmax(Tensor(weights[i]), -1);  // (T)
    for (std::size_t t = 0; t + 1 < pairs[i].target.size(); ++t, ++letters)
      aligned += is_copied(pairs[i], t, std::size_t(largest(t)));
  }
  return aligned / letters;
}

// The fraction that is expected for random positions of the source.
inline double aligned_at_random(const std::vector<Pair>& pairs) {
  double letters = 0, aligned = 0;
  for (const Pair& pair : pairs)
    for (std::size_t t = 0; t + 1 < pair.target.size(); ++t, ++letters)
      for (std::size_t s = 0; s < pair.source.size(); ++s)
        aligned += double(is_copied(pair, t, s)) / double(pair.source.size());
  return aligned / letters;
}

struct Aligned {
  double mean_of_heads = 0, best_head = 0, random_position = 0;
};

inline Aligned aligned(const Transformer& model, const std::vector<Pair>& pairs) {
  std::vector<Array> weights, means, heads(pairs.size());
  for (const Pair& pair : pairs) {
    weights.push_back(cross_weights(model, batch_of({pair})));  // (1, H, T, S)
    means.push_back(xt::mean(xt::view(weights.back(), 0), {0}));
  }
  Aligned result{aligned_fraction(pairs, means), 0, aligned_at_random(pairs)};
  for (std::size_t h = 0; h < H; ++h) {
    for (std::size_t i = 0; i < pairs.size(); ++i) heads[i] = xt::view(weights[i], 0, h);
    result.best_head = std::max(result.best_head, aligned_fraction(pairs, heads));
  }
  return result;
}

inline std::string table_of(const Aligned& reversed, const Aligned& sorted) {
  const auto row = [](const std::string& name, const Aligned& a) {
    return "\n" + pad_right(name, 8) + pad_left(decimal(a.mean_of_heads, 2), 18) +
           pad_left(decimal(a.best_head, 2), 11) + pad_left(decimal(a.random_position, 2), 17);
  };
  return "         mean of the heads  best head  random position" + row("reverse", reversed) +
         row("sort", sorted);
}

}  // namespace heed
