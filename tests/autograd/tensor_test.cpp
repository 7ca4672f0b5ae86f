// tensor_test.cpp: tests of Tensor, NoGrad, source locations and the freeing of graphs.

#include "heed/autograd/tensor.hpp"

#include <pthread.h>

#include <functional>
#include <memory>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/softmax.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

std::string here(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

// Adds 1 to x n times: a chain of n nodes.
Tensor chain_of(const Tensor& x, std::size_t n) {
  Tensor y = x;
  for (std::size_t i = 0; i < n; ++i) y = y + 1;
  return y;
}

// The default stack size of most systems. A larger stack would hide a deep recursion.
void with_8_mb_of_stack(std::function<void()> work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 8 << 20) == 0);
  pthread_t thread{};
  const auto run = [](void* f) -> void* { return (*static_cast<decltype(work)*>(f))(), nullptr; };
  REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("copies of a tensor have the same value and gradient", "[autograd][tensor]") {
  const Tensor a = tensor_of({2}, {1, 2});
  Tensor b = a;
  b.mutable_value()(0) = 5;
  CHECK(a.value()(0) == 5);
  backward(sum(b));
  CHECK((a.grad() == ones({2})));
  b.clear_grad();
  CHECK_FALSE(a.has_grad());
}

TEST_CASE("shape, dim and size of a tensor, also for negative axes", "[autograd][tensor]") {
  const Tensor x(zeros({2, 3, 4}));
  CHECK(str(x.shape()) == "(2, 3, 4)");
  CHECK(x.dim() == 3);
  CHECK(x.size(0) == 2);
  CHECK(x.size(-1) == 4);
  CHECK(message_of([&] { x.size(3); }) ==
        "size: axis 3 is out of range for x (2, 3, 4); use -3 to 2");
  CHECK(message_of([] { Tensor(scalar(1)).size(0); }) == "size: x () has no axes");
}

TEST_CASE("item returns the only element or throws an error with the name", "[autograd][tensor]") {
  CHECK(Tensor(scalar(3)).item() == 3);
  Tensor x(zeros({2}));
  CHECK(message_of([&] { x.item(); }) == "item: needs exactly one element: x (2)");
  x.set_name("loss");
  CHECK(message_of([&] { x.item(); }) == "item: needs exactly one element: loss (2)");
}

TEST_CASE("the error of a missing gradient contains the reason", "[autograd][tensor]") {
  const Tensor constant(ones({2})), x = tensor_of({2}, {1, 2});
  CHECK(message_of([&] { constant.grad(); }) ==
        "grad: x (2) has no gradient yet; it was made with requires_grad = false");
  CHECK(message_of([&] { x.grad(); }) == "grad: x (2) has no gradient yet; call backward first");
}

TEST_CASE("defined and describe distinguish an undefined tensor", "[autograd][tensor]") {
  CHECK_FALSE(Tensor().defined());
  CHECK_FALSE(Tensor().requires_grad());
  CHECK(Tensor(scalar(1)).defined());
  CHECK(describe(Tensor(), "bias") == "bias (not given)");
  CHECK(describe(Tensor(zeros({2, 3})), "a") == "a (2, 3)");
  CHECK(describe(Tensor(zeros({2, 3})).set_name("weights"), "a") == "weights (2, 3)");
}

TEST_CASE("a result requires a gradient when an input does", "[autograd][tensor]") {
  const Tensor x = tensor_of({1}, {1}), c(ones({1}));
  CHECK((x + c).requires_grad());
  CHECK((c + x).requires_grad());
  CHECK_FALSE((c + c).requires_grad());
  CHECK((c + c).node()->inputs.empty());
  CHECK((x + c).op() == "Add");
  CHECK(x.op() == "Leaf");
}

TEST_CASE("detach returns the value without the graph", "[autograd][tensor]") {
  Tensor x = tensor_of({2}, {1, 2});
  x.set_name("x");
  Tensor y = exp(x), detached = detach(y.set_name("y"));
  CHECK((detached.value() == y.value()));
  CHECK_FALSE(detached.requires_grad());
  CHECK(detached.name() == "y");
  backward(sum(x * detach(x)));
  CHECK((x.grad() == x.value()));  // not 2 x
}

