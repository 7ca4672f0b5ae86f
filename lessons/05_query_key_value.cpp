// 05 query_key_value: scaled dot-product attention with query, key and value projections.
//
// Before this lesson: 04_graph_attention, which introduced queries, keys, values and softmax.
// After it: 06_scaling_and_saturation, why the scores are divided by sqrt(d_k).
// Worth a breakpoint: attention_of_token, the whole operation for one token. Go on with `next`.

#include <cmath>

#include "05_data_flow.hpp"
#include "05_product.hpp"
#include "05_regression.hpp"
#include "bank.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

// The output of token i with a causal mask: softmax over the scores with keys 0 to i, then the
// weighted sum of the values. (The scores here are too small for exp to overflow.)
Array attention_of_token(std::size_t i, const Array& Q, const Array& K, const Array& V) {
  std::vector<Real> e(i + 1);  // exp(score); divided by their sum they are the attention weights
  Real sum = 0;
  for (std::size_t t = 0; t <= i; ++t) {
    Real score = 0;
    for (std::size_t d = 0; d < K.shape(1); ++d) score += Q(i, d) * K(t, d);
    e[t] = std::exp(score / std::sqrt(Real(K.shape(1))));
    sum += e[t];
  }
  Array output = zeros({V.shape(1)});
  for (std::size_t t = 0; t <= i; ++t)
    for (std::size_t d = 0; d < V.shape(1); ++d) output(d) += e[t] / sum * V(t, d);
  return output;
}

// Returns the scores X X^T.
Array one_vector_for_three_roles(const Array& X) {
  section("One vector for three roles");
  say("In lesson 04 the tokens 'cat' and 'sat' attend mostly to themselves, so they",
      "learn little from their context. The reason is in the scores of lesson 02, the",
      "dot products of the embeddings X:");
  Array S = product(X, xt::transpose(X));  // (3, 3)
  show("X X^T", S, words, words);
  say("", "Each token uses the same vector as query and as key. So the score of a token",
      "with itself is its squared length, and the diagonal is large. And the matrix is",
      "symmetric, but attention should not be: 'bank' needs 'river' to be understood,",
      "'river' does not need 'bank'.");
  return S;
}

void queries_and_keys(const Array& X, const Array& W_K, const Array& W_Q, const Tensor& K,
                      const Tensor& Q) {
  section("Queries and keys");
  say("At the feast of lesson 04 we invented the queries and the keys. A model computes",
      "them from the embeddings, with one PROJECTION MATRIX each:", "",
      "  K = X W_K   the key describes what the token offers",
      "  Q = X W_Q   the query describes what the token looks for", "",
      "Training finds these matrices. Here they are random. In SELF-ATTENTION queries,",
      "keys and values come from the same sequence X. In CROSS-ATTENTION the keys and",
      "values come from another sequence, such as the original of a translated text. If",
      "it has S tokens, the scores are (T, S).");
  show("K", K, words);
  check("K by hand = in one line", product(X, W_K), K);
  show("Q", Q, words);
  check("Q by hand = in one line", product(X, W_Q), Q);
}

Tensor scores_without_symmetry(const Array& X, const Array& between, const Tensor& Q,
                               const Tensor& K) {
  section("Scores of queries and keys");
  say("The scores are Q K^T. K^T is K TRANSPOSED: its rows become columns. Row i",
      "contains the scores of query i, column j those of key j.");
  Tensor scores = matmul(Q, transpose(K, 0, 1));  // (3, 4) times (4, 3) is (3, 3)
  show("scores", scores, words, words);
  check("scores by hand = in one line", product(Q.value(), xt::transpose(K.value())), scores);
  say("", "The two directions now differ, and no row has its largest score on the diagonal.",
      "The scores are X (W_Q W_K^T) X^T: in lesson 02 the middle was the identity.");
  check("X (W_Q W_K^T) X^T = scores", product(product(X, between), xt::transpose(X)), scores);
  return scores;
}

Tensor weights_from_scores(const Tensor& scores, const Array& S) {
  section("From scores to attention weights");
  say("Three steps. First divide by sqrt(d_k), where d_k is the size of a key: here 4,",
      "so by 2 (lesson 06 says why). Then set the scores of later keys to minus",
      "infinity (lesson 07). Then apply softmax to each row (lesson 04).");
  Tensor scaled = scores / std::sqrt(4.0);
  Tensor masked = masked_fill(scaled, causal_mask(3), -INFINITY);
  Tensor weights = softmax(masked, -1);
  show("scaled scores", scaled, words, words);
  show("masked scores", masked, words, words);
  show("attention weights", weights, words, words);
  Array e = xt::exp(masked.value());  // exp(-INFINITY) is 0
  Array sums = xt::sum(e, {1}, xt::keep_dims), by_hand = e / sums;
  check("attention weights by hand = in one line", by_hand, weights);
  say("",
      "weight of 'sat' for itself, scores of lesson 04  " +
          decimal(softmax(Tensor(S), -1).value()(2, 2), 4),
      "weight of 'sat' for itself, now                  " + decimal(weights.value()(2, 2), 4));
  return weights;
}

