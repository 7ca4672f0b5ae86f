// attention_cases.hpp: attention with key padding, sliding windows and grouped queries, combined.
#pragma once

#include <string>
#include <vector>

#include "heed/ops/attention.hpp"
#include "near.hpp"

namespace heed::test {

// The keys that are padding: at the end, most in sentence 0; at the start or in the middle, most in
// the last sentence; or all keys of sentence 1 and some of the others.
enum class Padding { none, end, start, middle, sentences };

inline Mask key_padding(Padding kind, std::size_t B, std::size_t S) {
  Mask padding = mask({B, S});
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t s = 0; s < S; ++s)
      padding(b, s) = kind == Padding::end      ? s + B > S + b
                      : kind == Padding::start  ? s < b
                      : kind == Padding::middle ? s >= S / 3 && s < S / 3 + b
                                                : b == 1 || s % 3 == 1;
  return padding;
}

// Sizes: B sentences, T queries, and S keys of which `past` are from a cache.
struct AttentionSizes {
  std::size_t B, T, S, past = 0;
};

struct AttentionCase {
  std::string name;
  AttentionOptions options;
  AttentionSizes n;

  // q, k and v for heads of width 2, with values of width 3.
  std::vector<Array> inputs() const {
    const std::size_t H = options.num_heads;
    const std::size_t H_kv = options.num_kv_heads == 0 ? H : options.num_kv_heads;
    return {random_array({n.B, n.T, 2 * H}, 1, -2, 2), random_array({n.B, n.S, 2 * H_kv}, 2, -2, 2),
            random_array({n.B, n.S, 3 * H_kv}, 3)};
  }
};

// Each kind of padding, each window, causal or not, with 1, 2 and 4 heads and all their groups.
inline std::vector<AttentionCase> attention_cases(const AttentionSizes& n) {
  std::vector<AttentionCase> all;
  const std::vector<std::pair<std::size_t, std::size_t>> heads{
      {1, 0}, {2, 1}, {4, 1}, {4, 2}, {4, 4}};
  const std::size_t last = static_cast<std::size_t>(-1);
  std::vector<std::pair<bool, std::size_t>> windows{{true, 0},   {true, 1},       {true, 3},
                                                    {true, n.S}, {true, n.S + 5}, {true, last}};
  if (n.past == 0) windows.push_back({false, 0});
  for (const Padding padding :
       {Padding::none, Padding::end, Padding::start, Padding::middle, Padding::sentences})
    for (const auto& [causal, window] : windows)
      for (const auto& [num_heads, num_kv_heads] : heads) {
        AttentionCase c;
        c.n = n;
        c.options.causal = causal;
        c.options.past = n.past;
        c.options.window = window;
        c.options.num_heads = num_heads;
        c.options.num_kv_heads = num_kv_heads;
        if (padding != Padding::none) c.options.key_padding = key_padding(padding, n.B, n.S);
        c.name = std::to_string(n.T) + " queries, " + std::to_string(n.S) + " keys, past " +
                 std::to_string(n.past) + (causal ? ", causal, window " : ", window ") +
                 std::to_string(window) + ", padding " + std::to_string(static_cast<int>(padding)) +
                 ", heads " + std::to_string(num_heads) + " and " + std::to_string(num_kv_heads);
        all.push_back(std::move(c));
      }
  return all;
}

inline Function fused_attention_of(const AttentionOptions& options) {
  return [=](const std::vector<Tensor>& x) {
    return scaled_dot_product_attention(x[0], x[1], x[2], options);
  };
}

// The same attention, computed by matrix products and softmax.
inline Function composed_attention_of(const AttentionOptions& options) {
  return [=](const std::vector<Tensor>& x) {
    return attention_with_weights(x[0], x[1], x[2], options).output;
  };
}

// "" if fused attention equals the composition, in value and gradients, in all cases of that size.
inline std::string fused_attention_error(const AttentionSizes& n, double tolerance) {
  for (const AttentionCase& c : attention_cases(n)) {
    const std::string error = twin_difference(
        fused_attention_of(c.options), composed_attention_of(c.options), c.inputs(), tolerance);
    if (!error.empty()) return c.name + ": " + error;
  }
  return "";
}

}  // namespace heed::test
