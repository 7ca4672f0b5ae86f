// einsum_twins_test.cpp: einsum against the same results from products, sums and transposes.

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/einsum.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

struct Twin {
  std::string equation;
  std::vector<Shape> shapes;
  Function plain;
};

// The diagonal of the last two axes, element by element.
Tensor diagonal(const Tensor& x) {
  std::vector<Tensor> elements;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size(-1)); ++i)
    elements.push_back(select(select(x, -1, i), -1, i));
  return stack(elements, -1);
}

Tensor flip(const Tensor& x) { return transpose(x, -1, -2); }
Tensor column(const Tensor& x) { return unsqueeze(x, -1); }
Tensor row(const Tensor& x) { return unsqueeze(x, -2); }
Tensor first_axis_last(const Tensor& x) { return permute(x, {1, 2, 0}); }
Tensor last_axis_first(const Tensor& x) { return permute(x, {2, 0, 1}); }
Tensor swap(const Tensor& x, int a) { return transpose(x, a, a + 1); }

const std::vector<Twin> of_one{
    {"ij->ij", {{2, 3}}, [](X x) { return x[0]; }},
    {"ij->ji", {{2, 3}}, [](X x) { return flip(x[0]); }},
    {"ijk->kij", {{2, 3, 4}}, [](X x) { return last_axis_first(x[0]); }},
    {"ijkl->ljki", {{2, 3, 4, 5}}, [](X x) { return transpose(x[0], 0, 3); }},
    {"ij->", {{2, 3}}, [](X x) { return sum(x[0]); }},
    {"ij->i", {{2, 3}}, [](X x) { return sum(x[0], {1}); }},
    {"ij->j", {{2, 3}}, [](X x) { return sum(x[0], {0}); }},
    {"ijk->j", {{2, 3, 4}}, [](X x) { return sum(sum(x[0], {2}), {0}); }},
    {"ijk->ki", {{2, 3, 4}}, [](X x) { return flip(sum(x[0], {1})); }},
    {"ii->", {{4, 4}}, [](X x) { return sum(diagonal(x[0])); }},
    {"ii->i", {{4, 4}}, [](X x) { return diagonal(x[0]); }},
    {"bii->b", {{2, 4, 4}}, [](X x) { return sum(diagonal(x[0]), {1}); }},
    {"bii->ib", {{2, 4, 4}}, [](X x) { return flip(diagonal(x[0])); }},
    {"iji->j", {{3, 2, 3}}, [](X x) { return sum(diagonal(swap(x[0], 0)), {1}); }},
    {"iij->ji", {{3, 3, 2}}, [](X x) { return diagonal(last_axis_first(x[0])); }},
    {"iii->i", {{3, 3, 3}}, [](X x) { return diagonal(diagonal(x[0])); }},
    {"iijj->ij",
     {{2, 2, 3, 3}},
     [](X x) { return flip(diagonal(last_axis_first(diagonal(x[0])))); }},
};

const std::vector<Twin> of_vectors_and_elements{
    {"i,i->", {{5}, {5}}, [](X x) { return sum(x[0] * x[1]); }},
    {"i,i->i", {{5}, {5}}, [](X x) { return x[0] * x[1]; }},
    {"i,j->ij", {{2}, {3}}, [](X x) { return column(x[0]) * row(x[1]); }},
    {"i,j->ji", {{2}, {3}}, [](X x) { return row(x[0]) * column(x[1]); }},
    {"i,j->", {{2}, {3}}, [](X x) { return sum(x[0]) * sum(x[1]); }},
    {",ij->ij", {{}, {2, 3}}, [](X x) { return x[0] * x[1]; }},
    {"i,ij->ij", {{2}, {2, 3}}, [](X x) { return column(x[0]) * x[1]; }},
    {"j,ij->ji", {{3}, {2, 3}}, [](X x) { return flip(x[0] * x[1]); }},
    {"ij,ij->ij", {{2, 3}, {2, 3}}, [](X x) { return x[0] * x[1]; }},
    {"ij,ji->ij", {{2, 3}, {3, 2}}, [](X x) { return x[0] * flip(x[1]); }},
    {"ij,ij->", {{2, 3}, {2, 3}}, [](X x) { return sum(x[0] * x[1]); }},
    {"ij,ij->j", {{2, 3}, {2, 3}}, [](X x) { return sum(x[0] * x[1], {0}); }},
    {"ii,i->i", {{3, 3}, {3}}, [](X x) { return diagonal(x[0]) * x[1]; }},
    {"ii,jj->ij",
     {{2, 2}, {3, 3}},
     [](X x) { return column(diagonal(x[0])) * row(diagonal(x[1])); }},
    {"ij,kl->ijkl", {{2, 3}, {4, 5}}, [](X x) { return column(column(x[0])) * x[1]; }},
    {"ij,kl->jk",
     {{2, 3}, {4, 5}},
     [](X x) { return column(sum(x[0], {0})) * row(sum(x[1], {1})); }},
};

