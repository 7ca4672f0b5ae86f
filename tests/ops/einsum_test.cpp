// einsum_test.cpp: einsum by hand, against matmul and sum, and its errors.

#include "heed/ops/einsum.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

Function equation(std::string text) {
  return [text](const std::vector<Tensor>& x) { return einsum(text, x); };
}

std::string error_of(std::string_view text, const std::vector<Shape>& shapes) {
  std::vector<Tensor> operands;
  for (const Shape& shape : shapes) operands.emplace_back(zeros(shape));
  return message_of([&] { einsum(text, operands); });
}

const Array A = array_of({2, 2}, {1, 2, 3, 4}), B = array_of({2, 2}, {5, 6, 7, 8});

}  // namespace

TEST_CASE("einsum of one operand: trace, diagonal, transpose and sums by hand", "[ops][einsum]") {
  const auto of_a = [](std::string_view text) { return einsum(text, {Tensor(A)}).value(); };
  CHECK((of_a("ii->") == scalar(5)));
  CHECK((of_a("ii->i") == array_of({2}, {1, 4})));
  CHECK((of_a("ij->ji") == array_of({2, 2}, {1, 3, 2, 4})));
  CHECK((of_a("ij->") == scalar(10)));
  CHECK((of_a("ij->i") == array_of({2}, {3, 7})));
  CHECK((of_a("ij->j") == array_of({2}, {4, 6})));
  CHECK((of_a("ij->ij") == A));
}

TEST_CASE("einsum of two operands: the products by hand", "[ops][einsum]") {
  const auto of_both = [](std::string_view text) {
    return einsum(text, {Tensor(A), Tensor(B)}).value();
  };
  CHECK((of_both("ij,jk->ik") == array_of({2, 2}, {19, 22, 43, 50})));
  CHECK((of_both("ij,jk->ki") == array_of({2, 2}, {19, 43, 22, 50})));
  CHECK((of_both("ij,ij->ij") == array_of({2, 2}, {5, 12, 21, 32})));
  CHECK((of_both("ij,ij->") == scalar(70)));
  CHECK((of_both("ij,kl->jk") == array_of({2, 2}, {44, 60, 66, 90})));
  CHECK((of_both("ii,jj->ij") == array_of({2, 2}, {5, 8, 20, 32})));
  CHECK((einsum("i,j->ij", {tensor_of({2}, {1, 2}), tensor_of({2}, {3, 4})}).value() ==
         array_of({2, 2}, {3, 4, 6, 8})));
}

TEST_CASE("without an arrow the result has the letters that appear once, sorted", "[ops][einsum]") {
  CHECK((einsum("ij,jk", {Tensor(A), Tensor(B)}).value() == array_of({2, 2}, {19, 22, 43, 50})));
  CHECK((einsum("ba", {Tensor(A)}).value() == array_of({2, 2}, {1, 3, 2, 4})));
  CHECK((einsum("ii", {Tensor(A)}).value() == scalar(5)));
  CHECK((einsum(" i j , j k -> i k ", {Tensor(A), Tensor(B)}).value() ==
         array_of({2, 2}, {19, 22, 43, 50})));
}

TEST_CASE("the gradient of a trace is 1 on the diagonal", "[ops][einsum]") {
  CHECK((gradients(equation("ii->"), {A}, scalar(3))[0] == array_of({2, 2}, {3, 0, 0, 3})));
  CHECK((gradients(equation("ij->i"), {A}, array_of({2}, {1, 10}))[0] ==
         array_of({2, 2}, {1, 1, 10, 10})));
}

TEST_CASE("einsum equals matmul for batches, with letters and with ...", "[ops][einsum]") {
  const Function product = [](const std::vector<Tensor>& x) { return matmul(x[0], x[1]); };
  const std::vector<Array> batch{random_array({3, 4, 5}, 1), random_array({3, 5, 2}, 2)};
  CHECK(twin_difference(equation("bij,bjk->bik"), product, batch) == "");
  CHECK(twin_difference(equation("...ij,...jk->...ik"), product, batch) == "");
  CHECK(twin_difference(equation("...ij,...jk"), product, batch) == "");
  const std::vector<Array> broadcasting{random_array({2, 1, 4, 5}, 1), random_array({3, 5, 2}, 2)};
  CHECK(twin_difference(equation("...ij,...jk->...ik"), product, broadcasting) == "");
}

TEST_CASE("bqd,bkd->bqk multiplies the queries by the transposed keys", "[ops][einsum]") {
  const Function plain = [](const std::vector<Tensor>& x) {
    return matmul(x[0], transpose(x[1], 1, 2));
  };
  CHECK(twin_difference(equation("bqd,bkd->bqk"), plain,
                        {random_array({2, 3, 4}, 1), random_array({2, 5, 4}, 2)}) == "");
}