TEST_CASE("inside NoGrad no graph is recorded, also when nested", "[autograd][tensor]") {
  const Tensor x = tensor_of({1}, {1});
  CHECK(grad_enabled());
  {
    const NoGrad outer;
    CHECK_FALSE(grad_enabled());
    {
      const NoGrad inner;
      CHECK_FALSE((x + x).requires_grad());
    }
    CHECK_FALSE(grad_enabled());
    CHECK_FALSE((x + x).requires_grad());
    CHECK((x + x).node()->inputs.empty());
  }
  CHECK(grad_enabled());
  CHECK((x + x).requires_grad());
}

TEST_CASE("NoGrad ends when an exception is thrown", "[autograd][tensor]") {
  CHECK_THROWS_AS(
      [] {
        const NoGrad no_grad;
        throw_error("planted");
      }(),
      Error);
  CHECK(grad_enabled());
}

TEST_CASE("the depth of a node is one more than the largest depth of its inputs",
          "[autograd][tensor]") {
  const Tensor x = tensor_of({1}, {1});
  const Tensor once = x + x, twice = once * x;
  CHECK(x.node()->depth == 0);
  CHECK(once.node()->depth == 1);
  CHECK(twice.node()->depth == 2);
}

TEST_CASE("a tensor has the source line that made it, also with operators", "[autograd][where]") {
  const int line = __LINE__;
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4});
  const Tensor leaf(ones({2}));
  const Tensor weights = softmax(x, -1);
  const Tensor sum = x + x;
  const Tensor scaled = 2 * x;
  const Tensor shifted = x - 1.5;
  const Tensor negated = -x;
  const Tensor product = matmul(x, x);
  const Tensor inverse = 3 / x;
  CHECK(str(leaf.location()) == here(line + 2));
  CHECK(str(weights.location()) == here(line + 3));
  CHECK(str(sum.location()) == here(line + 4));
  CHECK(str(scaled.location()) == here(line + 5));
  CHECK(str(shifted.location()) == here(line + 6));
  CHECK(str(negated.location()) == here(line + 7));
  CHECK(str(product.location()) == here(line + 8));
  CHECK(str(inverse.location()) == here(line + 9));
  CHECK(inverse.node()->inputs[0]->location.line ==
        line + 9);  // nodes created inside the operation have its line
}

