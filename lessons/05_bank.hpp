// 05_bank.hpp: query, key and value matrices, set by hand, for the task of the bank in lesson 05.
#pragma once

#include <cmath>

#include "05_product.hpp"
#include "bank.hpp"
#include "lesson.hpp"

namespace heed {

// The projections for the task of the bank (4, 2).
const Names bank_inputs = {"water", "money", "ambiguous", "position"};
const Real topic = 24, position = 2;
const Array bank_W_Q = {{0, 0}, {0, 0}, {topic, position}, {0, 0}};
const Array bank_W_K = {{1, 0}, {1, 0}, {-1, 0}, {0, 1}};

inline Array bank_weights(const BankText& text) {
  const Array X = bank_with_positions(text);  // (T, 4)
  const Array scores =
      product(product(X, bank_W_Q), xt::transpose(product(X, bank_W_K))) / std::sqrt(2.0F);
  return softmax(masked_fill(Tensor(scores), causal_mask(X.shape(0)), -INFINITY), -1).value();
}

inline void task_of_the_bank() {
  section("The task of the bank");
  say("Random matrices have no meaning. For the task of lesson 01, set them by hand.",
      "Each embedding gets two more numbers: 1 for the ambiguous word 'bank' (otherwise",
      "0), and its position in the text. From these four numbers,", "",
      "  W_K computes the key    (topic, position), topic = water + money - ambiguous",
      "  W_Q computes the query  (24, 2) for 'bank', (0, 0) for all other words",
      "  W_V computes the value  (water, money)", "",
      "So topic is 1 for 'river' and 'money', otherwise 0. The score of 'bank' with a",
      "key is (24 topic + 2 position) / sqrt(2): 'bank' looks for a topic word, and of",
      "two topic words it prefers the later one. 'bank' itself has topic 0. Its score",
      "with itself is larger than with a topic word n positions before if 2 n > 24.");
  show("W_K and W_Q", xt::concatenate(xt::xtuple(bank_W_K, bank_W_Q), 1), bank_inputs,
       {"k: topic", "k: position", "q: topic", "q: position"});
  say("", "Words with the query (0, 0) have equal weights. Blank means below 0.125:");
  const Names& first_text = bank_texts()[0].words;
  Array weights = bank_weights(bank_texts()[0]);
  weights = xt::where(xt::tril(ones(weights.shape())) > 0, weights, -INFINITY);
  picture("05_query_key_value", "bank", weights,
          {"attention weights", first_text, first_text, "query position", "key position", 0, 1});
  show_bank_losses(5, bank_weights);
  say("", "At the second 'bank' both topic words match, and the position decides. The loss",
      "is that of the weights chosen by hand, but it is as low on the longer texts: the",
      "matrices contain a rule, 'bank attends to the latest topic word'. It holds if",
      "that word is fewer than 12 positions before 'bank' (2 * 12 = 24). Lesson 10",
      "trains such matrices for another task. Lesson 06 shows why scores are divided by",
      "sqrt(d_k), and what smaller and larger queries change here.", "",
      "To watch one token (next until you are in a loop, then print e):", "",
      "  gdb build/release/lessons/05_query_key_value", "  break attention_of_token", "  run",
      "  next", "  print e");
}

}  // namespace heed