TEST_CASE("sizes of 1 broadcast, and their gradients are summed", "[ops][einsum]") {
  const Function plain = [](const std::vector<Tensor>& x) { return sum(x[0] * x[1], {1}); };
  CHECK(twin_difference(equation("ij,ij->i"), plain,
                        {random_array({3, 1}, 1), random_array({1, 4}, 2)}) == "");
}

TEST_CASE("einsum of three operands equals two matrix products", "[ops][einsum]") {
  const Function plain = [](const std::vector<Tensor>& x) {
    return matmul(matmul(x[0], x[1]), x[2]);
  };
  CHECK(twin_difference(equation("ij,jk,kl->il"), plain,
                        {random_array({2, 3}, 1), random_array({3, 4}, 2), random_array({4, 5}, 3)},
                        5e-6) == "");
}

TEST_CASE("einsum sums over an axis of size 0 to 0", "[ops][einsum]") {
  CHECK((einsum("ij,jk->ik", {Tensor(zeros({2, 0})), Tensor(zeros({0, 3}))}).value() ==
         zeros({2, 3})));
  CHECK((einsum("ij->", {Tensor(zeros({0, 3}))}).value() == scalar(0)));
  CHECK((einsum(",", {Tensor(scalar(2)), Tensor(scalar(3))}).value() == scalar(6)));
  CHECK((einsum("...", {Tensor(scalar(2))}).value() == scalar(2)));
}

TEST_CASE("equations that do not fit their operands throw", "[ops][einsum]") {
  CHECK(message_of([] { einsum("", {}); }) == "einsum: needs at least one operand");
  CHECK(error_of("i!->i", {{2, 3}}) ==
        "einsum: '!' is not a letter, a comma, -> or ... in \"i!->i\", of operand 0 (2, 3)");
  CHECK(error_of("ij,jk->ik", {{2, 3}}) ==
        "einsum: 2 operands are named and 1 given in \"ij,jk->ik\", of operand 0 (2, 3)");
  CHECK(
      error_of("ijk->i", {{2, 3}}) ==
      "einsum: \"ijk\" names 3 axes, its operand (2, 3) has 2, in \"ijk->i\", of operand 0 (2, 3)");
  CHECK(error_of("...ijk->i", {{2, 3}}) ==
        "einsum: \"...ijk\" names 3 axes, its operand (2, 3) has 2, in \"...ijk->i\", of operand 0 "
        "(2, 3)");
  CHECK(
      error_of("ij,jk->ik", {{2, 3}, {4, 5}}) ==
      "einsum: sizes 3 and 4 of one letter differ in \"ij,jk->ik\", of operand 0 (2, 3), operand 1 "
      "(4, 5)");
  CHECK(error_of("ij->k", {{2, 3}}) ==
        "einsum: 'k' after the arrow is in no operand in \"ij->k\", of operand 0 (2, 3)");
  CHECK(error_of("ij->ii", {{2, 3}}) ==
        "einsum: 'i' appears twice after the arrow in \"ij->ii\", of operand 0 (2, 3)");
}

TEST_CASE("a repeated letter does not broadcast within one operand", "[ops][einsum]") {
  CHECK(error_of("ii->i", {{1, 3}}) ==
        "einsum: sizes 1 and 3 of a repeated letter differ in \"ii->i\", of operand 0 (1, 3)");
  CHECK(error_of("ii->i", {{3, 1}}) ==
        "einsum: sizes 3 and 1 of a repeated letter differ in \"ii->i\", of operand 0 (3, 1)");
  CHECK((einsum("ii,i->i", {Tensor(filled({1, 1}, 2)), Tensor(ones({3}))}).value() ==
         filled({3}, 2)));
}

TEST_CASE("... may appear once in each operand and once in the result", "[ops][einsum]") {
  CHECK(error_of("...i...->i", {{2, 3}}) ==
        "einsum: \"...i...\" has ... twice, in \"...i...->i\", of operand 0 (2, 3)");
  CHECK(error_of("...i->......", {{2, 3}}) ==
        "einsum: \"......\" has ... twice, in \"...i->......\", of operand 0 (2, 3)");
}

TEST_CASE("errors show the characters of an equation on one line", "[ops][einsum]") {
  const Tensor x(ones({2, 2}));
  CHECK(message_of([&] { einsum("i\nj->ji", {x}); }) ==
        R"(einsum: '\n' is not a letter, a comma, -> or ... in "i\nj->ji", of operand 0 (2, 2))");
  CHECK(message_of([&] { einsum("i\u00e4->i", {x}); }) ==
        "einsum: '\u00e4' is not a letter, a comma, -> or ... in \"i\u00e4->i\", of operand 0 (2, "
        "2)");
}
