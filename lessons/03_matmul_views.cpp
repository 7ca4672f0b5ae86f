// 03 matmul_views: four ways to read a matrix product, applied to the two products of attention.
//
// Before this lesson: 02_naive_attention, in which scores became weights.
// After it: 04_graph_attention, in which softmax turns scores into weights.
// Worth a breakpoint: add_scaled_row. Each stop adds one weighted row of T to one row of C.

#include "03_triangle.hpp"
#include "bank.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

// Adds `weight` times row `from` of T to row `to` of C.
void add_scaled_row(Real weight, const Array& T, std::size_t from, Array& C, std::size_t to) {
  for (std::size_t d = 0; d < T.shape(1); ++d) C(to, d) += weight * T(from, d);
}

// The weighted sum as text: "0.5000 the + 0.2000 cat + 0.3000 sat".
std::string combination(const Array& weights) {
  std::string text;
  for (std::size_t j = 0; j < 3; ++j)
    text += (j > 0 ? " + " : "") + decimal(weights(j), 4) + " " + words[j];
  return text;
}

void by_elements(const Array& S, const Array& T, const Array& C) {
  section("Reading 1, by elements: dot products");
  say("Each element of C is the dot product of a row of S and a column of T. By hand,",
      "this takes three loops: over the row i, the column d, and the sum index j.");
  Array by_hand = zeros({3, 5});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 5; ++d)
      for (std::size_t j = 0; j < 3; ++j) by_hand(i, d) += S(i, j) * T(j, d);
  check("all fifteen elements by hand = in one line", by_hand, C);
}

void by_rows(const Array& S, const Array& T, const Array& C) {
  section("Reading 2, by rows: weighted sums of rows");
  say("Row i of C is a weighted sum of the rows of T, and row i of S has the weights.",
      "So the output at 'the' is a weighted sum of the three embeddings:");
  Array by_hand = zeros({3, 5});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) add_scaled_row(S(i, j), T, j, by_hand, i);
  Array row0 = S(0, 0) * xt::row(T, 0) + S(0, 1) * xt::row(T, 1) + S(0, 2) * xt::row(T, 2);
  show(combination(xt::row(S, 0)), row0);
  check("this weighted sum = row 0 of C", row0, xt::row(C, 0));
  check("all rows by hand = in one line", by_hand, C);
}

void by_columns(const Array& S, const Array& T, const Array& C) {
  section("Reading 3, by columns: weighted sums of columns");
  say("Column d of C is a weighted sum of the columns of S, and column d of T has the",
      "weights. So column d of C depends on no other column of T: a matrix on the left",
      "combines positions, but never the components of a vector. A matrix on the right",
      "combines components. Lesson 05 has three of those.");
  Array by_hand = zeros({3, 5});
  for (std::size_t d = 0; d < 5; ++d)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t i = 0; i < 3; ++i) by_hand(i, d) += T(j, d) * S(i, j);
  Array column1 = T(0, 1) * xt::col(S, 0) + T(1, 1) * xt::col(S, 1) + T(2, 1) * xt::col(S, 2);
  show("a weighted sum of the columns of S", column1, {}, words);
  check("this weighted sum = column 1 of C", column1, xt::col(C, 1));
  check("all columns by hand = in one line", by_hand, C);
}

void by_outer_products(const Array& S, const Array& T, const Array& C) {
  section("Reading 4, as a sum of outer products");
  say("The OUTER PRODUCT of two vectors is a matrix: each element of the first times",
      "each element of the second. C is the sum over j of the outer product of column j",
      "of S and row j of T: the contribution of the key position j to all outputs.");
  Array by_hand = zeros({3, 5});
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 3; ++i) add_scaled_row(S(i, j), T, j, by_hand, i);
  const auto outer = [&](std::size_t j) -> Array {
    return xt::linalg::outer(xt::view(S, xt::all(), j), xt::view(T, j));
  };
  show("contribution of 'cat'", outer(1), words);
  check("the sum of three outer products = C", outer(0) + outer(1) + outer(2), C);
  check("all contributions by hand = in one line", by_hand, C);
}

Array convex_combinations(const Array& T) {
  section("Convex combinations");
  say("A weighted sum is a CONVEX COMBINATION if no weight is negative and the weights",
      "sum to one. Here are such weights, chosen by hand.");
  Array weights = {{0.8F, 0.1F, 0.1F}, {0.3F, 0.6F, 0.1F}, {0.1F, 0.7F, 0.2F}};
  Array Y = xt::linalg::dot(weights, T);
  show("weights", weights, words, words);
  show("Y = weights T", Y, words);
  say("", "A convex combination of three vectors lies in the triangle that has them as",
      "corners. It is never longer than the longest of them. That is why the lengths in",
      "lesson 02 stayed bounded without negative weights.");
  return Y;
}

void negative_weights(const Array& T, const Array& S, const Array& Y) {
  section("Sums to one, but not convex");
  say("Now take the weights of lesson 02, scores divided by their row sum. Each row",
      "sums to one, but also has a negative weight. All three outputs lie outside the",
      "triangle. The picture shows the plane of the components 0 and 1.");
  Array row_sums = xt::sum(S, {1}, xt::keep_dims), weights = S / row_sums;
  Array Z = xt::linalg::dot(weights, T);
  show("Z = (scores / row sum) T", Z, words);
  say("", "picture: " + draw_triangle(words, T, Y, Z).message);
}

