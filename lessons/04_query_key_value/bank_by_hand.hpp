// bank_by_hand.hpp: query, key and value matrices, set by hand, for the task of the bank in lesson
// 04.
#pragma once

#include <cmath>

#include "bank.hpp"
#include "lesson.hpp"
#include "product.hpp"

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
  return softmax(masked_fill(Tensor(scores), future_mask(X.shape(0)), -INFINITY), -1).value();
}

// The output of attention for the second 'bank', which attends to itself and all earlier words:
// (3).
inline Array output_at_second_bank(const BankText& text, const Array& W_Q, const Array& W_K,
                                   const Array& W_V) {
  const Array X = xt::view(text.X, xt::range(0, text.banks[1] + 1), xt::all());
  const Tensor O = scaled_dot_product_attention(Tensor(product(X, W_Q)), Tensor(product(X, W_K)),
                                                Tensor(product(X, W_V)));
  return xt::view(O.value(), text.banks[1], xt::all());
}

inline void task_of_the_bank() {
  section("The task of the bank");
  say("'bank' should attend to the latest topic word, not to itself. No matrices can do",
      "this with the embeddings alone: up to the second 'bank' both texts have the same",
      "embeddings, in another order. So attention has the same output there (lesson",
      "04: permutation equivariance). With random matrices:");
  Generator g(5);
  const Array W_Q = g.randn({2, 3}), W_K = g.randn({2, 3}), W_V = g.randn({2, 3});
  check("at the second 'bank' the output is the same in both texts",
        output_at_second_bank(bank_texts()[0], W_Q, W_K, W_V),
        output_at_second_bank(bank_texts()[1], W_Q, W_K, W_V));
  say("", "So the scores must depend on the position. Each embedding gets two more numbers:",
      "1 for the ambiguous word 'bank' (otherwise 0), and its position in the text. The",
      "matrices are set by hand. From the four numbers,", "",
      "  W_K computes the key    (topic, position), topic = water + money - ambiguous",
      "  W_Q computes the query  (24, 2) for 'bank', (0, 0) for all other words",
      "  W_V computes the value  (water, money)", "",
      "So topic is 1 for 'river' and 'money', otherwise 0. The score of 'bank' with a",
      "key is (24 topic + 2 position) / sqrt(2): 'bank' looks for a topic word, and of",
      "two topic words it prefers the later one. 'bank' itself has topic 0.");
  show("W_K and W_Q", xt::concatenate(xt::xtuple(bank_W_K, bank_W_Q), 1), bank_inputs,
       {"k: topic", "k: position", "q: topic", "q: position"});
  say("", "Here are the weights of both 'bank's. (All scores of the other words are 0, so",
      "their weights are equal.)");
  const BankText& text = bank_texts()[0];
  Array weights = bank_weights(text);
  weights = xt::where(xt::tril(ones(weights.shape())) > 0, weights, -INFINITY);
  picture("04_query_key_value", "bank",
          Array(xt::view(weights, xt::keep(text.banks[0], text.banks[1]), xt::all())),
          {"attention weights of both 'bank's (grey: masked)",
           {"first 'bank'", "second 'bank'"},
           text.words,
           "query position",
           "key position",
           0,
           1});
  show_bank_losses(4, bank_weights);
  say("", "At the second 'bank' both topic words match, and the position decides. The loss",
      "is that of the weights chosen by hand, but it is as low on the longer texts: the",
      "matrices contain a rule, 'bank attends to the latest topic word'. The rule has a",
      "limit. A position n later adds 2 n, and a topic adds 24. So the weight of the",
      "topic word is the largest if it is fewer than 12 positions before 'bank'. Lesson",
      "10 trains such matrices for another task. Lesson 09 shows why scores are divided",
      "by sqrt(d_k), and what smaller and larger queries change here.");
}

}  // namespace heed
