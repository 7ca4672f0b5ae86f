// arrays_page.cpp: the code of docs/arrays.md. Prints its variables as the page's comments show
// them.

#include "lesson.hpp"

using namespace heed;

// {{1, 2}, {3, 4}} for a matrix
std::string in_braces(const Array& x) {
  if (x.dimension() == 0) return decimal(double(x()), 0);
  std::string text;
  for (std::size_t i = 0; i < x.shape(0); ++i)
    text += (i > 0 ? ", " : "") + in_braces(xt::view(x, i));
  return "{" + text + "}";
}

void print(const std::string& name, const Array& x) {
  std::cout << name << " = " << in_braces(x) << '\n';
}

int main() {
  // clang-format off
  Array x = array2d({{1, 2, 3}, {4, 5, 6}});    // {{1, 2, 3}, {4, 5, 6}}: 2 rows, 3 columns
  Array v = {1, 2, 3};                          // {1, 2, 3}: one axis of size 3
  Array o = zeros({2, 2});                      // {{0, 0}, {0, 0}}: also ones(), and filled(shape, 7)
  x(1, 2) = 7;                                  // the element in row 1, column 2; both begin at 0
  xt::row(x, 1) = v + 3;                        // row 1 is {4, 5, 6} again

  Array y = x * 2 + v;                          // {{3, 6, 9}, {9, 12, 15}}: by element; v in each row
  Array last = xt::row(x, 1);                   // {4, 5, 6}
  Array first = xt::col(x, 0);                  // {1, 4}
  Array part = xt::view(x, xt::all(), xt::range(0, 2));  // {{1, 2}, {4, 5}}: columns 0 and 1
  Array t = xt::transpose(x);                   // {{1, 4}, {2, 5}, {3, 6}}
  Array product = xt::linalg::dot(x, t);        // {{14, 32}, {32, 77}}: (2, 3) times (3, 2) is (2, 2)

  Array sums = xt::sum(x, {1});                 // {6, 15}: axis 1 is summed away
  Array kept = xt::sum(x, {1}, xt::keep_dims);  // {{6}, {15}}: axis 1 stays, with size 1
  Array means = kept / Real(x.shape(1));        // {{2}, {5}}
  Array centred = x - means;                    // {{-1, 0, 1}, {-1, 0, 1}}: the mean of its row from each
  Array lower = xt::tril(ones({2, 2}));         // {{1, 0}, {1, 1}}: zeros above the diagonal
  Real total = xt::sum(x)();                    // 21: () is the element of an array without axes

  Tensor W(x, /*requires_grad=*/true);
  Tensor S = matmul(W, transpose(W, 0, 1));     // (2, 2)
  Tensor loss = sum(S);                         // sum(S, 1) sums along axis 1
  backward(loss);
  Array value = S.value();                      // {{14, 32}, {32, 77}}
  Array gradient = W.grad();                    // {{10, 14, 18}, {10, 14, 18}}
  double number = loss.item();                  // 155
  // clang-format on
  print("x", x);
  print("v", v);
  print("o", o);
  print("y", y);
  print("last", last);
  print("first", first);
  print("part", part);
  print("t", t);
  print("product", product);
  print("sums", sums);
  print("kept", kept);
  print("means", means);
  print("centred", centred);
  print("lower", lower);
  print("total", scalar(Real(total)));
  print("value", value);
  print("gradient", gradient);
  print("number", scalar(Real(number)));
}
