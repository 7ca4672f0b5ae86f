// 02b matmul_views: four ways to read a matrix product, applied to the two products of attention.
//
// Before this lesson: 02_naive_attention, in which scores became weights.
// After it: 03_graph_attention, in which softmax turns scores into weights.
// Worth a breakpoint: add_scaled_row. Each stop adds one weighted row of X to one row of O.

#include "triangle.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

// Adds `weight` times row `from` of X to row `to` of O.
void add_scaled_row(Real weight, const Array& X, std::size_t from, Array& O, std::size_t to) {
  for (std::size_t d = 0; d < X.shape(1); ++d) O(to, d) += weight * X(from, d);
}

void by_elements(const Array& S, const Array& X, const Array& O) {
  section("Inner-product form: dot products");
  say("Each element of O is the dot product of a row of S and a column of X. By hand,",
      "this takes three loops: over the row i, the column d, and the sum index j.");
  Array by_hand = zeros({3, 5});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 5; ++d)
      for (std::size_t j = 0; j < 3; ++j) by_hand(i, d) += S(i, j) * X(j, d);
  check("all fifteen elements by hand = in one line", by_hand, O);
}

void by_rows(const Array& S, const Array& X, const Array& O) {
  section("Row form: weighted sums of rows");
  say("Row i of O is a weighted sum of the rows of X, and row i of S has the weights.",
      "So the output at 'the' is a weighted sum of the three embeddings:");
  Array by_hand = zeros({3, 5});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) add_scaled_row(S(i, j), X, j, by_hand, i);
  Array row0 = S(0, 0) * xt::row(X, 0) + S(0, 1) * xt::row(X, 1) + S(0, 2) * xt::row(X, 2);
  show(combination(xt::row(S, 0), words), row0);
  check("this weighted sum = row 0 of O", row0, xt::row(O, 0));
  check("all rows by hand = in one line", by_hand, O);
}

void by_columns(const Array& S, const Array& X, const Array& O) {
  section("Column form: weighted sums of columns");
  say("Column d of O is a weighted sum of the columns of S, and column d of X has the",
      "weights. So for given S, column d of O depends on column d of X only: a matrix",
      "on the left combines positions, never the components of a vector. A matrix on",
      "the right, as in lesson 04, combines the components of each position.");
  Array by_hand = zeros({3, 5});
  for (std::size_t d = 0; d < 5; ++d)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t i = 0; i < 3; ++i) by_hand(i, d) += X(j, d) * S(i, j);
  Array column1 = X(0, 1) * xt::col(S, 0) + X(1, 1) * xt::col(S, 1) + X(2, 1) * xt::col(S, 2);
  show("a weighted sum of the columns of S", column1, {}, words);
  check("this weighted sum = column 1 of O", column1, xt::col(O, 1));
  check("all columns by hand = in one line", by_hand, O);
}

void by_outer_products(const Array& S, const Array& X, const Array& O) {
  section("Outer-product form: a sum of outer products");
  say("The OUTER PRODUCT of two vectors is a matrix: each element of the first times",
      "each element of the second. O is the sum over j of the outer product of column j",
      "of S and row j of X. The j-th term is what the key position j contributes to all",
      "outputs.");
  Array by_hand = zeros({3, 5});
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 3; ++i) add_scaled_row(S(i, j), X, j, by_hand, i);
  const auto outer = [&](std::size_t j) -> Array {
    return xt::linalg::outer(xt::view(S, xt::all(), j), xt::view(X, j));
  };
  show("contribution of 'cat'", outer(1), words);
  check("the sum of three outer products = O", outer(0) + outer(1) + outer(2), O);
  check("all contributions by hand = in one line", by_hand, O);
}

Array convex_combinations(const Array& X) {
  section("Convex combinations");
  say("A weighted sum is a CONVEX COMBINATION if no weight is negative and the weights",
      "sum to one. Here are such weights, chosen by hand.");
  Array weights = {{0.8F, 0.1F, 0.1F}, {0.3F, 0.6F, 0.1F}, {0.1F, 0.7F, 0.2F}};
  Array Y = xt::linalg::dot(weights, X);
  show("weights", weights, words, words);
  show("Y = weights X", Y, words);
  say("", "A convex combination of three vectors lies in the triangle that has them as",
      "corners. It is never longer than the longest of them. By the triangle inequality",
      "the length of a u + b v + c w is at most |a u| + |b v| + |c w|. No weight is",
      "negative, so this is a |u| + b |v| + c |w|, a weighted mean of the three",
      "lengths. That is why lengths stayed bounded in lesson 02 without negative", "weights.");
  return Y;
}

void negative_weights(const Array& X, const Array& S, const Array& Y) {
  section("Sums to one, but not convex");
  say("Now take the weights of lesson 02, scores divided by their row sum. Each row",
      "sums to one, but also has a negative weight. The weights of a row are the",
      "BARYCENTRIC COORDINATES of its output. No other weights with sum one give this",
      "output, because the three rows of X do not lie on one line. So a point with a",
      "negative coordinate is no convex combination: it lies outside the triangle. The",
      "picture shows the components 0 and 1. In these the rows are also the corners of",
      "a triangle, with the same coordinates.");
  Array row_sums = xt::sum(S, {1}, xt::keep_dims), weights = S / row_sums;
  Array Z = xt::linalg::dot(weights, X);
  show("Z = (scores / row sum) X", Z, words);
  const Array coordinates = barycentric_coordinates(Z, X);  // (3, 3)
  check("coordinates of Z, from the components 0 and 1 = weights", coordinates, weights, 1e-4);
  const Array smallest = xt::amin(coordinates, {1});
  claim("each row of Z has a negative coordinate", xt::amax(smallest)() < 0, "one has none");
  draw_triangle(X, Y, Z);
}

