// exercise_attention.hpp: the attention of the block in exercise 12: heed's or, in `./heed train
// --mine`, the reader's.
#pragma once

#include <functional>

#include "heed/nn/attention.hpp"

// Self-attention, called as nn::MultiHeadAttention is: attention(x, mask).
struct Attention {
  // (B, T, C) -> (B, T, C)
  heed::Tensor operator()(const heed::Tensor& x, const heed::nn::AttentionMask& mask = {}) const {
    return compute(x, mask);
  }
  std::function<heed::Tensor(const heed::Tensor& x, const heed::nn::AttentionMask& mask)> compute;
};
