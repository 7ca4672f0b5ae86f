// backward_test.cpp: tests of backward, gradient accumulation, topological_order and contributions.

#include "heed/autograd/backward.hpp"

#include "catch.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/debug/provenance.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

BackwardOptions keep_graph() {
  BackwardOptions options;
  options.keep_graph = true;
  return options;
}

// y = x with a gradient of the wrong shape.
struct WrongShape {
  static constexpr std::string_view name = "WrongShape";
  Array forward(const Array& x) const { return x; }
  Array backward(const Array&, const Array&, const Array&) const { return ones({2, 2}); }
};

// y = x_0 + x_1 + ..., which counts the calls of its backward.
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

// y = a + b with an optional b.
struct MaybeAdd {
  static constexpr std::string_view name = "MaybeAdd";
  Array forward(const Array& a, const Array& b) const { return !is_defined(b) ? a : Array(a + b); }
  Grads<2> backward(const Array& dy, const Array&, const Array&, const Array& b) const {
    return {dy, !is_defined(b) ? undefined_array() : dy};
  }
};

}  // namespace

TEST_CASE("the gradient of a tensor used twice is the sum of both parts", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3});
  backward(x * x);
  CHECK(item(x.grad()) == 6);
}

TEST_CASE("c = b + b with b = a + a gives a the gradient 4", "[autograd][backward]") {
  const Tensor a = tensor_of({}, {5});
  const Tensor b = a + a, c = b + b;
  backward(c);
  CHECK(item(b.grad()) == 2);
  CHECK(item(a.grad()) == 4);
}

TEST_CASE("a node runs backward after both of its uses", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {2});
  const Tensor top = x * 3, left = top * top, right = top * 10;
  backward(left + right);
  CHECK(item(top.grad()) == 22);  // 2 * 6 + 10
  CHECK(item(x.grad()) == 66);
}

TEST_CASE("gradients of paths of different lengths are added", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {1});
  Tensor longer = x;
  for (int i = 0; i < 10; ++i) longer = longer * 2;
  const Tensor y = longer + x * 3 + longer * x;
  backward(y);
  CHECK(item(x.grad()) == 1024 + 3 + 2048);
}

TEST_CASE("an operation with 32 inputs runs backward once and gives 32 gradients",
          "[autograd][backward]") {
  int calls = 0;
  std::vector<Tensor> leaves;
  for (int i = 0; i < 32; ++i) leaves.push_back(tensor_of({2}, {1.0 * i, 1}));
  const Tensor y = record_list(CountedSum{&calls}, SourceLocation::current(), leaves);
  backward(sum(y * y));
  CHECK(calls == 1);
  for (const Tensor& leaf : leaves) CHECK((leaf.grad() == array_of({2}, {2 * 496, 64})));
}

TEST_CASE("the gradient of a tensor used 32 times is the sum of 32 parts", "[autograd][backward]") {
  int calls = 0;
  const Tensor x = tensor_of({1}, {1});
  backward(record_list(CountedSum{&calls}, SourceLocation::current(), std::vector<Tensor>(32, x)));
  CHECK(calls == 1);
  CHECK((x.grad() == filled({1}, 32)));
}

TEST_CASE("a node with a million paths to it runs backward once", "[autograd][backward]") {
  int calls = 0;
  const Tensor x = tensor_of({1}, {1});
  const Tensor shared = record_list(CountedSum{&calls}, SourceLocation::current(), {x});
  Tensor y = shared;
  for (int i = 0; i < 20; ++i) y = y + y + shared;  // more than 2^20 paths
  backward(y);
  CHECK(calls == 1);
}

TEST_CASE("the gradients of leaves accumulate over two graphs", "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2});
  backward(sum(x * 3));
  backward(sum(x * 4));
  CHECK((x.grad() == filled({2}, 7)));
}

TEST_CASE("a second backward through a kept graph accumulates for leaves only",
          "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3});
  const Tensor y = x * x, z = y * 10;
  backward(z, keep_graph());
  backward(z, keep_graph());
  CHECK(item(y.grad()) == 10);
  CHECK(item(z.grad()) == 1);
  CHECK(item(x.grad()) == 120);
  backward(z);
  CHECK(item(x.grad()) == 180);
}