void values_and_output(const Array& X, const Array& W_V, const Tensor& weights, const Tensor& Q,
                       const Tensor& K) {
  section("Values and the output");
  say("What a token contributes can differ from its key. So a third projection matrix",
      "computes the values: V = X W_V. The OUTPUT of a token, its CONTEXT VECTOR, is",
      "the sum of the values, weighted by its row of attention weights.");
  Tensor V = matmul(Tensor(X), Tensor(W_V));  // (3, 4)
  Tensor output = matmul(weights, V);         // (3, 3) times (3, 4) is (3, 4)
  show("V", V, words);
  check("V by hand = in one line", product(X, W_V), V);
  show("output", output, words);
  check("output by hand = in one line", product(weights.value(), V.value()), output);
  check("'the' attends only to itself: its output is its value", xt::row(output.value(), 0),
        xt::row(V.value(), 0));
  say("", "The whole operation is SCALED DOT-PRODUCT ATTENTION. attention_of_token computes",
      "it for one token, scaled_dot_product_attention for all of them:");
  AttentionOptions options;
  options.causal = true;  // masks the later keys
  Tensor in_one_call = scaled_dot_product_attention(Q, K, V, options);
  check("attention_of_token for 'sat' = row 2 of the output",
        attention_of_token(2, Q.value(), K.value(), V.value()), xt::row(output.value(), 2));
  check("output = scaled_dot_product_attention", output, in_one_call);
  say("", "The data flow as a graph. The values V join only after the softmax:");
  picture("05_query_key_value", "data_flow", data_flow);
}

// The projections for the task of the bank (4, 2).
const Names bank_inputs = {"water", "money", "ambiguous", "position"};
const Real topic = 24, position = 2;
const Array bank_W_Q = {{0, 0}, {0, 0}, {topic, position}, {0, 0}};
const Array bank_W_K = {{1, 0}, {1, 0}, {-1, 0}, {0, 1}};

Array bank_weights(const BankText& text) {
  const Array X = bank_with_positions(text);  // (T, 4)
  const Array scores =
      product(product(X, bank_W_Q), xt::transpose(product(X, bank_W_K))) / std::sqrt(2.0F);
  return softmax(masked_fill(Tensor(scores), causal_mask(X.shape(0)), -INFINITY), -1).value();
}

void task_of_the_bank() {
  section("The task of the bank");
  say("Random matrices have no meaning. For the task of lesson 01, set them by hand.",
      "Each embedding gets two more numbers: 1 for the ambiguous word 'bank' (otherwise",
      "0), and its position in the text. From these four numbers,", "",
      "  W_K computes the key    (topic, position), topic = water + money - ambiguous",
      "  W_Q computes the query  (24, 2) for 'bank', (0, 0) for all other words",
      "  W_V computes the value  (water, money)", "",
      "So topic is 1 for 'river' and 'money', otherwise 0. The score of 'bank' with a",
      "key is (24 topic + 2 position) / sqrt(2): 'bank' looks for a topic word, and of",
      "two topic words it prefers the later one.");
  show("W_K and W_Q", xt::concatenate(xt::xtuple(bank_W_K, bank_W_Q), 1), bank_inputs,
       {"k: topic", "k: position", "q: topic", "q: position"});
  say("", "Words with the query (0, 0) have equal weights. Blank means below 0.125, not 0:");
  const Names& first_text = bank_texts()[0].words;
  picture("05_query_key_value", "bank", bank_weights(bank_texts()[0]),
          {"attention weights", first_text, first_text, "query position", "key position", 0, 1});
  show_bank_losses(5, bank_weights);
  say("", "At the second 'bank' both topic words match, and the position decides. The loss",
      "is that of the weights chosen by hand, but it is as low on the longer texts: the",
      "matrices contain a rule, 'bank attends to the latest topic word'. It holds if",
      "that word is fewer than 12 positions before 'bank'; from 12 on, 'bank' itself",
      "has the larger (or the same) score. Lesson 10 trains such matrices for another",
      "task. Why 24, why sqrt(d_k)? See 06_scaling_and_saturation.", "",
      "To watch one token (next until you are in a loop, then print e):", "",
      "  gdb build/release/lessons/05_query_key_value", "  break attention_of_token", "  run",
      "  next", "  print e");
}

int main() {
  opening({"to compute self-attention from embeddings, by hand and in one call",
           "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V\n"
           "X (T, d): embeddings of T tokens; W_Q, W_K (d, d_k), W_V (d, d_v)\n"
           "Q = X W_Q and K = X W_K (T, d_k), V = X W_V (T, d_v)\n"
           "scores and attention weights (T, T), output (T, d_v)",
           "scaled dot-product attention: Vaswani et al., \"Attention Is All\n"
           "You Need\" (2017), section 3.2.1, equation 1",
           "torch.nn.functional.scaled_dot_product_attention"});
  Generator g(42);
  Array X = g.randn({3, 5});
  Array S = one_vector_for_three_roles(X);
  Array W_K = g.randn({5, 4}), W_Q = g.randn({5, 4});
  Tensor K = matmul(Tensor(X), Tensor(W_K));  // (3, 5) times (5, 4) is (3, 4)
  Tensor Q = matmul(Tensor(X), Tensor(W_Q));  // (3, 4)
  queries_and_keys(X, W_K, W_Q, K, Q);
  Array between = product(W_Q, xt::transpose(W_K));  // (5, 4) times (4, 5) is (5, 5)
  Tensor scores = scores_without_symmetry(X, between, Q, K);
  Tensor weights = weights_from_scores(scores, S);
  Array W_V = g.randn({5, 4});
  values_and_output(X, W_V, weights, Q, K);
  task_of_the_bank();
  attention_as_regression();
  questions(
      "Above bank_W_Q, set position = 0: the query does not look for a late word.\n"
      "What is the loss now, and at which 'bank' is the prediction worse?",
      "Use other random matrices: Generator g(43) in main. What is the attention\n"
      "weight of 'sat' for itself, and what is its largest weight?",
      "Set options.causal = false. Which check fails? Why does the check before it,\n"
      "on row 2 of the output, still hold?");
}
