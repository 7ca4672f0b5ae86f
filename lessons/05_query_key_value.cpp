// 05 query_key_value: scaled dot-product attention with query, key and value projections.
//
// Before this lesson: 04_graph_attention, which introduced queries, keys, values and softmax.
// After it: 06_scaling_and_saturation, why the scores are divided by sqrt(d_k).
// Worth a breakpoint: attention_of_token, the whole operation for one token. Go on with `next`.

#include <cmath>
#include <limits>

#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "lesson.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};
const Real infinity = std::numeric_limits<Real>::infinity();

// Element (i, j): the dot product of row i of a and column j of b.
Array product(const Array& a, const Array& b) {
  Array c = zeros({a.shape(0), b.shape(1)});
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t j = 0; j < b.shape(1); ++j)
      for (std::size_t d = 0; d < b.shape(0); ++d) c(i, j) += a(i, d) * b(d, j);
  return c;
}

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

// The Euclidean distance, as text.
std::string distance_between(const Array& a, const Array& b) {
  Real squares = 0;
  for (std::size_t d = 0; d < a.size(); ++d) squares += (a(d) - b(d)) * (a(d) - b(d));
  return decimal(std::sqrt(squares), 4);
}

void draw_weights(const std::string& name, const std::string& title, const Tensor& weights) {
  picture("05_query_key_value", name, weights,
          {title, words, words, "query position", "key position"});
}

// The operation as a graph. Each arrow is labelled with the shape of what flows along it.
const std::string data_flow = R"dot(digraph {
  rankdir=LR
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [color="#0072B2", arrowsize=0.6, fontname="sans-serif", fontsize=11]
  Q [label="Q = X W_Q"]
  K [label="K = X W_K"]
  V [label="V = X W_V"]
  scores [label="scores = Q K^T / sqrt(4),\nmasked"]
  weights [label="attention weights\n= softmax(scores)"]
  output [label="output\n= weights V"]
  end [shape=none, label=""]
  X -> { Q K V } [label="(3, 5)"]
  { Q K } -> scores [label="(3, 4)"]
  scores -> weights [label="(3, 3)"]
  weights -> output [label="(3, 3)"]
  V -> output [label="(3, 4)"]
  output -> end [label="(3, 4)"]
}
)dot";

// Returns the scores X X^T of lesson 02.
Array one_vector_for_three_roles(const Array& X) {
  section("One vector for three roles");
  say("In lesson 04 'cat' and 'sat' attend mostly to themselves. X contains the",
      "embeddings of lesson 01, called T there. These are the dot products of its rows,",
      "the scores of lesson 02:");
  Array S = product(X, xt::transpose(X));  // (3, 3)
  show("X X^T", S, words, words);
  say("", "The score of a token with itself is its squared length, so the diagonal is",
      "large. And the matrix is symmetric: 'the' and 'cat' have one score in both",
      "directions. The reason: each token uses the same vector as query and as key.");
  return S;
}

void queries_and_keys(const Array& X, const Array& W_K, const Array& W_Q, const Tensor& K,
                      const Tensor& Q) {
  section("Queries and keys");
  say("At the feast of lesson 04 we invented the queries and the keys. A model computes",
      "them from the embeddings, with one PROJECTION MATRIX each:", "",
      "  K = X W_K   the key describes what the token offers",
      "  Q = X W_Q   the query describes what the token looks for", "",
      "Training finds these matrices. Here they are random: the next numbers of the",
      "generator that made X. If queries, keys and values come from the same sequence",
      "X, this is SELF-ATTENTION. If the keys and values come from another sequence, it",
      "is CROSS-ATTENTION: in translation, the queries come from the translated text,",
      "the keys and values from the original.", "",
      "From here on the one-line versions use Tensors (lesson 03). A Tensor contains an",
      "Array, x.value(), and remembers how it was computed.");
  show("K", K, words);
  check("K by hand = in one line", product(X, W_K), K);
  show("Q", Q, words);
  check("Q by hand = in one line", product(X, W_Q), Q);
}

Tensor scores_without_symmetry(const Array& X, const Array& S, const Array& between,
                               const Tensor& Q, const Tensor& K) {
  section("Scores of queries and keys");
  say("The scores are Q K^T. K^T is K TRANSPOSED: its rows become columns. Row i",
      "contains the scores of query i, column j those of key j.");
  Tensor scores = matmul(Q, transpose(K, 0, 1));  // (3, 4) times (4, 3) is (3, 3)
  show("scores", scores, words, words);
  check("scores by hand = in one line", product(Q.value(), xt::transpose(K.value())), scores);
  say("", "                         lesson 02       now");
  const std::size_t pairs[][2] = {{0, 1}, {1, 0}, {2, 2}};
  for (const auto& [i, j] : pairs)
    say("query '" + words[i] + "', key '" + words[j] + "'   " + pad_left(decimal(S(i, j), 4), 9) +
        " " + pad_left(decimal(scores.value()(i, j), 4), 9));
  say("", "The two directions now differ, and the diagonal is no longer large. The scores",
      "are X (W_Q W_K^T) X^T. In lesson 02 the matrix in the middle was the identity.");
  check("X (W_Q W_K^T) X^T = scores", product(product(X, between), xt::transpose(X)), scores);
  return scores;
}

