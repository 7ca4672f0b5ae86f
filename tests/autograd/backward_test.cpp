// backward_test.cpp: gradients add up along every path, in the right order, and errors have names.

#include "heed/autograd/backward.hpp"

#include "catch.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

BackwardOptions keeping() {
  BackwardOptions options;
  options.keep_graph = true;
  return options;
}

// y = x, whose backward forgets x's shape.
struct WrongShape {
  static constexpr std::string_view name = "WrongShape";
  Array forward(const Array& x) const { return x; }
  Array backward(const Array&, const Array&, const Array&) const { return ones({2, 2}); }
};

// y = x_0 + x_1 + ..., and how often backward has been here.
struct CountedSum {
  static constexpr std::string_view name = "CountedSum";
  Array forward(const ArrayList& parts) const {
    Array y = zeros(parts[0].get().shape());
    for (const Array& part : parts) y += part;
    return y;
  }
  std::vector<Array> backward(const Array& dy, const Array&, const ArrayList& parts) const {
    ++*calls;
    return std::vector<Array>(parts.size(), dy);
  }
  int* calls;
};

// y = a + b where b may be left out.
struct MaybeAdd {
  static constexpr std::string_view name = "MaybeAdd";
  Array forward(const Array& a, const Array& b) const { return !is_defined(b) ? a : Array(a + b); }
  Grads<2> backward(const Array& dy, const Array&, const Array&, const Array& b) const {
    return {dy, !is_defined(b) ? undefined_array() : dy};
  }
};

}  // namespace

TEST_CASE("a tensor used twice gets both parts", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3});
  backward(x * x);
  CHECK(item(x.grad()) == 6);
}

TEST_CASE("b = a + a; c = b + b reaches a once, with 4", "[autograd][backward]") {
  const Tensor a = tensor_of({}, {5});
  const Tensor b = a + a, c = b + b;
  backward(c);
  CHECK(item(b.grad()) == 2);
  CHECK(item(a.grad()) == 4);
}

TEST_CASE("a diamond waits for both its sides", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {2});
  const Tensor top = x * 3, left = top * top, right = top * 10;
  backward(left + right);
  CHECK(item(top.grad()) == 22);  // 2 * 6 + 10
  CHECK(item(x.grad()) == 66);
}

TEST_CASE("a short path and a long one from the same tensor meet in order",
          "[autograd][backward]") {
  const Tensor x = tensor_of({}, {1});
  Tensor longer = x;
  for (int i = 0; i < 10; ++i) longer = longer * 2;
  const Tensor y = longer + x * 3 + longer * x;
  backward(y);
  CHECK(item(x.grad()) == 1024 + 3 + 2048);
}

TEST_CASE("a fan-in of 32 sends 32 gradients, one node one visit", "[autograd][backward]") {
  int calls = 0;
  std::vector<Tensor> leaves;
  for (int i = 0; i < 32; ++i) leaves.push_back(tensor_of({2}, {1.0 * i, 1}));
  const Tensor y = record_list(CountedSum{&calls}, SourceLocation::current(), leaves);
  backward(sum(y * y));
  CHECK(calls == 1);
  for (const Tensor& leaf : leaves) CHECK((leaf.grad() == array_of({2}, {2 * 496, 64})));
}

TEST_CASE("a tensor used 32 times gets 32 parts", "[autograd][backward]") {
  int calls = 0;
  const Tensor x = tensor_of({1}, {1});
  backward(record_list(CountedSum{&calls}, SourceLocation::current(), std::vector<Tensor>(32, x)));
  CHECK(calls == 1);
  CHECK((x.grad() == filled({1}, 32)));
}

TEST_CASE("no node runs backward twice, however many paths lead to it", "[autograd][backward]") {
  int calls = 0;
  const Tensor x = tensor_of({1}, {1});
  const Tensor shared = record_list(CountedSum{&calls}, SourceLocation::current(), {x});
  Tensor y = shared;
  for (int i = 0; i < 20; ++i) y = y + y + shared;  // more than 2^20 paths
  backward(y);
  CHECK(calls == 1);
}

TEST_CASE("a second graph adds to the gradients of leaves", "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2});
  backward(sum(x * 3));
  backward(sum(x * 4));
  CHECK((x.grad() == filled({2}, 7)));
}

TEST_CASE("a second backward through a kept graph adds to leaves; values between show the last",
          "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3});
  const Tensor y = x * x, z = y * 10;
  backward(z, keeping());
  backward(z, keeping());
  CHECK(item(y.grad()) == 10);
  CHECK(item(z.grad()) == 1);
  CHECK(item(x.grad()) == 120);
  backward(z);
  CHECK(item(x.grad()) == 180);
}

TEST_CASE("two losses on one kept graph", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3});
  const Tensor shared = x * x, one = shared * 2, other = shared * 5;
  backward(one, keeping());
  backward(other);
  CHECK(item(x.grad()) == 42);
}

TEST_CASE("a freed graph is refused with the operation and its place", "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2});
  const int line = __LINE__ + 1;
  const Tensor y = tanh(x);
  const Tensor loss = sum(y);
  backward(loss);
  const std::string place = std::string(__FILE__) + ":" + std::to_string(line);
  CHECK(message_of([&] { backward(sum(y * y)); }) ==
        "backward: the graph behind Tanh (2) made at " + place +
            " was freed by an earlier backward; give that one keep_graph = true");
  CHECK(message_of([&] { backward(loss); }).substr(0, 35) == "backward: the graph behind Sum () m");
  CHECK((x.grad() == gradients([](const std::vector<Tensor>& in) { return sum(tanh(in[0])); },
                               {x.value()}, scalar(1))[0]));
}