const std::vector<Twin> of_matrices{
    {"ij,j->i", {{2, 3}, {3}}, [](X x) { return matmul(x[0], x[1]); }},
    {"ij,i->j", {{2, 3}, {2}}, [](X x) { return matmul(x[1], x[0]); }},
    {"ij,jk->ik", {{2, 3}, {3, 4}}, [](X x) { return matmul(x[0], x[1]); }},
    {"ij,jk->ki", {{2, 3}, {3, 4}}, [](X x) { return flip(matmul(x[0], x[1])); }},
    {"ij,kj->ik", {{2, 3}, {4, 3}}, [](X x) { return matmul(x[0], flip(x[1])); }},
    {"ji,jk->ik", {{3, 2}, {3, 4}}, [](X x) { return matmul(flip(x[0]), x[1]); }},
    {"ji,kj->ik", {{3, 2}, {4, 3}}, [](X x) { return matmul(flip(x[0]), flip(x[1])); }},
    {"ij,ji->", {{2, 3}, {3, 2}}, [](X x) { return sum(diagonal(matmul(x[0], x[1]))); }},
    {"ij,jk->k", {{2, 3}, {3, 4}}, [](X x) { return sum(matmul(x[0], x[1]), {0}); }},
    {"ii,ij->j", {{3, 3}, {3, 4}}, [](X x) { return matmul(diagonal(x[0]), x[1]); }},
    {"bij,jk->bik", {{2, 3, 4}, {4, 5}}, [](X x) { return matmul(x[0], x[1]); }},
    {"ij,bjk->bik", {{3, 4}, {2, 4, 5}}, [](X x) { return matmul(x[0], x[1]); }},
    {"bij,bjk->ik", {{2, 3, 4}, {2, 4, 5}}, [](X x) { return sum(matmul(x[0], x[1]), {0}); }},
    {"ibj,bjk->kbi",
     {{3, 2, 4}, {2, 4, 5}},
     [](X x) { return last_axis_first(matmul(swap(x[0], 0), x[1])); }},
    {"bij,bij->b", {{2, 3, 4}, {2, 3, 4}}, [](X x) { return sum(sum(x[0] * x[1], {2}), {1}); }},
    {"bi,bj->bij", {{2, 3}, {2, 4}}, [](X x) { return column(x[0]) * row(x[1]); }},
    {"bi,bj->ij", {{2, 3}, {2, 4}}, [](X x) { return matmul(flip(x[0]), x[1]); }},
    {"bqhd,bkhd->bhqk",
     {{2, 3, 2, 4}, {2, 5, 2, 4}},
     [](X x) { return matmul(swap(x[0], 1), flip(swap(x[1], 1))); }},
    {"bhqk,bkhd->bqhd",
     {{2, 2, 3, 5}, {2, 5, 2, 4}},
     [](X x) { return swap(matmul(x[0], swap(x[1], 1)), 1); }},
    {"ijk,jkl->il",
     {{2, 3, 4}, {3, 4, 5}},
     [](X x) { return sum(matmul(swap(x[0], 0), x[1]), {0}); }},
};

const std::vector<Twin> of_three{
    {"i,i,i->", {{4}, {4}, {4}}, [](X x) { return sum(x[0] * x[1] * x[2]); }},
    {"i,j,k->ijk",
     {{2}, {3}, {4}},
     [](X x) { return column(column(x[0])) * (column(x[1]) * row(x[2])); }},
    {"i,ij,j->", {{3}, {3, 4}, {4}}, [](X x) { return matmul(x[0], matmul(x[1], x[2])); }},
    {"bi,ij,bj->b",
     {{2, 3}, {3, 4}, {2, 4}},
     [](X x) { return sum(matmul(x[0], x[1]) * x[2], {1}); }},
    {"ij,ij,ij->ij", {{2, 3}, {2, 3}, {2, 3}}, [](X x) { return x[0] * x[1] * x[2]; }},
    {"bij,bjk,bkl->bil",
     {{2, 3, 4}, {2, 4, 2}, {2, 2, 3}},
     [](X x) { return matmul(matmul(x[0], x[1]), x[2]); }},
    {"ij,jk,ki->",
     {{2, 3}, {3, 4}, {4, 2}},
     [](X x) { return sum(diagonal(matmul(matmul(x[0], x[1]), x[2]))); }},
    {"ia,ib,ic->abc",
     {{5, 2}, {5, 3}, {5, 4}},
     [](X x) { return sum(column(column(x[0]) * row(x[1])) * row(row(x[2])), {0}); }},
    {"i,ij,jj->j", {{3}, {3, 4}, {4, 4}}, [](X x) { return matmul(x[0], x[1]) * diagonal(x[2]); }},
};