// Returns the attention weights.
Tensor weights_from_scores(const Tensor& scores, const Array& S) {
  section("From scores to attention weights");
  say("Three steps. First divide by sqrt(d_k), where d_k is the size of a key: here 4,",
      "so by 2 (lesson 06 says why). Then set the scores of later keys to minus",
      "infinity (lesson 07). Then apply softmax to each row (lesson 04).");
  Tensor scaled = scores / std::sqrt(4.0);
  Tensor masked = masked_fill(scaled, causal_mask(3), -infinity);
  Tensor weights = softmax(masked, -1);
  show("scaled scores", scaled, words, words);
  show("masked scores", masked, words, words);
  show("attention weights", weights, words, words);
  Array e = xt::exp(masked.value());  // exp(-infinity) is 0
  Array sums = xt::sum(e, {1});
  Array by_hand = e / xt::view(sums, xt::all(), xt::newaxis());  // the sums as a column
  check("attention weights by hand = in one line", by_hand, weights);
  draw_weights("weights", "attention weights, random projections", weights);
  const Array before = softmax(Tensor(S), -1).value();
  say("", "weight of 'sat' for itself, scores of lesson 04  " + decimal(before(2, 2), 4),
      "weight of 'sat' for itself, now                  " + decimal(weights.value()(2, 2), 4), "",
      "These matrices are random: others would give other attention weights.");
  return weights;
}

void values_and_output(const Array& X, const Array& W_V, const Tensor& weights, const Tensor& Q,
                       const Tensor& K) {
  section("Values and the output");
  say("A third projection matrix computes the values: V = X W_V. The OUTPUT of a token",
      "is the sum of the values, weighted by the token's row of attention weights. It",
      "is also called the CONTEXT VECTOR of the token.");
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
  say("", "The data flow, with shapes, as a graph:");
  picture("05_query_key_value", "data_flow", data_flow);
}

// Returns the attention weights that a query matrix made by hand gives.
Tensor projections_by_hand() {
  section("Projection matrices with a meaning");
  say("Random matrices have no meaning. So we set them by hand. Let a token's embedding",
      "be its kind: article, noun or verb. W_K is the identity, so the key is the kind.",
      "Row by row, W_Q says which kind a token looks for: a noun looks for an article,",
      "a verb for a noun, with the factor 10. An article looks for nothing. There is no", "mask.");
  const Names kinds = {"article", "noun", "verb"};
  const Real factor = 10;
  Array kind = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  // of 'the', 'cat' and 'sat'
  Array W_Q = {{0, 0, 0}, {factor, 0, 0}, {0, factor, 0}};
  show("W_Q", W_Q, kinds, kinds);
  Tensor Q = matmul(Tensor(kind), Tensor(W_Q)), K = Tensor(kind);  // (3, 3) both
  Tensor weights = attention_weights(Q, K);                        // softmax(Q K^T / sqrt(3))
  draw_weights("chosen_weights", "attention weights by hand", weights);
  const Real e = std::exp(factor / std::sqrt(Real(3)));  // the other two scores are 0: e^0 is 1
  const Real large = e / (e + 2), small = 1 / (e + 2), third = Real(1) / 3;
  Array expected = {{third, third, third}, {large, small, small}, {small, large, small}};
  show("attention weights", weights, words, words);
  check("attention weights by hand = in one line", expected, weights);
  return weights;
}

void result(const Array& X, const Tensor& weights) {
  section("Result: who sat?");
  say("Let the value of a token be its vector in X. (In a trained model one vector",
      "contains both kind and meaning, and W_K and W_V select from it.) 'the' looks for",
      "nothing, so its weights are equal and its output is the mean. What is the output",
      "of 'sat', which looks for a noun?");
  Array output = matmul(weights, Tensor(X)).value();  // (3, 5)
  Array mean = xt::mean(X, {0}), cat = xt::row(X, 1);
  Array chosen = Real(0.1) * xt::row(X, 0) + Real(0.7) * cat + Real(0.2) * xt::row(X, 2);
  check("output of 'the' = the mean of three of lesson 01", xt::row(output, 0), mean);
  say("", "distance to 'cat', equal weights               " + distance_between(mean, cat),
      "distance to 'cat', weights chosen in lesson 01  " + distance_between(chosen, cat),
      "distance to 'cat', output of 'sat'              " +
          distance_between(xt::row(output, 2), cat),
      "",
      "The output of 'sat' is close to 'cat': its attention weight is " +
          decimal(weights.value()(2, 1), 4) + ".",
      "The matrices contain a rule, 'a verb attends to a noun', and not the weights of",
      "one sentence. Why a factor of 10? Why divide by sqrt(d_k)? That is lesson",
      "06_scaling_and_saturation.", "",
      "To watch one token: gdb build/release/lessons/05_query_key_value, and in it:",
      "break attention_of_token, run, next until you are in a loop; there next and", "print e.");
}

int main() {
  opening({"to compute self-attention from embeddings, by hand and in one call",
           "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V\n"
           "Q = X W_Q (T, d_k)      K = X W_K (S, d_k)      V = X W_V (S, d_v)\n"
           "scores and attention weights (T, S)             output (T, d_v)\n"
           "self-attention: T = S tokens, X (T, d), W_Q and W_K (d, d_k)",
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
  Tensor scores = scores_without_symmetry(X, S, between, Q, K);
  Tensor weights = weights_from_scores(scores, S);
  Array W_V = g.randn({5, 4});
  values_and_output(X, W_V, weights, Q, K);
  result(X, projections_by_hand());
  questions(
      "Set factor = 1 in projections_by_hand. What is the attention weight of 'sat'\n"
      "for 'cat', and how far is the output of 'sat' from 'cat'?",
      "Use other random matrices: Generator g(43) in main. What is the attention\n"
      "weight of 'sat' for itself, and what is its largest weight?",
      "Set options.causal = false. Which check fails? Why does the check before it,\n"
      "on row 2 of the output, still hold?");
}
