// 04 query_key_value: scaled dot-product attention with query, key and value projections.
//
// Before this lesson: 03_graph_attention, which introduced queries, keys, values and softmax.
// After it: 09_scaling_and_saturation, why the scores are divided by sqrt(d_k).
// Worth a breakpoint: attention_of_token, the whole operation for one token. Go on with `next`.

#include <cmath>

#include "bank_by_hand.hpp"
#include "data_flow.hpp"
#include "estimate.hpp"
#include "product.hpp"
#include "regression.hpp"

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

// The attention weight of the last token for itself, with 1000 random W_Q and W_K (5, 4).
Estimate own_weight_of_last_token(const Array& X) {
  Generator g(1);
  std::vector<double> own;
  for (std::size_t pair = 0; pair < 1000; ++pair) {
    const Array Q = xt::linalg::dot(X, g.randn({5, 4})), K = xt::linalg::dot(X, g.randn({5, 4}));
    own.push_back(double(attention_weights(Tensor(Q), Tensor(K)).value()(2, 2)));
  }
  return estimate(own);
}

// Returns the scores X X^T.
Array one_vector_for_three_roles(const Array& X) {
  section("One vector for three roles");
  say("In lesson 03 the loss at the second 'bank' was 0.6931, because 'river' and",
      "'money' have the same score with 'bank', and no embedding tells which is later.",
      "And 'cat' and 'sat' attend mostly to themselves, so they take little from their",
      "context. The scores of lesson 02 were dot products of embeddings:");
  Array S = product(X, xt::transpose(X));  // (3, 3)
  show("X X^T", S, words, words);
  say("", "Each token uses the same vector as query and as key. So the score of a token",
      "with itself is its squared length, often the largest score of its row. And the",
      "two directions of a pair share one score. But 'bank' needs 'river' to be",
      "understood, 'river' does not need 'bank'.");
  return S;
}

void queries_and_keys(const Array& X, const Array& W_K, const Array& W_Q, const Tensor& K,
                      const Tensor& Q) {
  section("Queries and keys");
  say("At the feast of lesson 03 we invented the queries and the keys. A model computes",
      "them from the embeddings, with one PROJECTION MATRIX each. (The name means only",
      "a linear map. The projections of linear algebra also satisfy P P = P.)", "",
      "  K = X W_K   the key describes what the token offers",
      "  Q = X W_Q   the query describes what the token looks for", "",
      "Training finds these matrices. Here they are random. In SELF-ATTENTION queries,",
      "keys and values come from the same sequence X. In CROSS-ATTENTION the keys and",
      "values come from another sequence, such as the original of a translated text. If",
      "it has N tokens, the scores are (T, N).");
  show("K", K, words);
  check("K by hand = in one line", product(X, W_K), K);
  Array column0 = zeros({3});
  for (std::size_t d = 0; d < 5; ++d) column0 += W_K(d, 0) * xt::col(X, d);
  say("", "Read by columns (lesson 02), column 0 of K is a weighted sum of the columns of",
      "X. Column 0 of W_K has the weights. So W_K combines the components of a token:");
  check("this weighted sum = column 0 of K", column0, xt::col(K.value(), 0));
  show("Q", Q, words);
  check("Q by hand = in one line", product(X, W_Q), Q);
}

// Returns Q K^T.
Tensor products_of_queries_and_keys(const Array& X, const Array& between, const Tensor& Q,
                                    const Tensor& K) {
  section("Dot products of queries and keys");
  say("The dot products of all queries and keys are Q K^T. Row i belongs to query i,",
      "column j to key j.");
  Tensor products = matmul(Q, transpose(K, 0, 1));  // (3, 4) times (4, 3) is (3, 3)
  show("Q K^T", products, words, words);
  check("Q K^T by hand = in one line", product(Q.value(), xt::transpose(K.value())), products);
  say("", "Now element (i, j) differs from (j, i), and no row has its largest element on",
      "the diagonal. In lesson 02 the scores were X X^T. Now there is a matrix between,",
      "X (W_Q W_K^T) X^T, of rank d_k at most, where d_k is the size of a key. (Luong",
      "et al., 2015, section 3.1, call q . W k with any matrix W the general score.)");
  check("X (W_Q W_K^T) X^T = Q K^T", product(product(X, between), xt::transpose(X)), products);
  return products;
}