TEST_CASE("a refused backward leaves gradients and graph as they were", "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2});
  const Tensor y = x * 2;
  CHECK_THROWS_AS(backward(y), Error);
  CHECK_FALSE(x.has_grad());
  backward(y, array_of({2}, {1, 10}));
  CHECK((x.grad() == array_of({2}, {2, 20})));
}

TEST_CASE("a leaf is its own output", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3});
  backward(x);
  backward(x);
  CHECK(item(x.grad()) == 2);
}

TEST_CASE("inputs that want no gradient get none", "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2}), constant(array_of({2}, {3, 4}));
  backward(sum(x * constant));
  CHECK((x.grad() == constant.value()));
  CHECK_FALSE(constant.has_grad());
}

TEST_CASE("an optional input may be left out", "[autograd][backward]") {
  const Tensor a = tensor_of({2}, {1, 2}), b = tensor_of({2}, {3, 4});
  backward(sum(record(MaybeAdd{}, SourceLocation::current(), a, b)));
  CHECK((b.grad() == ones({2})));
  backward(sum(record(MaybeAdd{}, SourceLocation::current(), a, Tensor())));
  CHECK((a.grad() == filled({2}, 2)));
}

TEST_CASE("clear_grad starts over", "[autograd][backward]") {
  Tensor x = tensor_of({}, {3});
  backward(x * 2);
  x.clear_grad();
  backward(x * 5);
  CHECK(item(x.grad()) == 5);
}

TEST_CASE("outputs that backward cannot start from are refused", "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2}), constant(ones({1}));
  CHECK(message_of([&] { backward(x * 2); }) ==
        "backward: output (2) has more than one element; reduce it to one, or give the gradient "
        "that arrives at it");
  CHECK(message_of([&] { backward(constant); }) ==
        "backward: output (1) depends on nothing that requires a gradient; make an input with "
        "requires_grad = true");
  const Tensor y = (x * 2).named("scores");
  CHECK(message_of([&] { backward(y, ones({3})); }) ==
        "backward: the gradient given has shape (3), but scores (2) needs its own");
}

TEST_CASE("a gradient of the wrong shape names the operation", "[autograd][backward]") {
  const Tensor x = tensor_of({3}, {1, 2, 3});
  const Tensor y = record(WrongShape{}, SourceLocation::current(), x);
  CHECK(message_of([&] { backward(sum(y)); }) ==
        "WrongShape: backward gave a gradient of shape (2, 2) for input 0 of shape (3)");
  CHECK_FALSE(x.has_grad());
}

TEST_CASE("errors call tensors by their names", "[autograd][backward]") {
  const Tensor x(zeros({4, 8, 64})), weight(zeros({32, 256}));
  x.named("x");
  weight.named("blocks.0.up.weight");
  CHECK(message_of([&] { matmul(x, weight); }) ==
        "matmul: inner sizes differ: x (4, 8, 64), blocks.0.up.weight (32, 256)");
}

TEST_CASE("topological_order puts inputs before what is made from them", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3}), constant(scalar(1));
  const Tensor y = x * x, z = y + x + constant;
  const auto order = topological_order(z);
  REQUIRE(order.size() == 4);
  CHECK(order.front() == x.node());
  CHECK(order.back() == z.node());
  for (const auto& node : order) CHECK_FALSE(node->visited);
}

TEST_CASE("backward frees buffers as it goes", "[autograd][backward]") {
  const Tensor x(ones({1000, 1000}), true);
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = y * 1.0;
  const std::size_t before = pool_statistics().bytes_in_use;
  backward(sum(y));
  CHECK(pool_statistics().bytes_in_use < before);
}

TEST_CASE("every += into a gradient says where it came from, when asked",
          "[autograd][provenance]") {
  const Tensor x = tensor_of({2}, {3, 4});
  BackwardOptions asked;
  asked.provenance = true;
  const Tensor square = (x * x).named("square");
  const Tensor shifted = x + 2;
  backward(sum(square + shifted), asked);
  const std::vector<Contribution> parts = contributions(x);
  REQUIRE(parts.size() == 3);  // the product sends one for each of its sides
  CHECK(parts[0].op == "AddConstant");
  CHECK(str(parts[0].location) == str(shifted.location()));
  CHECK(close(parts[0].norm, std::sqrt(2), 1e-12));
  for (const Contribution& part : {parts[1], parts[2]}) {
    CHECK(part.op == "Multiply");
    CHECK(part.name == "square");
    CHECK(part.norm == 5);
  }
  backward(sum(x));
  CHECK(contributions(x).size() == 3);  // not asked
  Tensor(x).clear_grad();
  CHECK(contributions(x).empty());
}

TEST_CASE("values between keep where the last call's gradient came from",
          "[autograd][provenance]") {
  const Tensor x = tensor_of({}, {3});
  const Tensor y = x * x;
  BackwardOptions asked;
  asked.provenance = asked.keep_graph = true;
  backward(y * 2, asked);
  backward(y * 3, asked);
  REQUIRE(contributions(y).size() == 1);
  CHECK(contributions(y)[0].norm == 3);
  CHECK(contributions(x).size() == 4);
}

TEST_CASE("contributions of a tensor that was not given are refused", "[autograd][provenance]") {
  CHECK(message_of([] { contributions(Tensor()); }) == "contributions: the tensor was not given");
}