void two_products_of_attention(Generator& g, const Array& X) {
  section("The two products of attention");
  say("In lesson 02 the same X was used three times: (X X^T) X. Attention may use three",
      "different matrices: softmax(Q K^T) V. (Lesson 04 adds a factor to the scores.)",
      "The rows of Q, K and V are called queries, keys and values; lesson 04 computes",
      "them from X. Here Q and K are random, and V is X. Softmax (lesson 03) makes",
      "weights that are positive and sum to one.", "",
      "Q K^T in inner-product form: score (i, j) is the dot product of query i and key",
      "j. softmax(Q K^T) V in row form: output i is a convex combination of the values.");
  Array Q = g.randn({3, 4}), K = g.randn({3, 4}), V = X;
  Array scores = xt::linalg::dot(Q, xt::transpose(K));  // (3, 4) times (4, 3) is (3, 3)
  // heed's operations take Tensors: arrays that record how they were computed (lesson 05). The -1
  // means: along the last axis, so over each row.
  Array A = softmax(Tensor(scores), -1).value();  // (3, 3)
  Array O = xt::linalg::dot(A, V);                // (3, 3) times (3, 5) is (3, 5)
  show("scores Q K^T (rows: query position, columns: key position)", scores, words, words);
  Array score = zeros({1});
  for (std::size_t d = 0; d < 4; ++d) score(0) += Q(1, d) * K(2, d);
  check("inner-product form: the dot product of query 1 and key 2 = score (1, 2)", score,
        xt::view(scores, 1, xt::range(2, 3)));
  show("A = softmax(Q K^T)", A, words, words);
  Array row2 = A(2, 0) * xt::row(V, 0) + A(2, 1) * xt::row(V, 1) + A(2, 2) * xt::row(V, 2);
  show("output at 'sat': " + combination(xt::row(A, 2), words), row2);
  check("row form: this convex combination = row 2 of A V", row2, xt::row(O, 2));
  check("the weights of each row sum to one", xt::sum(A, {1}), ones({3}));
  claim("no weight is negative", xt::amin(A)() >= 0, decimal(xt::amin(A)(), 4));
}

void with_einsum(const Array& X, const Array& S, const Array& O) {
  section("Both products with einsum");
  say("einsum(\"id,jd->ij\", {X, X}) names the axes of its inputs and of its result: i",
      "and j are positions, d is a component. It sums over the letters that are missing",
      "after the arrow, here d: dot products of rows. ij,jd->id sums over j: weighted",
      "sums of rows. A letter in both inputs and in the result only runs along: with",
      "bid,bjd->bij, einsum computes one product of matrices for each value of b. With",
      "a wrong equation, id,dj->ij, it reports that d cannot be 5 and 3. (It could not",
      "notice the error if X were square.)");
  Tensor tokens = Tensor(X).set_name("X");
  Tensor scores = einsum("id,jd->ij", {tokens, tokens});   // sum over d: (3, 3)
  Tensor outputs = einsum("ij,jd->id", {scores, tokens});  // sum over j: (3, 5)
  check("id,jd->ij = X times X transposed", S, scores);
  check("ij,jd->id = O", O, outputs);
}

int main() {
  opening(
      {"to read a matrix product in four forms, and to choose the form\n"
       "that explains each of the two matrix products of attention",
       "P = A B   A (N, M), B (M, D), P (N, D);\n"
       "P(i, d) = sum over j of A(i, j) B(j, d)\n"
       "attention: O = softmax(Q K^T) V (lesson 04 adds a factor)",
       "the two products: Vaswani et al., Attention Is All You Need,\n"
       "section 3.2.1, 2017\n"
       "convex combination: Boyd and Vandenberghe, Convex Optimization,\n"
       "section 2.1.4, 2004",
       "A @ B (torch.matmul), torch.outer, torch.einsum"});
  section("One product");
  say("Attention is two matrix products with a softmax (lesson 03) between them. If you",
      "read each in the right form, you see what it does: the elements of the first are",
      "dot products, the rows of the second are weighted sums. Lesson 02 printed X, the",
      "scores S = X X^T and the outputs O = S X. There are four FORMS OF A MATRIX",
      "PRODUCT: inner-product, row, column and outer-product form. (Lessons 04 and 06",
      "use the last two.) By hand, they are the same three loops in four orders.");
  Generator g(42);
  const Array X = g.randn({3, 5});
  const Array S = xt::linalg::dot(X, xt::transpose(X));  // (3, 5) times (5, 3) is (3, 3)
  const Array O = xt::linalg::dot(S, X);                 // (3, 3) times (3, 5) is (3, 5)
  show("O = S X", O, words);
  by_elements(S, X, O);
  by_rows(S, X, O);
  by_columns(S, X, O);
  by_outer_products(S, X, O);
  const Array Y = convex_combinations(X);
  negative_weights(X, S, Y);
  two_products_of_attention(g, X);
  with_einsum(X, S, O);
  task_of_the_bank();
  questions(
      "In `convex_combinations`, replace the first row of the weights by 1.8, -0.4,\n"
      "-0.4. Which elements of its row of Y are then smaller or larger than all\n"
      "numbers in their column of X?",
      "In `two_products_of_attention`, multiply the scores by 10 in the line that\n"
      "computes A: Tensor(10 * scores). To which row of V is each output close?",
      "In `with_einsum`, replace \"id,jd->ij\" by \"id,je->ij\". Which check fails? Why?");
}
