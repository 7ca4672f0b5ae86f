// 02 naive_attention: tokens score each other, and the scores become the weights.
//
// Before this lesson: 01_averaging, in which every token counted the same.
// After it: 03_matmul_views, four ways to read the product of two matrices.
// Worth a breakpoint: score. Go on with `next`, and `sum` takes in a product at a time.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "lesson.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

// The dot product of two vectors.
Real score(const Array& a, const Array& b) {
  Real sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    sum += a(d) * b(d);
  }
  return sum;
}

// Each sum that adding one number after another can give, and in how many orders it does.
std::map<Real, int> sums_in_every_order(std::vector<Real> numbers) {
  std::map<Real, int> orders;
  std::sort(numbers.begin(), numbers.end());  // where next_permutation begins
  do ++orders[std::accumulate(numbers.begin(), numbers.end(), Real(0))];
  while (std::next_permutation(numbers.begin(), numbers.end()));
  return orders;
}

Real length(const Array& a) { return std::sqrt(score(a, a)); }

int main() {
  section("How much does one token matter to another?");
  say("Here are the tokens of lesson 01. Each pair gets a score, the dot product of the",
      "two: multiply them number by number, add the products up. It is large for two",
      "long vectors that point the same way, zero for two at a right angle, negative",
      "for two that oppose each other.");
  Array T = Generator(42).randn({3, 5});
  show("T", T, words);
  say("");
  Array scores = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      scores(i, j) = score(xt::view(T, i), xt::view(T, j));
      say("score(" + words[i] + ", " + words[j] + ")  " + pad_left(decimal(scores(i, j), 10), 13));
    }

  section("One sum, two answers");
  say("This section and the next are about rounding: why `check` lets numbers differ a",
      "little. If you came for attention alone, skip to 'The scores as a matrix'.", "",
      "A PyTorch notebook on the web took these nine scores. It has -0.1217458397 for",
      "(the, cat) but -0.1217458248 for (cat, the), of the same five products. Which is",
      "right? A float keeps 24 binary digits, about seven decimal ones. Each addition",
      "rounds its result to them, so the order counts. The crudest case:");
  const Real large = 100'000'000;
  say("", "(100000000 + 1) - 100000000 = " + decimal((large + 1) - large, 0),
      "(100000000 - 100000000) + 1 = " + decimal((large - large) + 1, 0));
  Array products = xt::row(T, 0) * xt::row(T, 1);
  const std::vector<Real> five(products.begin(), products.end());
  const Real forward = std::accumulate(five.begin(), five.end(), Real(0));
  const Real backward = std::accumulate(five.rbegin(), five.rend(), Real(0));
  const double exact = std::accumulate(five.begin(), five.end(), 0.0);  // room for every digit
  say("", "the five products, as floats");
  for (Real product : five) say("                     " + pad_left(decimal(product, 10), 13));
  say("added first to last  " + decimal(forward, 10) + "  (float)",
      "added last to first  " + decimal(backward, 10) + "  (float)",
      "exact, of these five " + decimal(exact, 10) + "  (double)");

  section("All the answers");
  say("Five numbers can be added one after another in 120 orders. They give:", "");
  std::map<Real, std::string> remarks = {{Real(exact), "  exact, of these five"},
                                         {forward, "  first to last; the notebook's (the, cat)"},
                                         {backward, "  last to first"},
                                         {Real(-0.1217458248), "  the notebook's (cat, the)"}};
  for (const auto& [sum, orders] : sums_in_every_order(five))
    say(decimal(sum, 10) + "  " + pad_left(std::to_string(orders), 3) + " orders" + remarks[sum]);
  say("", "So neither is exact, and neither is wrong: each is what some orders give. (A",
      "library may also add in pairs, or leave the products unrounded: it does what is",
      "fastest, on this machine and for this place in memory.) So nobody should ask if",
      "two floats are equal (==), only if they are close: `check` allows for 0.00001.");

  section("The scores as a matrix");
  say("Nine dot products are one product of matrices: T times T transposed. Row i holds",
      "the scores that token i gives to all of them: whom it attends to, and how much.");
  Array S = xt::linalg::dot(T, xt::transpose(T));  // (3, 5) times (5, 3) is (3, 3)
  show("S", S, words, words);
  check("nine scores by hand = in one line", scores, S);
  picture("02_naive_attention", "scores", S, {"scores", words, words, "who", "to whom"});

  section("From scores to new vectors");
  say("Lesson 01 asked for weights that nobody has to choose. Take the scores. The new",
      "vector of 'the' is S(0, 0) times 'the' plus S(0, 1) times 'cat' plus S(0, 2)",
      "times 'sat'. All three new vectors are one more product of matrices, S times T.");
  Array mixed_by_hand = zeros({3, 5});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t d = 0; d < 5; ++d) mixed_by_hand(i, d) += scores(i, j) * T(j, d);
  Array mixed = xt::linalg::dot(S, T);  // (3, 3) times (3, 5) is (3, 5)
  show("S T", mixed, words);
  check("by hand = in one line", mixed_by_hand, mixed);

  section("Are these still averages?");
  say("The weights of an average add up to one. Ours do not. Divide each row of S by",
      "its sum, and they do: the scores become shares.");
  Array shares_by_hand = zeros({3, 3});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      shares_by_hand(i, j) = scores(i, j) / (scores(i, 0) + scores(i, 1) + scores(i, 2));
  Array sums = xt::sum(S, {1});
  Array shares = S / xt::view(sums, xt::all(), xt::newaxis());  // the sums as a column
  show("sums of the rows of S", sums, {}, words);
  show("shares", shares, words, words);
  check("by hand = in one line", shares_by_hand, shares);

  section("What the shares are good for");
  say("A model repeats this step many times over. Vectors that grow each time would",
      "soon be too large for a float. How long is 'sat', before and after one step?");
  Array averaged = xt::linalg::dot(shares, T);
  say("", "the vector itself       " + pad_left(decimal(length(xt::row(T, 2)), 4), 7),
      "weighed by its scores   " + pad_left(decimal(length(xt::row(mixed, 2)), 4), 7),
      "weighed by its shares   " + pad_left(decimal(length(xt::row(averaged, 2)), 4), 7), "",
      "Flaws remain. Some shares are below zero, and a row whose scores cancel would be",
      "divided by almost nothing: exercise 02 and lesson 04 mend both. And each token",
      "here hears mostly itself. In lesson 05 it can ask for something else.", "",
      "To watch a score being added up: gdb build/release/lessons/02_naive_attention,",
      "and in it: break score, run, then next and print sum, a few times.");
}