TEST_CASE("two losses can use one kept graph", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3});
  const Tensor shared = x * x, one = shared * 2, other = shared * 5;
  backward(one, keep_graph());
  backward(other);
  CHECK(item(x.grad()) == 42);
}

TEST_CASE("backward through a freed graph throws an error with the operation and its line",
          "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2});
  const int line = __LINE__ + 1;
  const Tensor y = tanh(x);
  const Tensor loss = sum(y);
  backward(loss);
  const std::string location = std::string(__FILE__) + ":" + std::to_string(line);
  CHECK(message_of([&] { backward(sum(y * y)); }) ==
        "backward: the graph behind Tanh (2) made at " + location +
            " was freed by an earlier backward; call that one with keep_graph = true");
  CHECK(message_of([&] { backward(loss); }).substr(0, 35) == "backward: the graph behind Sum () m");
  CHECK((x.grad() == gradients([](const std::vector<Tensor>& in) { return sum(tanh(in[0])); },
                               {x.value()}, scalar(1))[0]));
}

TEST_CASE("a backward that throws changes neither gradients nor the graph",
          "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2});
  const Tensor y = x * 2;
  CHECK_THROWS_AS(backward(y), Error);
  CHECK_FALSE(x.has_grad());
  backward(y, array_of({2}, {1, 10}));
  CHECK((x.grad() == array_of({2}, {2, 20})));
}

TEST_CASE("backward from a leaf adds to its gradient", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3});
  backward(x);
  backward(x);
  CHECK(item(x.grad()) == 2);
}

TEST_CASE("inputs without requires_grad get no gradient", "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2}), constant(array_of({2}, {3, 4}));
  backward(sum(x * constant));
  CHECK((x.grad() == constant.value()));
  CHECK_FALSE(constant.has_grad());
}

TEST_CASE("an optional input that is left out gets no gradient", "[autograd][backward]") {
  const Tensor a = tensor_of({2}, {1, 2}), b = tensor_of({2}, {3, 4});
  backward(sum(record(MaybeAdd{}, SourceLocation::current(), a, b)));
  CHECK((b.grad() == ones({2})));
  backward(sum(record(MaybeAdd{}, SourceLocation::current(), a, Tensor())));
  CHECK((a.grad() == filled({2}, 2)));
}

TEST_CASE("after clear_grad a gradient accumulates from zero", "[autograd][backward]") {
  Tensor x = tensor_of({}, {3});
  backward(x * 2);
  x.clear_grad();
  backward(x * 5);
  CHECK(item(x.grad()) == 5);
}

TEST_CASE("backward throws for outputs that it cannot start from", "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2}), constant(ones({1}));
  CHECK(message_of([&] { backward(x * 2); }) ==
        "backward: output (2) has more than one element; reduce it to one, or give the upstream "
        "gradient");
  CHECK(message_of([&] { backward(constant); }) ==
        "backward: output (1) depends on nothing that requires a gradient; make an input with "
        "requires_grad = true");
  const Tensor y = (x * 2).set_name("scores");
  CHECK(message_of([&] { backward(y, ones({3})); }) ==
        "backward: the upstream gradient has shape (3), scores (2); they must be equal");
}

TEST_CASE("a gradient of the wrong shape names the operation", "[autograd][backward]") {
  const Tensor x = tensor_of({3}, {1, 2, 3});
  const Tensor y = record(WrongShape{}, SourceLocation::current(), x);
  CHECK(message_of([&] { backward(sum(y)); }) ==
        "WrongShape: backward gave a gradient of shape (2, 2) for input 0 of shape (3)");
  CHECK_FALSE(x.has_grad());
}

TEST_CASE("errors contain the names of tensors", "[autograd][backward]") {
  Tensor x(zeros({4, 8, 64})), weight(zeros({32, 256}));
  x.set_name("x");
  weight.set_name("blocks.0.up.weight");
  CHECK(message_of([&] { matmul(x, weight); }) ==
        "matmul: inner sizes differ: x (4, 8, 64), blocks.0.up.weight (32, 256)");
}

