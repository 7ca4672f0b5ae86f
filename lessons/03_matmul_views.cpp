// 03 matmul_views: four ways to read a product of matrices, and what each says about attention.
//
// Before this lesson: 02_naive_attention, in which scores became weights.
// After it: 04_graph_attention, in which tokens send each other messages.
// Worth a breakpoint: add_times. Each stop is one token that gives to one other, at a weight.

#include "heed/base/error.hpp"
#include "heed/ops/einsum.hpp"
#include "heed/ops/matmul.hpp"
#include "lesson.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

// Row `to` of C grows by `weight` times row `from` of T.
void add_times(Real weight, const Array& T, std::size_t from, Array& C, std::size_t to) {
  for (std::size_t d = 0; d < T.shape(1); ++d) C(to, d) += weight * T(from, d);
}

// How many numbers of Y lie below the least or above the most of their column in T.
int outside(const Array& Y, const Array& T) {
  Array least = xt::amin(T, {0}), most = xt::amax(T, {0});
  int count = 0;
  for (std::size_t i = 0; i < Y.shape(0); ++i)
    for (std::size_t d = 0; d < Y.shape(1); ++d) count += Y(i, d) < least(d) || Y(i, d) > most(d);
  return count;
}

// Three vectors for gnuplot, by their numbers 0 and 1; then the first again, to close the triangle.
std::string corners(const std::string& name, const Array& x) {
  std::string text = "$" + name + " << END\n";
  for (const std::size_t i : {0U, 1U, 2U, 0U})
    text += words[i] + " " + decimal(x(i, 0), 4) + " " + decimal(x(i, 1), 4) + "\n";
  return text + "END\n";
}

Plot draw_triangle(const Array& T, const Array& Y, const Array& Z) {
  return draw_with_gnuplot(
      "runs/lessons/03_matmul_views", "triangle",
      corners("T", T) + corners("Y", Y) + corners("Z", Z) +
          "set terminal svg size 640,480 font 'sans-serif,14' background rgb 'white'\n"
          "set output 'triangle.svg'\nset xlabel 'number 0'\nset ylabel 'number 1'\n"
          "set xrange [-0.4:0.8]\nset yrange [-0.2:2.6]\nset xtics 0.2\nset key spacing 1.3\n"
          "plot $T using 2:3 with lines lw 2 lc rgb '#888888' title 'the tokens',"
          " $T every ::::2 using 2:3:1 with labels left offset 0.8,0.3 notitle,"
          " $Y using 2:3 pt 7 lc rgb '#0072B2' title 'Y, weights from 0 up',"
          " $Z using 2:3 pt 6 lw 2 lc rgb '#D55E00' title 'Z, some shares below 0'\n");
}

