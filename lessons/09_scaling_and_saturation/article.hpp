// article.hpp: computes the article's example of lesson 09, with and without a causal mask.
#pragma once

#include "lesson.hpp"

namespace heed {

// An input x, its queries and its keys. W_Q and W_K are the weights of linear layers.
struct Article {
  Generator g{89};
  Tensor x{g.randn({1, 3, 5})};
  Tensor Q = linear(x, Tensor(nn::init::linear_weight(g, 5, 16)));  // (1, 3, 16)
  Tensor K = linear(x, Tensor(nn::init::linear_weight(g, 5, 16)));
  Tensor scores = matmul(Q, transpose(K, 1, 2)), scaled = scores / std::sqrt(16.0);  // (1, 3, 3)
};

inline void show_article(const Article& article, const Names& words) {
  const auto& [g, x, Q, K, scores, scaled] = article;
  show("x", x, words);
  show("scores", scores, words, words);
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