TEST_CASE("in topological_order each node comes after its inputs", "[autograd][backward]") {
  const Tensor x = tensor_of({}, {3}), constant(scalar(1));
  const Tensor y = x * x, z = y + x + constant;
  const auto order = topological_order(z);
  REQUIRE(order.size() == 4);
  CHECK(order.front() == x.node());
  CHECK(order.back() == z.node());
}

TEST_CASE("backward frees memory while it runs", "[autograd][backward]") {
  const Tensor x(ones({1000, 1000}), true);
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = y * 1.0;
  const std::size_t before = allocated_bytes();
  backward(sum(y));
  CHECK(allocated_bytes() < before);
}

TEST_CASE("with provenance, contributions lists the parts of a gradient",
          "[autograd][provenance]") {
  const Tensor x = tensor_of({2}, {3, 4});
  Provenance provenance;
  BackwardOptions options;
  options.observer = &provenance;
  const Tensor square = (x * x).set_name("square");
  const Tensor shifted = x + 2;
  backward(sum(square + shifted), options);
  const std::vector<Contribution> parts = contributions(x);
  REQUIRE(parts.size() == 3);  // x * x adds two, one for each factor
  CHECK(parts[0].op == "AddConstant");
  CHECK(str(parts[0].location) == str(shifted.location()));
  CHECK(close(parts[0].norm, std::sqrt(2), 1e-12));
  for (const Contribution& part : {parts[1], parts[2]}) {
    CHECK(part.op == "Multiply");
    CHECK(part.name == "square");
    CHECK(part.norm == 5);
  }
  backward(sum(x));
  CHECK(contributions(x).size() == 3);  // unchanged: no provenance in this pass
  Tensor(x).clear_grad();
  CHECK(contributions(x).empty());
}

TEST_CASE("the contributions of a node that is no leaf are those of the last call",
          "[autograd][provenance]") {
  const Tensor x = tensor_of({}, {3});
  const Tensor y = x * x;
  Provenance provenance;
  const BackwardOptions options{true, &provenance};
  backward(y * 2, options);
  backward(y * 3, options);
  REQUIRE(contributions(y).size() == 1);
  CHECK(contributions(y)[0].norm == 3);
  CHECK(contributions(x).size() == 4);
}

TEST_CASE("contributions throws for an undefined tensor", "[autograd][provenance]") {
  CHECK(message_of([] { contributions(Tensor()); }) == "contributions: the tensor is undefined");
}

// The sum of two tensors, whose backward returns `count` gradients.
struct WrongNumber {
  static constexpr std::string_view name = "WrongNumber";
  Array forward(const ArrayList& x) const { return x[0].get() + x[1].get(); }
  std::vector<Array> backward(const Array& dy, const Array&, const ArrayList&) const {
    return std::vector<Array>(count, dy);
  }
  std::size_t count;
};

TEST_CASE("an operation on a list must return a gradient for each input", "[autograd][backward]") {
  const Tensor x = tensor_of({1}, {1});
  for (const std::size_t count : {0u, 1u, 3u})
    CHECK(message_of([&] {
            backward(record_list(WrongNumber{count}, SourceLocation::current(), {x, x}));
          }) == "WrongNumber: backward gave " + std::to_string(count) +
                    " gradients for 2 inputs; return one for each input");
  backward(record_list(WrongNumber{2}, SourceLocation::current(), {x, x}));
}

TEST_CASE("a gradient of an earlier value with another shape is not added to",
          "[autograd][backward]") {
  const Tensor x = tensor_of({2}, {1, 2});
  backward(sum(x * x));
  x.node()->value = ones({3});
  CHECK(
      message_of([&] { backward(sum(x + x)); }) ==
      "Add: the gradient of input 0 has the shape (2) of an earlier value; clear it with zero_grad "
      "first");
}

TEST_CASE("backward throws for create_graph, because heed computes no second derivatives",
          "[autograd][backward]") {
  const Tensor x(ones({1}), true);
  BackwardOptions options;
  options.create_graph = true;
  CHECK(message_of([&] { backward(x * x, options); }) ==
        "backward: create_graph asks for derivatives of gradients, which heed does not compute; "
        "compute them by central differences of two backward passes");
}
