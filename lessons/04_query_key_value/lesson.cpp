// 04 query_key_value: query, key and value projections, and scaled dot-product attention.
//
// Before this lesson: 03_graph_attention, which wrote queries and keys by hand.
// After it: 05_autograd, the first step towards matrices that are trained.
// Worth a breakpoint: attention_of_token, the whole operation for one token. Go on with `next`.

#include <cmath>

#include "bank_plane.hpp"
#include "pictures.hpp"

using namespace heed;

// A token of the bank texts has four numbers. From them, the matrices compute its query, key and
// value, of two numbers each.
const Names numbers = {"water", "money", "ambiguous", "position"};
const Real topic = 24, position = 2;
const Array bank_W_Q = {{0, 0}, {0, 0}, {topic, position}, {0, 0}};
const Array bank_W_K = {{1, 0}, {1, 0}, {-1, 0}, {0, 1}};
const Array bank_W_V = {{1, 0}, {0, 1}, {0, 0}, {0, 0}};

Array dot(const Array& a, const Array& b) { return xt::linalg::dot(a, b); }

Array causal_softmax(const Array& scores) {
  return softmax(masked_fill(Tensor(scores), future_mask(scores.shape(0)), -INFINITY), -1).value();
}

// The attention weights of the tokens X (T, C): softmax(Q K^T / sqrt(d_k)), with a causal mask.
Array weights_of(const Array& X, const Array& W_Q, const Array& W_K) {
  const Array Q = dot(X, W_Q), K = dot(X, W_K);  // (T, d_k)
  return causal_softmax(dot(Q, xt::transpose(K)) / std::sqrt(Real(W_K.shape(1))));
}

void four_numbers() {
  section("Four numbers for a token");
  const BankText& text = bank_texts()[0];
  show(xt::view(bank_with_positions(text), xt::keep(1, 3, 4, 7), xt::all()),
       {"X, four of twelve rows", {"river", "a", "bank", "money"}, numbers, 1});
}

// Attention with the matrices, after each of the four numbers was multiplied by its factor.
BankWeights with_projections(const Array& factors) {
  return [=](const BankText& text) {
    return weights_of(bank_with_positions(text) * factors, bank_W_Q, bank_W_K);
  };
}

// The smallest attention weight of a 'bank' on its topic word, in random texts.
Real smallest_weight(const BankWeights& attend, int texts) {
  Generator g(1);
  Real smallest = 1;
  for (int i = 0; i < texts; ++i) {
    const Indices fillers = g.randint(0, 5, {2});  // 0 to 4 before each 'bank'
    BankText text = bank_text({"river", "money"}, {fillers(0), fillers(1)});
    const std::size_t topics[] = {1, text.banks[0] + 3};  // the positions of 'river' and 'money'
    for (const std::size_t t : topics) {
      const Real water = g.rand({1})(0);
      xt::view(text.X, t) = Array{water, 1 - water};
    }
    const Array weights = attend(text);
    for (const int k : {0, 1}) smallest = std::min(smallest, weights(text.banks[k], topics[k]));
  }
  return smallest;
}

void three_matrices() {
  section("Three matrices");
  show(xt::concatenate(xt::xtuple(bank_W_Q, bank_W_K, bank_W_V), 1),
       {"W_Q, W_K, W_V",
        numbers,
        {"q: topic", "q: position", "k: topic", "k: position", "v: water", "v: money"},
        0});
  const BankText& text = bank_texts()[0];
  check("X W_V = water and money", dot(bank_with_positions(text), bank_W_V), text.X);
  say();
  const BankWeights attend = with_projections(ones({4}));
  draw_bank_weights(text, attend(text));
  const Real smallest = smallest_weight(attend, 1000);
  say({{"loss", decimal(bank_loss(attend), 4)}, {"smallest", decimal(smallest, 4)}});
  claim("in 1,000 random texts it is above 0.998", smallest > 0.998, decimal(smallest, 6));
}

