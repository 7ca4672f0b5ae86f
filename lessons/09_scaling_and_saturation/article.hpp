// article.hpp: the article's numbers of lesson 09, without and with a causal mask.
#pragma once

#include "lesson.hpp"

namespace heed {

inline void show_article(const Tensor& x, const Tensor& Q, const Tensor& K, const Tensor& scaled,
                         const Names& words) {
  show("x", x, words);
  show("scores", matmul(Q, transpose(K, 1, 2)), words, words);
  show("scaled scores", scaled, words, words);
  show("row sums of the attention weights", sum(softmax(scaled, -1), {-1}), {}, words);
  say();
  const Tensor lower = tril(Tensor(ones({3, 3})));
  const Tensor masked = masked_fill(scaled, xt::equal(lower.value(), 0), -INFINITY);
  show("tril", lower, words, words);
  show("masked", masked, words, words);
  show("masked attention weights", softmax(masked, -1), words, words);
  check("by tril = heed's attention_weights", softmax(masked, -1),
        attention_weights(Q, K, {/*causal=*/true}));
}

}  // namespace heed