TEST_CASE("a graph without a handle is freed", "[autograd][nodes]") {
  const std::size_t before = live_nodes();
  {
    const Tensor x = tensor_of({2}, {1, 2});
    const Tensor y = exp(x) * x;
    CHECK(live_nodes() == before + 3);  // the product keeps the exponential alive
    backward(sum(y));
    CHECK(live_nodes() == before + 2);
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("freeing a result keeps the nodes that another handle needs", "[autograd][nodes]") {
  const Tensor x = tensor_of({}, {3});
  const Tensor y = x * x;
  { const Tensor z = exp(y) * y; }
  backward(y);
  CHECK(item(x.grad()) == 6);
}

TEST_CASE("a chain of a million nodes is built and freed without a backward pass",
          "[autograd][nodes]") {
  const std::size_t before = live_nodes();
  std::size_t built = 0;
  Real end = 0;
  with_8_mb_of_stack([&] {
    const Tensor y = chain_of(tensor_of({}, {0}), 1000000);
    end = y.item();
    built = live_nodes();
  });
  CHECK(end == 1000000);
  CHECK(built == before + 1000001);
  CHECK(live_nodes() == before);
}

TEST_CASE("a chain of a million nodes runs backward and is freed", "[autograd][nodes]") {
  const std::size_t before = live_nodes();
  const Tensor x = tensor_of({}, {0});
  with_8_mb_of_stack([&] { backward(chain_of(x, 1000000)); });
  CHECK(item(x.grad()) == 1);
  CHECK(live_nodes() == before + 1);
}

TEST_CASE("keep_graph keeps a chain of a hundred thousand nodes until its last handle is gone",
          "[autograd][nodes]") {
  const std::size_t before = live_nodes();
  const Tensor x = tensor_of({}, {0});
  {
    const Tensor y = chain_of(x, 100000);
    BackwardOptions keep;
    keep.keep_graph = true;
    backward(y, keep);
    CHECK(live_nodes() == before + 100001);
  }
  CHECK(live_nodes() == before + 1);
}

TEST_CASE("a long chain of nodes with two inputs each is freed without a deep stack",
          "[autograd][nodes]") {
  const std::size_t before = live_nodes();
  {
    Tensor a = tensor_of({}, {1}), b = tensor_of({}, {1});
    for (int i = 0; i < 100000; ++i) {
      const Tensor next = a - b;
      b = a * 1;
      a = next;
    }
  }
  CHECK(live_nodes() == before);
}

TEST_CASE("every member function throws the same error for an undefined tensor",
          "[autograd][tensor]") {
  Tensor undefined;
  const std::vector<std::function<void()>> calls = {[&] { undefined.value(); },
                                                    [&] { undefined.mutable_value(); },
                                                    [&] { undefined.shape(); },
                                                    [&] { undefined.dim(); },
                                                    [&] { undefined.size(0); },
                                                    [&] { undefined.item(); },
                                                    [&] { undefined.grad(); },
                                                    [&] { undefined.mutable_grad(); },
                                                    [&] { undefined.has_grad(); },
                                                    [&] { undefined.clear_grad(); },
                                                    [&] { undefined.name(); },
                                                    [&] { undefined.set_name("x"); },
                                                    [&] { undefined.op(); },
                                                    [&] { undefined.location(); },
                                                    [&] { undefined + undefined; },
                                                    [&] { softmax(undefined, 0); },
                                                    [&] { matmul(undefined, undefined); }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    INFO("call " << i);
    const auto& call = calls[i];
    CHECK(message_of(call) == "the tensor is undefined; construct it with a value first");
  }
}

TEST_CASE("a tensor is printed with name, shape and operation above its value",
          "[autograd][tensor]") {
  const auto printed = [](const Tensor& x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  const Tensor w = tensor_of({2}, {1, 2}).set_name("w"), constant(ones({1, 2}));
  CHECK(printed(w) == "w (2), requires_grad\n{ 1.,  2.}");
  CHECK(printed(constant) == "tensor (1, 2)\n{{ 1.,  1.}}");
  const int made = __LINE__ + 1;
  const Tensor y = (w * 0.5).set_name("half");
  CHECK(printed(y) == "half (2), Scale at " + std::string(__FILE__) + ":" + std::to_string(made) +
                          "\n{ 0.5,  1. }");
  CHECK(printed(Tensor()) == "tensor (not given)");
}

TEST_CASE("x.backward() computes the gradients that backward(x) computes", "[autograd][tensor]") {
  const Tensor x = tensor_of({2}, {3, 4}), y = tensor_of({2}, {3, 4});
  sum(x * x).backward();
  backward(sum(y * y));
  CHECK(difference(x.grad(), y.grad(), 0) == "");
  CHECK(difference(x.grad(), array_of({2}, {6, 8})) == "");
}

TEST_CASE("gradients are recorded again after the last NoGrad, whichever order they end in",
          "[autograd][tensor]") {
  auto first = std::make_unique<NoGrad>();
  auto second = std::make_unique<NoGrad>();
  first.reset();
  CHECK_FALSE(grad_enabled());
  second.reset();
  CHECK(grad_enabled());
}

TEST_CASE("errors show a tensor's name on one line, without control characters",
          "[autograd][tensor]") {
  Tensor x(ones({2}));
  x.set_name("a\nb\x1b[2J");
  CHECK(describe(x, "x") == R"(a\nb\x1b[2J (2))");
}

TEST_CASE("mutable_grad stores zeros if there is no gradient", "[autograd][tensor]") {
  Tensor x(ones({2}), true);
  CHECK(same_bits(x.mutable_grad(), zeros({2})));
  CHECK(x.has_grad());
  x.mutable_grad() = ones({2});
  CHECK(same_bits(x.grad(), ones({2})));
}
