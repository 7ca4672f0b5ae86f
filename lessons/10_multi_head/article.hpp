// article.hpp: computes the example of article 3, heads with random weights, for lesson 10.
#pragma once

#include "lesson.hpp"

namespace heed {

// The same calls as in tests/lessons/articles.json.
inline void article_numbers() {
  if (!appendix("The article's numbers")) return;
  const Names words = {"one", "dog", "ran"};
  Generator g(89);
  g.randn({1, 3, 5});
  for (int n = 0; n < 3; ++n) nn::init::linear_weight(g, 5, 16);
  const Tensor x_of_one(g.randn({1, 3, 32}));
  Parameters of_one, of_four;
  show("output of one head", nn::AttentionHead({of_one, g}, 32, 8)(x_of_one), words);
  const Tensor x(g.randn({1, 3, 32}));
  std::vector<Tensor> heads;
  for (std::size_t h = 0; h < 4; ++h)
    heads.push_back(nn::AttentionHead(Scope(of_four, g) / h, 32, 8)(x));
  const Tensor out = nn::Linear(Scope(of_four, g) / "out", 32, 32)(concat(heads, -1));
  show("the first eight columns of the output of four heads", slice(out, -1, 0, 8), words);
  say({{"x", str(x.shape())}, {"head", str(heads[0].shape())}, {"out", str(out.shape())}});
}

}  // namespace heed