// Takes Q K^T and the scores of lesson 03.
Tensor weights_from_products(const Tensor& products, const Array& lesson04, const Array& X) {
  section("From scores to attention weights");
  say("The scores of this lesson and the next ones are S = Q K^T / sqrt(d_k). Here d_k",
      "is 4, so divide by 2 (lesson 09 says why). Then set the scores of later keys to",
      "minus infinity (lesson 08). Then apply softmax to each row (lesson 03).");
  Tensor S = products / std::sqrt(4.0);
  Tensor masked = masked_fill(S, future_mask(3), -INFINITY);
  Tensor weights = softmax(masked, -1);
  show("scores S", S, words, words);
  show("masked scores", masked, words, words);
  show("attention weights", weights, words, words);
  Array e = xt::exp(masked.value());  // exp(-INFINITY) is 0
  Array sums = xt::sum(e, {1}, xt::keep_dims), by_hand = e / sums;
  check("attention weights by hand = in one line", by_hand, weights);
  const Estimate random = own_weight_of_last_token(X);
  say("", "weight of 'sat' for itself",
      "  scores of lesson 03         " + decimal(softmax(Tensor(lesson04), -1).value()(2, 2), 4),
      "  these random W_Q and W_K    " + decimal(weights.value()(2, 2), 4),
      "  mean of 1000 random pairs   " + decimal(random.mean, 2) + " +- " +
          decimal(random.standard_error, 2),
      "  equal weights               0.33", "",
      "Random matrices have no meaning: one pair gives a small weight by chance, and",
      "another a large one. (The number after +- is the STANDARD ERROR: the typical",
      "distance of such a mean from the mean of very many pairs.)");
  return weights;
}

void values_and_output(const Array& X, const Array& W_Q, const Array& W_K, const Array& W_V,
                       const Tensor& weights, const Tensor& Q, const Tensor& K) {
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
  sliders("attention", words, {{"X", X}, {"W_Q", W_Q}, {"W_K", W_K}, {"W_V", W_V}});
  say("", "The data flow as a graph. The values V join only after the softmax:");
  picture("04_query_key_value", "data_flow", data_flow);
}

int main() {
  opening({"to compute self-attention from embeddings, by hand and in one call",
           "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V\n"
           "X (T, C): embeddings of T tokens; W_Q, W_K (C, d_k), W_V (C, d_v)\n"
           "Q = X W_Q and K = X W_K (T, d_k), V = X W_V (T, d_v)\n"
           "scores S = Q K^T / sqrt(d_k) and attention weights A = softmax(S),\n"
           "both (T, T); output O = A V (T, d_v). A causal mask sets the\n"
           "scores of later keys to -inf before the softmax.",
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
  Tensor products = products_of_queries_and_keys(X, between, Q, K);
  Tensor weights = weights_from_products(products, S, X);
  Array W_V = g.randn({5, 4});
  values_and_output(X, W_Q, W_K, W_V, weights, Q, K);
  task_of_the_bank();
  attention_as_regression();
  say("", "To watch one token (next until you are in a loop, then print e):", "",
      "  gdb build/release/lessons/04_query_key_value", "  break attention_of_token", "  run",
      "  next", "  print e");
  questions(
      "Above bank_W_Q (bank_by_hand.hpp), set position = 0: the query does not look for a\n"
      "late word. What is the loss at each 'bank' now, and why?",
      "Use other random matrices: Generator g(43) in main. What is the attention\n"
      "weight of 'sat' for itself, and what is its largest weight?",
      "Set options.causal = false. Which check fails? Why does the check before it,\n"
      "on row 2 of the output, still hold?");
}
