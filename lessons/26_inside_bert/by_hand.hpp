// by_hand.hpp: WordPiece, and BERT's embedding, block and masked-LM head, by loops (lesson 26).
#pragma once

#include <cmath>
#include <set>

#include "heed/text/word_piece.hpp"
#include "lesson.hpp"

namespace heed {

// Steps 1 and 2 of WordPiece for plain English: lower case, and a space on both sides of each
// punctuation character.
inline Names words_by_hand(const std::string& text) {
  std::string spaced;
  for (const char c : text) {
    const bool alone = std::string(".,;:!?'\"-()").find(c) != std::string::npos;
    spaced += alone ? std::string(" ") + c + " " : std::string(1, char(std::tolower(c)));
  }
  Names words;
  for (const std::string_view word : words_of(spaced)) words.emplace_back(word);
  return words;
}

// Step 3: the longest piece that the word begins with, then the longest that continues it.
inline Names pieces_by_hand(const std::set<std::string>& vocabulary, const std::string& word) {
  Names pieces;
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t end = word.size();
    const auto piece = [&] { return (begin > 0 ? "##" : "") + word.substr(begin, end - begin); };
    while (end > begin && vocabulary.count(piece()) == 0) --end;
    if (end == begin) return {"[UNK]"};  // nothing fits: the whole word is unknown
    pieces.push_back(piece());
    begin = end;
  }
  return pieces;
}

// LayerNorm of each row of x (T, C).
inline Array norm_by_hand(const Array& x, const nn::Norm& norm) {
  const std::size_t T = x.shape(0), C = x.shape(1);
  Array y = zeros({T, C});
  for (std::size_t t = 0; t < T; ++t) {
    double sum = 0, squares = 0;
    for (std::size_t c = 0; c < C; ++c) sum += x(t, c);
    const double mean = sum / double(C);
    for (std::size_t c = 0; c < C; ++c) squares += (x(t, c) - mean) * (x(t, c) - mean);
    const double deviation = std::sqrt(squares / double(C) + norm.eps);
    for (std::size_t c = 0; c < C; ++c)
      y(t, c) = Real((x(t, c) - mean) / deviation * norm.weight.value()(c) + norm.bias.value()(c));
  }
  return y;
}

// x W^T + b.  x (T, in) -> (T, out)
inline Array linear_by_hand(const Array& x, const nn::Linear& layer) {
  Array y = xt::linalg::dot(x, xt::transpose(layer.weight.value()));
  for (std::size_t t = 0; t < y.shape(0); ++t)
    for (std::size_t c = 0; c < y.shape(1); ++c) y(t, c) += layer.bias.value()(c);
  return y;
}

inline Array gelu_by_hand(Array x) {
  for (Real& element : x)
    element = Real(0.5 * element * (1 + std::erf(double(element) / std::sqrt(2.0))));
  return x;
}

// The sum of the embeddings of the token, its position and type 0, then a norm: (T, C).
inline Array embedding_by_hand(const nn::Gpt& gpt, const Indices& ids) {
  const std::size_t T = ids.shape(1), C = gpt.config.embed_dim;
  const Array &E = gpt.token.weight.value(), &P = gpt.position->weight.value(),
              &S = gpt.token_type->weight.value();  // (V, C), (block_size, C), (2, C)
  Array x = zeros({T, C});
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t c = 0; c < C; ++c) x(t, c) = E(std::size_t(ids(0, t)), c) + P(t, c) + S(0, c);
  return norm_by_hand(x, gpt.norm);
}

// Self-attention without a mask: every token attends to all. x (T, C) -> (T, C)
inline Array attention_by_hand(const nn::MultiHeadAttention& attention, const Array& x) {
  const Array q = linear_by_hand(x, attention.query), k = linear_by_hand(x, attention.key),
              v = linear_by_hand(x, attention.value);  // (T, C) each
  const std::size_t T = x.shape(0), C = x.shape(1), H = attention.num_heads, D = C / H;
  Array out = zeros({T, C});
  for (std::size_t h = 0; h < H; ++h)
    for (std::size_t t = 0; t < T; ++t) {
      std::vector<double> weights(T);
      double top = -1e30, sum = 0;
      for (std::size_t s = 0; s < T; ++s) {
        for (std::size_t c = h * D; c < (h + 1) * D; ++c) weights[s] += double(q(t, c)) * k(s, c);
        weights[s] /= std::sqrt(double(D));
        top = std::max(top, weights[s]);
      }
      for (double& w : weights) sum += w = std::exp(w - top);
      for (std::size_t c = h * D; c < (h + 1) * D; ++c)
        for (std::size_t s = 0; s < T; ++s) out(t, c) += Real(weights[s] / sum * v(s, c));
    }
  return linear_by_hand(out, attention.out);
}

// A post-norm block: each norm stands behind a residual connection. x (T, C) -> (T, C)
inline Array block_by_hand(const nn::Block& block, const Array& x) {
  const Array attended = norm_by_hand(x + attention_by_hand(block.attention, x), block.norm1);
  const Array hidden = gelu_by_hand(linear_by_hand(attended, block.mlp.up));  // (T, 4 C)
  return norm_by_hand(attended + linear_by_hand(hidden, block.mlp.down), block.norm2);
}

// BERT's masked-LM head: logits (T, V) of x (T, C).
inline Array masked_lm_head_by_hand(const nn::Gpt& gpt, const Array& x) {
  const nn::MaskedLmHead& head = *gpt.masked_lm;
  const Array y = norm_by_hand(gelu_by_hand(linear_by_hand(x, head.transform)), head.norm);
  Array logits = xt::linalg::dot(y, xt::transpose(gpt.token.weight.value()));  // (T, V)
  for (std::size_t t = 0; t < logits.shape(0); ++t)
    for (std::size_t v = 0; v < logits.shape(1); ++v) logits(t, v) += head.bias.value()(v);
  return logits;
}

}  // namespace heed