void two_products_of_attention(Generator& g, const Array& T) {
  section("The two products of attention");
  say("Attention computes softmax(Q K^T) V. The rows of Q, K and V are called queries,",
      "keys and values; lesson 05 computes them from T. Here Q and K are random, and V",
      "is T. Softmax (lesson 04) makes weights that are positive and sum to one.", "",
      "Read Q K^T by elements: score (i, j) is the dot product of query i and key j.",
      "Read softmax(Q K^T) V by rows: output i is a convex combination of the values.");
  Array Q = g.randn({3, 4}), K = g.randn({3, 4}), V = T;
  Array scores = xt::linalg::dot(Q, xt::transpose(K));  // (3, 4) times (4, 3) is (3, 3)
  Array A = softmax(Tensor(scores), -1).value();        // (3, 3)
  Array O = xt::linalg::dot(A, V);                      // (3, 3) times (3, 5) is (3, 5)
  show("scores Q K^T (rows: query position, columns: key position)", scores, words, words);
  Array score = zeros({1});
  for (std::size_t d = 0; d < 4; ++d) score(0) += Q(1, d) * K(2, d);
  check("by elements: the dot product of query 1 and key 2 = score (1, 2)", score,
        xt::view(scores, 1, xt::range(2, 3)));
  show("A = softmax(Q K^T)", A, words, words);
  Array row2 = A(2, 0) * xt::row(V, 0) + A(2, 1) * xt::row(V, 1) + A(2, 2) * xt::row(V, 2);
  show("output at 'sat': " + combination(xt::row(A, 2)), row2);
  check("by rows: this convex combination = row 2 of A V", row2, xt::row(O, 2));
  check("the weights of each row sum to one", xt::sum(A, {1}), ones({3}));
  claim("no weight is negative", xt::amin(A)() >= 0, decimal(xt::amin(A)(), 4));
}

void with_einsum(const Array& T, const Array& S, const Array& C) {
  section("Both products with einsum");
  say("einsum has a letter for each axis, and sums over the letters that are missing",
      "after the arrow. id,jd->ij sums over d: dot products of rows. ij,jd->id sums",
      "over j: weighted sums of rows. The letters also help against a forgotten",
      "transpose: id,dj->ij would give wrong numbers if T were square. (einsum takes",
      "Tensors. A Tensor is an Array that records how it was computed, for lesson 08.)");
  Tensor tokens = Tensor(T).set_name("T");
  Tensor scores = einsum("id,jd->ij", {tokens, tokens});   // sum over d: (3, 3)
  Tensor outputs = einsum("ij,jd->id", {scores, tokens});  // sum over j: (3, 5)
  check("id,jd->ij = T times T transposed", S, scores);
  check("ij,jd->id = C", C, outputs);
}

void task_of_the_bank() {
  section("The task of the bank");
  say("Read by rows, the summary at 'bank' is a weighted sum of the embeddings. Which",
      "weights would predict the next word best? Choose them by hand: weight 1 for the",
      "nearer topic word, three positions before 'bank'.");
  show_bank_losses(3, [](const BankText& text) {
    Array weights = zeros({text.X.shape(0), text.X.shape(0)});
    for (const std::size_t bank : text.banks) weights(bank, bank - 3) = 1;
    return weights;
  });
  say("", "No convex combination does better: c0 and c1 then lie between 0 and 1, so no p",
      "is above exp(8) / (exp(8) + 1). But these weights fit these two texts only.",
      "Lessons 04 and 05 compute weights from the embeddings.", "",
      "To watch C grow: gdb build/release/lessons/03_matmul_views, and in it:",
      "break add_scaled_row, run, then continue. Each stop shows weight, from and to.");
}

int main() {
  opening(
      {"to read a matrix product in four ways, and to choose the reading\n"
       "that explains each of the two matrix products of attention",
       "C = A B   A (N, M), B (M, D), C (N, D);\n"
       "C(i, d) = sum over j of A(i, j) B(j, d)\n"
       "attention: O = softmax(Q K^T) V",
       "the two products: Vaswani et al., Attention Is All You Need,\n"
       "section 3.2.1, 2017\n"
       "convex combination: Boyd and Vandenberghe, Convex Optimization,\n"
       "section 2.1.4, 2004",
       "A @ B (torch.matmul), torch.outer, torch.einsum"});
  section("One product");
  say("Lesson 02 printed T and two matrix products: the scores S = T T^T, and the",
      "outputs C = S T. There are four MATRIX PRODUCT READINGS: by elements, by rows,",
      "by columns, and as a sum of outer products. By hand, they are the same three",
      "loops in four orders.");
  Generator g(42);
  const Array T = g.randn({3, 5});
  const Array S = xt::linalg::dot(T, xt::transpose(T));  // (3, 5) times (5, 3) is (3, 3)
  const Array C = xt::linalg::dot(S, T);                 // (3, 3) times (3, 5) is (3, 5)
  show("C = S T", C, words);
  by_elements(S, T, C);
  by_rows(S, T, C);
  by_columns(S, T, C);
  by_outer_products(S, T, C);
  const Array Y = convex_combinations(T);
  negative_weights(T, S, Y);
  two_products_of_attention(g, T);
  with_einsum(T, S, C);
  task_of_the_bank();
  questions(
      "In `convex_combinations`, replace the first row of the weights by 1.8, -0.4,\n"
      "-0.4. Which elements of the first row of Y are then outside the range of T?",
      "In `two_products_of_attention`, multiply the scores by 10 in the line that\n"
      "computes A: Tensor(10 * scores). To which row of V is each output close?",
      "In `with_einsum`, replace \"id,jd->ij\" by \"id,je->ij\". Which check fails? Why?");
}