int main() {
  section("One product");
  say("Lesson 02 multiplied matrices twice: T and T transposed, which gave the scores,",
      "then the scores and T, which gave new vectors. There are four ways to read such",
      "a product. All give the same numbers, and each shows something else.");
  Array T = Generator(42).randn({3, 5});
  Array S = xt::linalg::dot(T, xt::transpose(T));  // (3, 5) times (5, 3) is (3, 3)
  Array C = xt::linalg::dot(S, T);                 // (3, 3) times (3, 5) is (3, 5)
  show("S", S, words, words);
  show("T", T, words);
  show("C = S T", C, words);

  section("Number by number: dot products");
  say("Each number of C is the dot product of a row of S and a column of T. By hand",
      "these are three loops: over the row i, the column d, and j, along both of them.",
      "The number in row 1 and column 1:", "");
  Array by_numbers = zeros({3, 5});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 5; ++d)
      for (std::size_t j = 0; j < 3; ++j) by_numbers(i, d) += S(i, j) * T(j, d);
  std::string sum;
  for (std::size_t j = 0; j < 3; ++j)
    sum += (j > 0 ? " + " : "") + decimal(S(1, j), 4) + " * " + decimal(T(j, 1), 4);
  say(sum + " = " + decimal(by_numbers(1, 1), 4));
  check("all fifteen by hand = in one line", by_numbers, C);

  section("Row by row: mixed tokens");
  say("Row 0 of C is a mix of the rows of T, and those are the tokens. Row 0 of S says",
      "how much of each. It is a recipe: what 'the' takes, and from whom.");
  Array by_rows = zeros({3, 5});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) add_times(S(i, j), T, j, by_rows, i);
  Array row0 = S(0, 0) * xt::row(T, 0) + S(0, 1) * xt::row(T, 1) + S(0, 2) * xt::row(T, 2);
  show(decimal(S(0, 0), 4) + " the + " + decimal(S(0, 1), 4) + " cat + " + decimal(S(0, 2), 4) +
           " sat",
       row0);
  check("this mix = row 0 of C", row0, xt::row(C, 0));
  check("all rows by hand = in one line", by_rows, C);

  section("Column by column: each number for itself");
  say("Column 1 of C is a mix of the columns of S. Column 1 of T says how much of each,",
      "and the rest of T has no say. So a matrix on the left mixes tokens: it adds the",
      "number 1 of one to the number 1 of another, never to a number 2. That takes a",
      "matrix on the right. Lesson 05 has three of those.");
  Array by_columns = zeros({3, 5});
  for (std::size_t d = 0; d < 5; ++d)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t i = 0; i < 3; ++i) by_columns(i, d) += T(j, d) * S(i, j);
  Array column1 = T(0, 1) * xt::col(S, 0) + T(1, 1) * xt::col(S, 1) + T(2, 1) * xt::col(S, 2);
  show("a mix of the columns of S", column1, {}, words);
  check("this mix = column 1 of C", column1, xt::col(C, 1));
  check("all columns by hand = in one line", by_columns, C);

  section("Token by token: outer products");
  say("Multiply each number of column j of S by each number of row j of T. That makes a",
      "matrix, their outer product. It is what token j gives: its own vector, to each",
      "token longer, shorter or turned around. This is what 'cat' gives:");
  Array by_tokens = zeros({3, 5});
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 0; i < 3; ++i) add_times(S(i, j), T, j, by_tokens, i);
  std::vector<Array> gifts;
  for (std::size_t j = 0; j < 3; ++j)
    gifts.push_back(
        xt::linalg::outer(xt::view(S, xt::all(), j), xt::view(T, j)));  // (3) and (5): (3, 5)
  Array all_gifts = gifts[0] + gifts[1] + gifts[2];
  show("what 'cat' gives", gifts[1], {"to the", "to cat", "to sat"});
  check("the sum of three outer products = C", all_gifts, C);
  check("all gifts by hand = in one line", by_tokens, C);
  say("", "By hand, the four readings are the same three loops, nested in another order.");
  picture("03_matmul_views", "gift", gifts[1],
          {"what 'cat' gives", words, {}, "to whom", "number", {}, {}, true});

  section("Inside the triangle");
  say("When is a mix an average? When no weight is below zero, and each row of weights",
      "sums to one. Here are such weights. Lesson 01 chose the last row.");
  Array weights = {{0.8F, 0.1F, 0.1F}, {0.3F, 0.6F, 0.1F}, {0.1F, 0.7F, 0.2F}};
  Array Y = xt::linalg::dot(weights, T);
  show("weights", weights, words, words);
  show("Y = weights T", Y, words);
  say("", "An average lies between the things it is made of. Our tokens are the corners of",
      "a triangle, and each row of Y is a point inside. The weights say where, and can",
      "be read back from Y, as long as no token is a mix of the others: Y T^T (T^T is T",
      "transposed) is weights T T^T, or weights S, and `solve` undoes the S.");
  Array solved = xt::linalg::solve(S, xt::linalg::dot(T, xt::transpose(Y)));  // as columns
  Array read_back = xt::transpose(solved);
  check("weights read back from Y = the weights", read_back, weights);

  section("Outside the triangle");
  say("Now take the shares of lesson 02: scores, divided by the sum of their row. They",
      "sum to one, but each row has a share below zero, and all three new vectors lie",
      "outside. The picture shows it in the plane of the numbers 0 and 1.");
  Array sums = xt::sum(S, {1});
  Array shares = S / xt::view(sums, xt::all(), xt::newaxis());
  Array Z = xt::linalg::dot(shares, T);
  show("Z = shares T", Z, words);
  say("", "picture: " + draw_triangle(T, Y, Z).message);

  section("Attention in two lines");
  say("einsum does any such product. An axis gets a letter, and each letter is a loop.",
      "A letter missing after the arrow is summed over. Scores are id,jd->ij: row i and",
      "row j, summed over d. New vectors are ij,jd->id, summed over j.",
      "It takes Tensors: Arrays that remember how they were made, as lesson 08 needs.");
  Tensor tokens = Tensor(T).set_name("T");
  Tensor scores = einsum("id,jd->ij", {tokens, tokens});  // sum over d: (3, 3)
  Tensor mixed = einsum("ij,jd->id", {scores, tokens});   // sum over j: (3, 5)
  check("id,jd->ij = T times T transposed", S, scores);
  check("ij,jd->id by hand = in one line", by_numbers, mixed);

  section("A mistake to know");
  say("What if somebody forgets to transpose? Then T does not fit T, and heed says so:", "");
  try {
    matmul(tokens, tokens);
  } catch (const Error& error) {
    say(error.what());
  }
  say("", "That was luck. Keep only three numbers of each token, and T is square. Now all",
      "fits, and nobody complains:");
  Array square = xt::view(T, xt::all(), xt::range(0, 3));  // (3, 3)
  Array right = xt::linalg::dot(square, xt::transpose(square));
  Array wrong = xt::linalg::dot(square, square);
  show("with transposing", right, words, words);
  show("without", wrong, words, words);
  const Tensor x(square);
  check("right = id,jd->ij", einsum("id,jd->ij", {x, x}), right);
  check("wrong = id,dj->ij", einsum("id,dj->ij", {x, x}), wrong);
  say("", "The shape is right and the numbers are not. So test with sizes that all differ.",
      "And prefer letters: d is the second axis of both, and jd says so.");

  section("Which weights give averages?");
  say("Three new vectors have fifteen numbers. How many of these lie outside: below the",
      "numbers that all three tokens have there, or above them?", "",
      "weighed by the scores of lesson 02  " + pad_left(std::to_string(outside(C, T)), 2),
      "weighed by the shares of lesson 02  " + pad_left(std::to_string(outside(Z, T)), 2),
      "weighed by weights from 0 up        " + pad_left(std::to_string(outside(Y, T)), 2), "",
      "The 5 are the vector of 'cat'. The other two are outside as well, and no number",
      "alone shows it. That Y is inside we know by its weights, not by the 0.", "",
      "But the last weights are made up. How can scores become weights that are never",
      "below zero? And what one token gives to another looks like a message: who may",
      "send one to whom? Lesson 04_graph_attention answers both.", "",
      "To watch C being put together: gdb build/release/lessons/03_matmul_views, and in",
      "it: break add_times, run, then continue. Each stop shows weight, from and to.");
}
