// 07_masked_softmax.hpp: softmax with a mask, for lesson 07: the mask of an article, why masked
// scores are minus infinity, and rows without any key.
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

// The sum of each row's attention weights on later positions.
inline Array future_weight(const Tensor& weights) {
  return xt::sum(xt::triu(weights.value(), 1), {1});
}

inline void mask_of_the_article() {
  section("The mask as a triangle of ones");
  say("The article with 'one dog ran' (lesson 06) masks the scores where tril is 0: the",
      "lower triangle of ones, with 1 where a query may attend to a key.");
  const Names others = {"one", "dog", "ran"};
  Generator article(89);
  Tensor x(article.randn({1, 3, 5}));
  Tensor query = linear(x, Tensor(nn::init::linear_weight(article, 5, 16)));  // (1, 3, 16)
  Tensor key = linear(x, Tensor(nn::init::linear_weight(article, 5, 16)));
  Tensor scaled = matmul(query, transpose(key, 1, 2)) / std::sqrt(16.0);  // (1, 3, 3)
  Tensor lower = tril(Tensor(ones({3, 3})));
  Tensor masked = masked_fill(scaled, xt::equal(lower.value(), 0), -INFINITY);
  Tensor weights = softmax(masked, -1);
  show("tril", lower, others, others);
  show("masked", masked, others, others);
  show("attention weights", weights, others, others);
  AttentionOptions causal;
  causal.causal = true;
  check("by tril = heed's attention_weights", weights, attention_weights(query, key, causal));
}

inline void why_minus_infinity(const Tensor& scores) {
  section("Why minus infinity, and not -10000");
  say("BERT's published code (Devlin et al. 2018) adds -10000 to masked scores. This",
      "works while scores are small. But queries can grow in training. The attention",
      "weight of 'the' on later positions, with all queries multiplied by a factor:", "",
      "factor   -10000 added  -infinity set");
  for (const double factor : {1, 1000, 2000, 4000}) {
    Tensor added = softmax(scores * factor - Tensor(xt::triu(ones({3, 3}), 1)) * 10000, -1);
    Tensor set = softmax(masked_fill(scores * factor, causal_mask(3), -INFINITY), -1);
    say(pad_left(decimal(factor, 0), 6) + pad_left(decimal(future_weight(added)(0), 4), 15) +
        pad_left(decimal(future_weight(set)(0), 4), 15));
  }
  say("", "At factor 2000 the masked 'cat' has the score 4.4249 * 2000 - 10000 = -1150. It",
      "is larger than the score of 'the' itself, -1.2905 * 2000 = -2581.");
}

inline void fully_masked_row() {
  section("A query with no key left");
  say("Sentences of one batch get the same length by PADDING: tokens without meaning,",
      "which a mask hides. With padding masked too, a query may have no key left. Its",
      "maximum score is -inf, and -inf - (-inf) is NaN. One such row can make every",
      "parameter of a model NaN in one training step. heed's softmax gives zeros:");
  Tensor row(filled({3}, -INFINITY), /*requires_grad=*/true);
  Tensor e = exp(row - max(row)), plain = e / sum(e), ours = softmax(row, 0);
  backward(plain, Array{1, 2, 3});
  show("exp(score - maximum) / sum", plain);
  show("its gradient", row.grad());
  row.clear_grad();
  backward(ours, Array{1, 2, 3});
  check("heed's softmax = zeros", ours, zeros({3}), 0);
  check("its gradient = zeros", row.grad(), zeros({3}), 0);
}

}  // namespace heed
