// several_results_test.cpp: operations with several results.

#include "heed/extra/several_results.hpp"

#include "catch.hpp"
#include "heed/array/map.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// y_0 = a b, y_1 = the sum of a
struct ProductAndSum {
  static constexpr std::string_view name = "ProductAndSum";
  std::vector<Array> forward(const Array& a, const Array& b) const {
    Array sum = scalar(0);
    for (const Real v : a) sum() += v;
    return {map([](auto u, auto v) { return u * v; }, a, b), sum};
  }
  Grads<2> backward(const std::vector<Array>& dy, const std::vector<Array>& y, const Array& a,
                    const Array& b) const {
    CHECK(y.size() == 2);
    const auto da = [s = dy[1]()](auto d, auto v) { return d * v + s; };
    return {map(da, dy[0], b), map([](auto d, auto u) { return d * u; }, dy[0], a)};
  }
};

std::vector<Tensor> product_and_sum(In a, In b) { return record_several(ProductAndSum{}, a, b); }

}  // namespace

TEST_CASE("an operation with several results has the gradients of all that are used",
          "[extra][several_results]") {
  const Tensor a = tensor_of({2}, {1, 2}), b = tensor_of({2}, {3, 4});
  const std::vector<Tensor> y = product_and_sum(a, b);
  CHECK(difference(y[0], array_of({2}, {3, 8})) == "");
  CHECK(difference(y[1], array_of({}, {3})) == "");
  backward(sum(y[0]) + y[1] * 10, {/*keep_graph=*/true});
  CHECK(difference(a.grad(), array_of({2}, {13, 14})) == "");
  CHECK(difference(b.grad(), array_of({2}, {1, 2})) == "");
  a.clear_grad(), b.clear_grad();
  y[1].backward();  // the other result has the gradient 0
  CHECK(difference(a.grad(), array_of({2}, {1, 1})) == "");
  CHECK(difference(b.grad(), zeros({2})) == "");
}

TEST_CASE("several results of an operation pass a gradient check", "[extra][several_results]") {
  CHECK(gradcheck(
            [](const std::vector<Tensor>& x) {
              const auto y = product_and_sum(x[0], x[1]);
              return y[0] * y[1];
            },
            {array_of({3}, {1, -2, 3}), array_of({3}, {2, 1, -1})})
            .ok);
}

TEST_CASE("without gradients, no graph of several results is recorded",
          "[extra][several_results]") {
  const NoGrad no_grad;
  const Tensor a = tensor_of({1}, {2});
  CHECK_FALSE(product_and_sum(a, a)[0].requires_grad());
}

TEST_CASE("a graph of several results is freed by backward", "[extra][several_results]") {
  const std::size_t before = live_nodes();
  {
    const Tensor a = tensor_of({1}, {2});
    sum(product_and_sum(a, a)[0]).backward();
  }
  CHECK(live_nodes() == before);
}
