// matmul_test.cpp: every slope of matmul, linear and einsum, measured.

#include "heed/ops/matmul.hpp"

#include "catch.hpp"
#include "heed/ops/einsum.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

std::string of_product(const Shape& a, const Shape& b) {
  return slope_error([](X x) { return matmul(x[0], x[1]); },
                     {random_array(a, 1), random_array(b, 2)});
}

std::string of_einsum(const std::string& equation, const std::vector<Shape>& shapes) {
  std::vector<Array> operands;
  for (const Shape& shape : shapes) operands.push_back(random_array(shape, operands.size() + 1));
  return slope_error([&](X x) { return einsum(equation, x); }, operands);
}

}  // namespace

TEST_CASE("slopes of products of matrices and vectors", "[double][matmul]") {
  CHECK(of_product({2, 3}, {3, 4}) == "");
  CHECK(of_product({1, 1}, {1, 1}) == "");
  CHECK(of_product({1, 5}, {5, 1}) == "");
  CHECK(of_product({3}, {3}) == "");
  CHECK(of_product({3}, {3, 2}) == "");
  CHECK(of_product({2, 3}, {3}) == "");
  CHECK(of_product({0, 3}, {3, 2}) == "");
  CHECK(of_product({2, 0}, {0, 3}) == "");
}

TEST_CASE("slopes of products of batches, which broadcast", "[double][matmul]") {
  CHECK(of_product({2, 3, 4}, {2, 4, 2}) == "");
  CHECK(of_product({2, 3, 4}, {4, 2}) == "");
  CHECK(of_product({3, 4}, {2, 4, 2}) == "");
  CHECK(of_product({2, 1, 3, 2}, {4, 2, 3}) == "");
  CHECK(of_product({1, 3, 2}, {4, 2, 3}) == "");
  CHECK(of_product({4, 3, 2}, {1, 2, 3}) == "");
  CHECK(of_product({3}, {2, 3, 2}) == "");
  CHECK(of_product({2, 2, 3}, {3}) == "");
  CHECK(of_product({0, 2, 3}, {3, 2}) == "");
}

TEST_CASE("slopes of one matrix on both sides", "[double][matmul]") {
  CHECK(slope_error([](X x) { return matmul(x[0], x[0]); }, {random_array({3, 3}, 1)}) == "");
}

TEST_CASE("slopes of linear, with and without bias", "[double][matmul]") {
  for (const Shape& shape : {Shape{3}, Shape{1, 3}, Shape{5, 3}, Shape{2, 2, 3}, Shape{0, 3}}) {
    const Array x = random_array(shape, 1), w = random_array({4, 3}, 2), b = random_array({4}, 3);
    CHECK(slope_error([](X in) { return linear(in[0], in[1], in[2]); }, {x, w, b}) == "");
    CHECK(slope_error([](X in) { return linear(in[0], in[1]); }, {x, w}) == "");
  }
  CHECK(slope_error([](X in) { return linear(in[0], in[1], in[2]); },
                    {zeros({2, 0}), zeros({3, 0}), random_array({3}, 1)}) == "");
}

TEST_CASE("slopes of einsum of one operand", "[double][einsum]") {
  for (const char* text : {"ii->", "ii->i", "ii"}) CHECK(of_einsum(text, {{3, 3}}) == "");
  for (const char* text : {"ij->ji", "ij->", "ij->i", "ij->j", "...->", "...j->...", "j...->...j"})
    CHECK(of_einsum(text, {{2, 3}}) == "");
  CHECK(of_einsum("iji->ji", {{2, 3, 2}}) == "");
  CHECK(of_einsum("iii->i", {{3, 3, 3}}) == "");
  CHECK(of_einsum("ij->i", {{2, 0}}) == "");
}

TEST_CASE("slopes of einsum of several operands", "[double][einsum]") {
  CHECK(of_einsum("ij,jk->ik", {{2, 3}, {3, 4}}) == "");
  CHECK(of_einsum("ij,ij->", {{2, 3}, {2, 3}}) == "");
  CHECK(of_einsum("i,j->ij", {{2}, {3}}) == "");
  CHECK(of_einsum("ij,kl->jk", {{2, 3}, {3, 2}}) == "");
  CHECK(of_einsum("ii,jj->ij", {{2, 2}, {3, 3}}) == "");
  CHECK(of_einsum("ii,i->i", {{1, 1}, {3}}) == "");
  CHECK(of_einsum("bqd,bkd->bqk", {{2, 3, 2}, {2, 4, 2}}) == "");
  CHECK(of_einsum("...ij,...jk->...ik", {{2, 1, 2, 3}, {3, 3, 2}}) == "");
  CHECK(of_einsum("ij,ij->i", {{3, 1}, {1, 4}}) == "");
  CHECK(of_einsum("ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 4}}) == "");
  CHECK(of_einsum("i,i,i->", {{3}, {3}, {3}}) == "");
  CHECK(of_einsum(",i->i", {{}, {3}}) == "");
}
