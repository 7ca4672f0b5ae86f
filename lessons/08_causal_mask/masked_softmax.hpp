// masked_softmax.hpp: softmax with a mask, for lesson 08: the mask by torch.tril, why masked
// scores are minus infinity, rows without any key, paths through layers, and the task of the bank.
#pragma once

#include <cmath>

#include "bank.hpp"
#include "gnuplot_picture.hpp"
#include "lesson.hpp"

namespace heed {

// The sum of each row's attention weights on later positions.
inline Array future_weight(const Tensor& weights) {
  return xt::sum(xt::triu(weights.value(), 1), {1});
}

inline void mask_as_a_triangle() {
  section("The mask as a triangle of ones");
  say("PyTorch programs often make the mask with tril, a matrix of ones on and below",
      "the diagonal: 1 where a query may attend to a key. They mask the scores where it",
      "is 0. A mask of true and false has two meanings, so read the documentation:", "",
      "  true = may attend   attn_mask of torch's scaled_dot_product_attention,",
      "                      heed's AttentionOptions::mask",
      "  true = masked       attn_mask of torch.nn.MultiheadAttention, masked_fill,",
      "                      heed's future_mask", "",
      "Here are the scores of 'one', 'dog' and 'ran' from lesson 09:");
  const Names others = {"one", "dog", "ran"};
  Generator g(89);
  Tensor x(g.randn({1, 3, 5}));
  Tensor query = linear(x, Tensor(nn::init::linear_weight(g, 5, 16)));  // (1, 3, 16)
  Tensor key = linear(x, Tensor(nn::init::linear_weight(g, 5, 16)));
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
  say("The published code of the model BERT (Devlin et al. 2018) adds -10000 to masked",
      "scores. A finite number has a merit: a row with all keys masked is not NaN (but",
      "it attends to masked keys). It fails only for scores in the thousands, but minus",
      "infinity never does. The attention weight of 'the' on later positions, with all",
      "queries multiplied by a factor:", "", "factor   -10000 added  -infinity set");
  for (const double factor : {1, 1000, 2000, 4000}) {
    Tensor added = softmax(scores * factor - Tensor(xt::triu(ones({3, 3}), 1)) * 10000, -1);
    Tensor set = softmax(masked_fill(scores * factor, future_mask(3), -INFINITY), -1);
    say(pad_left(decimal(factor, 0), 6) + pad_left(decimal(future_weight(added)(0), 4), 15) +
        pad_left(decimal(future_weight(set)(0), 4), 15));
  }
  say("", "At factor 2000 the masked 'cat' has the score 4.4249 * 2000 - 10000 = -1150. It",
      "is larger than the score of 'the' itself, -1.2905 * 2000 = -2581.");
}

inline void fully_masked_row() {
  section("A query with no key left");
  say("Sentences of one batch get the same length by PADDING, tokens without meaning:",
      "'the dog' becomes '[PAD] the dog' next to 'the cat sat'. A mask hides [PAD].",
      "With a causal mask, the query '[PAD]' then has no key left. Its maximum score is",
      "-inf, and -inf - (-inf) is NaN. Gradients of such a row can make parameters NaN.",
      "Here are its weights w by the usual formula, and a gradient with respect to its",
      "scores. heed's softmax gives zeros for both:");
  Tensor row(filled({3}, -INFINITY), /*requires_grad=*/true);
  Tensor e = exp(row - max(row)), plain = e / sum(e), ours = softmax(row, 0);
  backward(plain, Array{1, 2, 3});
  show("exp(score - maximum) / sum", plain);
  show("gradient of w_0 + 2 w_1 + 3 w_2", row.grad());
  row.clear_grad();
  backward(ours, Array{1, 2, 3});
  check("heed's softmax = zeros", ours, zeros({3}), 0);
  check("its gradient = zeros", row.grad(), zeros({3}), 0);
}

// Draws a column of positions before and after each layer, and an arrow from s to t where the query
// at t may attend to the key at s: orange if s is later. The path through the given positions is
// thick. `counts` has the number of paths from the first position of this path to each output.
inline void draw_layers(const std::vector<Array>& masks, const std::vector<std::size_t>& path,
                        const Names& words, const Array& counts) {
  std::string arrows, labels;
  for (std::size_t layer = 0; layer <= masks.size(); ++layer) {
    const std::string x = std::to_string(layer);
    labels += "set label '" + (layer == 0 ? "input" : "layer " + x) + "' at " + x + ",0.5 center\n";
    for (std::size_t t = 0; t < words.size(); ++t)
      labels += "set label '" + words[t] + "' at " + x + ",-" + std::to_string(t) +
                " center front font ',16'\n";
  }
  labels += "set label \"paths from\\n'" + words[path[0]] + "'\" at 4.7,0.5 center\n";
  for (std::size_t t = 0; t < words.size(); ++t)
    labels += "set label '" + decimal(counts(t), 0) + "' at 4.7,-" + std::to_string(t) +
              " center font ',16'\n";
  for (std::size_t layer = 0; layer < masks.size(); ++layer)
    for (std::size_t t = 0; t < words.size(); ++t)
      for (std::size_t s = 0; s < words.size(); ++s) {
        if (masks[layer](t, s) == 0) continue;
        const double slope = double(s) - double(t);
        const bool thick = path[layer] == s && path[layer + 1] == t;
        arrows += "set arrow from " + decimal(double(layer) + 0.16, 2) + "," +
                  decimal(-double(s) + 0.16 * slope, 2) + " to " +
                  decimal(double(layer) + 0.84, 2) + "," + decimal(-double(s) + 0.84 * slope, 2) +
                  " lw " + (thick ? "5" : "1.5") + " lc rgb '" + (s > t ? "#D55E00" : "#0072B2") +
                  "'\n";
      }
  picture_by_gnuplot(
      "08_causal_mask", "paths",
      "set title 'One wrong mask, in layer 3: a path leads from \"cat\" to the earlier"
      " \"the\"' font ',17'\nunset border\nunset tics\nunset key\nunset grid\n"
      "set xrange [-0.3:5]\nset yrange [-2.3:0.8]\n" +
          labels + arrows + "plot -10");
}

// The rule of lesson 04 without a causal mask.
inline Array unmasked_bank_weights(const BankText& text) {
  return bank_query_key_weights(text, /*factor=*/1, /*causal=*/false);
}

inline void task_of_the_bank() {
  section("The task of the bank");
  say("The rule of lesson 04 was: attend to the latest topic word. Without the mask,",
      "the latest topic word of the text comes after the first 'bank':");
  show_bank_losses(8, unmasked_bank_weights);
  say("", "The first 'bank' now attends to the topic of the second one, and its prediction",
      "is wrong. Here the leak makes the loss large, because the rule was made by hand.");
}

}  // namespace heed