// ---- which part does the work?

// Attention without the matrices: each number times its factor is part of query and key alike.
BankWeights without_projections(const Array& factors) {
  return [=](const BankText& text) {
    const Array X = bank_with_positions(text) * factors;  // (N, 4)
    return causal_softmax(dot(X, xt::transpose(X)));
  };
}

void without_matrices() {
  section("Without the matrices");
  const std::vector<BankRow> rows = {{"four numbers", without_projections({1, 1, 1, 1})},
                                     {"with factors", without_projections({10, 10, 0, 0.16F})},
                                     {"matrices, no position", with_projections({1, 1, 1, 0})},
                                     {"matrices and position", with_projections({1, 1, 1, 1})}};
  show_bank_losses(rows);
  say();
  claim("with these factors the mean loss is above 0.0181", bank_loss(rows[1].weights_of) > 0.0181,
        "it is not");
  draw_bank_plane("04_query_key_value", {{"no position", bank_output(rows[2].weights_of)},
                                         {"four numbers", bank_output(rows[0].weights_of)},
                                         {"with factors", bank_output(rows[1].weights_of)},
                                         {"04 matrices", bank_output(rows[3].weights_of)}});
}

void without_positions() {
  section("Without the position");
  Generator g(5);
  const Array W_Q = g.randn({2, 3}), W_K = g.randn({2, 3}), W_V = g.randn({2, 3});
  const auto output = [&](const BankText& text) {
    const Array O = dot(weights_of(text.X, W_Q, W_K), dot(text.X, W_V));
    return Array(xt::row(O, text.banks[1]));
  };
  check("random matrices: at the second 'bank' both texts have the same output",
        output(bank_texts()[0]), output(bank_texts()[1]));
  say();
}

// ---- the operation

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

void the_operation() {
  section("The whole operation");
  const Names words = {"the", "cat", "sat"};
  Generator g(42);
  const Array X = g.randn({3, 5}), W_K = g.randn({5, 4}), W_Q = g.randn({5, 4}),
              W_V = g.randn({5, 4});
  const Array Q = dot(X, W_Q), K = dot(X, W_K), V = dot(X, W_V);  // (3, 4)
  const Array products = dot(Q, xt::transpose(K));                // (3, 4) times (4, 3)
  const Array S = products / std::sqrt(Real(4));
  const Array weights = causal_softmax(S), output = dot(weights, V);
  draw_shapes(words, Q, K, V, S, weights, output);
  say();
  show("attention weights", weights, words, words);
  check("'the' attends only to itself: its output is its value", xt::row(output, 0), xt::row(V, 0));
  check("attention_of_token for 'sat' = row 2 of the output", attention_of_token(2, Q, K, V),
        xt::row(output, 2));
  AttentionOptions options;
  options.causal = true;  // masks the later keys
  check("output = scaled_dot_product_attention", output,
        scaled_dot_product_attention(Tensor(Q), Tensor(K), Tensor(V), options));
  sliders("attention", words, {{"X", X}, {"W_Q", W_Q}, {"W_K", W_K}, {"W_V", W_V}});
  say();
  picture("04_query_key_value", "data_flow", data_flow);
  if (!appendix("The article's numbers")) return;
  show("K", K, words);
  show("Q", Q, words);
  show("Q K^T", products, words, words);
  show("scores S", S, words, words);
  show("masked scores", masked_fill(Tensor(S), future_mask(3), -INFINITY), words, words);
  show("V", V, words);
  show("output", output, words);
  const Array between = dot(W_Q, xt::transpose(W_K));  // (5, 5)
  check("X (W_Q W_K^T) X^T = Q K^T", dot(dot(X, between), xt::transpose(X)), products);
}

int main() {
  opening();
  four_numbers();
  three_matrices();
  without_matrices();
  without_positions();
  the_operation();
  appendix("In the debugger");
  ending();
}