const std::vector<Twin> without_arrow{
    {"ba", {{2, 3}}, [](X x) { return flip(x[0]); }},
    {"ii", {{4, 4}}, [](X x) { return sum(diagonal(x[0])); }},
    {"cab", {{2, 3, 4}}, [](X x) { return first_axis_last(x[0]); }},
    {"ij,ij", {{2, 3}, {2, 3}}, [](X x) { return sum(x[0] * x[1]); }},
    {"ij,jk", {{2, 3}, {3, 4}}, [](X x) { return matmul(x[0], x[1]); }},
    {"kj,ik", {{3, 4}, {2, 3}}, [](X x) { return matmul(x[1], x[0]); }},
    {"b,a", {{2}, {3}}, [](X x) { return row(x[0]) * column(x[1]); }},
    {"j,Bj", {{3}, {2, 3}}, [](X x) { return matmul(x[1], x[0]); }},
};

const std::vector<Twin> with_dots{
    {"...ij->...ji", {{2, 3, 4}}, [](X x) { return flip(x[0]); }},
    {"i...->...i", {{2, 3, 4}}, [](X x) { return first_axis_last(x[0]); }},
    {"...i->...", {{2, 3, 4}}, [](X x) { return sum(x[0], {2}); }},
    {"...ii->...i", {{2, 3, 3}}, [](X x) { return diagonal(x[0]); }},
    {"i...j->ij...", {{2, 3, 4}}, [](X x) { return flip(x[0]); }},
    {"...,...->...", {{2, 3}, {3}}, [](X x) { return x[0] * x[1]; }},
    {"...,...", {{2, 1}, {3}}, [](X x) { return x[0] * x[1]; }},
    {"...i,...i->...", {{2, 3, 4}, {3, 4}}, [](X x) { return sum(x[0] * x[1], {2}); }},
    {"...i,ij->...j", {{2, 3, 4}, {4, 5}}, [](X x) { return matmul(x[0], x[1]); }},
    {"b...,b...->b", {{2, 3, 4}, {2, 3, 4}}, [](X x) { return sum(sum(x[0] * x[1], {2}), {1}); }},
    {"...q,...k->...qk", {{2, 3}, {4, 1, 5}}, [](X x) { return column(x[0]) * row(x[1]); }},
};

// "" if einsum and its twin have the same value and the same gradient of every operand.
std::string twin_error(const Twin& twin) {
  std::vector<Array> operands;
  for (const Shape& shape : twin.shapes)
    operands.push_back(random_array(shape, operands.size() + 1));
  const Function fused = [&](X x) { return einsum(twin.equation, x); };
  const std::string off = twin_difference(fused, twin.plain, operands);
  return off.empty() ? "" : twin.equation + ": " + off;
}

}  // namespace

TEST_CASE("einsum of one operand: transposes, diagonals, sums", "[ops][einsum][properties]") {
  for (const Twin& twin : of_one) CHECK(twin_error(twin) == "");
}

TEST_CASE("einsum of vectors and elementwise einsum equal inner and outer products",
          "[ops][einsum][properties]") {
  for (const Twin& twin : of_vectors_and_elements) CHECK(twin_error(twin) == "");
}

TEST_CASE("einsum of matrices and batches equals matrix products, transposes and sums",
          "[ops][einsum][properties]") {
  for (const Twin& twin : of_matrices) CHECK(twin_error(twin) == "");
}

TEST_CASE("einsum of three operands equals two products", "[ops][einsum][properties]") {
  for (const Twin& twin : of_three) CHECK(twin_error(twin) == "");
}

TEST_CASE("einsum without an arrow sorts the letters of the result", "[ops][einsum][properties]") {
  for (const Twin& twin : without_arrow) CHECK(twin_error(twin) == "");
}

TEST_CASE("... in einsum stands for any axes, which broadcast", "[ops][einsum][properties]") {
  for (const Twin& twin : with_dots) CHECK(twin_error(twin) == "");
}
