// matmul_test.cpp: gradient checks of matmul, linear and einsum against finite differences.

#include "heed/ops/matmul.hpp"

#include "catch.hpp"
#include "heed/ops/einsum.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

std::string product_error(const Shape& a, const Shape& b) {
  return gradcheck_error([](X x) { return matmul(x[0], x[1]); },
                         {random_array(a, 1), random_array(b, 2)});
}

std::string einsum_error(const std::string& equation, const std::vector<Shape>& shapes) {
  std::vector<Array> operands;
  for (const Shape& shape : shapes) operands.push_back(random_array(shape, operands.size() + 1));
  return gradcheck_error([&](X x) { return einsum(equation, x); }, operands);
}

}  // namespace

TEST_CASE("gradients of products of matrices and vectors", "[double][matmul]") {
  CHECK(product_error({2, 3}, {3, 4}) == "");
  CHECK(product_error({1, 1}, {1, 1}) == "");
  CHECK(product_error({1, 5}, {5, 1}) == "");
  CHECK(product_error({3}, {3}) == "");
  CHECK(product_error({3}, {3, 2}) == "");
  CHECK(product_error({2, 3}, {3}) == "");
  CHECK(product_error({0, 3}, {3, 2}) == "");
  CHECK(product_error({2, 0}, {0, 3}) == "");
}

TEST_CASE("gradients of products of batches that broadcast", "[double][matmul]") {
  CHECK(product_error({2, 3, 4}, {2, 4, 2}) == "");
  CHECK(product_error({2, 3, 4}, {4, 2}) == "");
  CHECK(product_error({3, 4}, {2, 4, 2}) == "");
  CHECK(product_error({2, 1, 3, 2}, {4, 2, 3}) == "");
  CHECK(product_error({1, 3, 2}, {4, 2, 3}) == "");
  CHECK(product_error({4, 3, 2}, {1, 2, 3}) == "");
  CHECK(product_error({3}, {2, 3, 2}) == "");
  CHECK(product_error({2, 2, 3}, {3}) == "");
  CHECK(product_error({0, 2, 3}, {3, 2}) == "");
}

TEST_CASE("gradients of one matrix as both factors", "[double][matmul]") {
  CHECK(gradcheck_error([](X x) { return matmul(x[0], x[0]); }, {random_array({3, 3}, 1)}) == "");
}

TEST_CASE("gradients of linear, with and without bias", "[double][matmul]") {
  for (const Shape& shape : {Shape{3}, Shape{1, 3}, Shape{5, 3}, Shape{2, 2, 3}, Shape{0, 3}}) {
    const Array x = random_array(shape, 1), w = random_array({4, 3}, 2), b = random_array({4}, 3);
    CHECK(gradcheck_error([](X in) { return linear(in[0], in[1], in[2]); }, {x, w, b}) == "");
    CHECK(gradcheck_error([](X in) { return linear(in[0], in[1]); }, {x, w}) == "");
  }
  CHECK(gradcheck_error([](X in) { return linear(in[0], in[1], in[2]); },
                        {zeros({2, 0}), zeros({3, 0}), random_array({3}, 1)}) == "");
}

TEST_CASE("gradients of einsum of one operand", "[double][einsum]") {
  for (const char* text : {"ii->", "ii->i", "ii"}) CHECK(einsum_error(text, {{3, 3}}) == "");
  for (const char* text : {"ij->ji", "ij->", "ij->i", "ij->j", "...->", "...j->...", "j...->...j"})
    CHECK(einsum_error(text, {{2, 3}}) == "");
  CHECK(einsum_error("iji->ji", {{2, 3, 2}}) == "");
  CHECK(einsum_error("iii->i", {{3, 3, 3}}) == "");
  CHECK(einsum_error("ij->i", {{2, 0}}) == "");
}

TEST_CASE("gradients of einsum of several operands", "[double][einsum]") {
  CHECK(einsum_error("ij,jk->ik", {{2, 3}, {3, 4}}) == "");
  CHECK(einsum_error("ij,ij->", {{2, 3}, {2, 3}}) == "");
  CHECK(einsum_error("i,j->ij", {{2}, {3}}) == "");
  CHECK(einsum_error("ij,kl->jk", {{2, 3}, {3, 2}}) == "");
  CHECK(einsum_error("ii,jj->ij", {{2, 2}, {3, 3}}) == "");
  CHECK(einsum_error("ii,i->i", {{1, 1}, {3}}) == "");
  CHECK(einsum_error("bqd,bkd->bqk", {{2, 3, 2}, {2, 4, 2}}) == "");
  CHECK(einsum_error("...ij,...jk->...ik", {{2, 1, 2, 3}, {3, 3, 2}}) == "");
  CHECK(einsum_error("ij,ij->i", {{3, 1}, {1, 4}}) == "");
  CHECK(einsum_error("ij,jk,kl->il", {{2, 3}, {3, 2}, {2, 4}}) == "");
  CHECK(einsum_error("i,i,i->", {{3}, {3}, {3}}) == "");
  CHECK(einsum_error(",i->i", {{}, {3}}) == "");
}
