// changed_value_test.cpp: backward throws if a value was changed after the forward pass.

#include <functional>

#include "catch.hpp"
#include "heed/files/save.hpp"
#include "heed/nn/init.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/sgd.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using namespace heed::test;

std::string place(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

Tensor weight() { return tensor_of({2}, {3, -1}).set_name("w"); }

}  // namespace

TEST_CASE("the rejection names the operation, the tensor, its shape and all three places",
          "[autograd][changed_value]") {
  const Tensor w = weight();
  const int made = __LINE__ + 1;
  const Tensor squares = w * w;
  const int changed = __LINE__ + 1;
  w.mutable_value() += 1;
  const Tensor loss = sum(squares);
  const int called = __LINE__ + 1;
  const std::string message = full_message_of([&] { backward(loss); });
  CHECK(message == "backward: Multiply made at " + place(made) +
                       " used w (2), which was changed at " + place(changed) +
                       " since; change it after backward, or use a copy, at " + place(called));
}

TEST_CASE("the rejection gives the number of an input without a name",
          "[autograd][changed_value]") {
  const Tensor x(ones({2, 2}), true), constant(ones({2, 3}));
  const Tensor loss = sum(matmul(x, constant));
  constant.mutable_value() *= 2;
  CHECK(message_of([&] { backward(loss); }).find(" used input 1 (2, 3), which was changed at ") !=
        std::string::npos);
}

TEST_CASE("a rejected backward changes no gradient, and a new forward pass gives the right one",
          "[autograd][changed_value]") {
  const Tensor w = weight(), other = tensor_of({2}, {1, 2});
  const Tensor loss = sum(w * w) + sum(other * 5.0);
  w.mutable_value() = array_of({2}, {10, 20});
  CHECK(message_of([&] { loss.backward(); }) != "");
  CHECK(message_of([&] { loss.backward(); }) != "");  // still rejected
  CHECK_FALSE(w.has_grad());
  CHECK_FALSE(other.has_grad());
  sum(w * w).backward();
  CHECK(difference(w.grad(), array_of({2}, {20, 40})) == "");
}

TEST_CASE("a change before the forward pass is no error", "[autograd][changed_value]") {
  const Tensor w = weight();
  for (const double v : {1.0, 2.0, 3.0}) {
    w.mutable_value().fill(static_cast<Real>(v));
    w.clear_grad();
    sum(w * w).backward();
    CHECK(difference(w.grad(), filled({2}, static_cast<Real>(2 * v))) == "");
  }
}

TEST_CASE("a change after backward is no error", "[autograd][changed_value]") {
  const Tensor w = weight();
  const Tensor loss = sum(w * w);
  loss.backward();
  w.mutable_value() += 1;
  CHECK(difference(w.grad(), array_of({2}, {6, -2})) == "");
}

TEST_CASE("with keep_graph, a second backward after a change is rejected",
          "[autograd][changed_value]") {
  const Tensor w = weight();
  const Tensor loss = sum(w * w);
  BackwardOptions keep;
  keep.keep_graph = true;
  backward(loss, keep);
  backward(loss, keep);
  CHECK(difference(w.grad(), array_of({2}, {12, -4})) == "");
  w.mutable_value() += 1;
  CHECK(message_of([&] { backward(loss, keep); }).rfind("backward: Multiply made at ", 0) == 0);
  CHECK(difference(w.grad(), array_of({2}, {12, -4})) == "");
}

TEST_CASE("changing a detached copy, or the tensor below one, does not change the other",
          "[autograd][changed_value]") {
  const Tensor w = weight(), copy = detach(w);
  const Tensor loss = sum(w * w), other = sum(w * copy);
  copy.mutable_value().fill(100);
  loss.backward();
  CHECK(difference(w.grad(), array_of({2}, {6, -2})) == "");
  CHECK(message_of([&] { other.backward(); }) != "");  // it used the copy

  const Tensor constant = detach(w);
  const Tensor product = sum(constant * weight());
  w.mutable_value().fill(100);
  CHECK(message_of([&] { product.backward(); }) == "");
}

TEST_CASE("a change of a tensor outside the graph is no error", "[autograd][changed_value]") {
  const Tensor w = weight(), unused = weight();
  const Tensor loss = sum(w * w);
  unused.mutable_value() += 1;
  CHECK(message_of([&] { loss.backward(); }) == "");
}

TEST_CASE("every way to change a value is noticed", "[autograd][changed_value]") {
  const heed_test::ScratchFolder folder;
  Parameters parameters;
  const Tensor w = parameters.add("w", ones({3, 2}));
  save(folder / "w.safetensors", parameters);
  const SafetensorsFile file = read_safetensors(folder / "w.safetensors");
  Generator generator(1);
  optim::Sgd sgd({w});
  optim::AdamW adamw({w});
  sum(w).backward();  // so that the optimizers have a gradient
  const std::vector<std::function<void()>> changes{
      [&] { w.mutable_value(); },
      [&] { sgd.step(); },
      [&] { adamw.step(); },
      [&] { load(folder / "w.safetensors", parameters); },
      [&] { load(file, parameters); },
      [&] {
        set_values(parameters, {ones({3, 2})});
      },
      [&] { nn::init::uniform_(w, generator); },
      [&] { nn::init::normal_(w, generator); },
      [&] { nn::init::xavier_uniform_(w, generator); },
      [&] { nn::init::kaiming_uniform_(w, generator); },
  };
  for (const auto& change : changes) {
    const Tensor loss = sum(w * w);
    change();
    const std::string message = message_of([&] { backward(loss); });
    CHECK(message.find(" used w (3, 2), which was changed at " + std::string(__FILE__) + ":") !=
          message.npos);
  }
}

TEST_CASE("one optimizer step between two backward passes of one forward pass is rejected",
          "[autograd][changed_value]") {
  const Tensor w = weight();
  optim::Sgd sgd({w});
  const Tensor y = w * w;
  const Tensor first = sum(y), second = mean(y);
  BackwardOptions keep;
  keep.keep_graph = true;
  backward(first, keep);
  sgd.step();
  CHECK(message_of([&] { backward(second); }) != "");
}

TEST_CASE("a step that changes no value does not count as a change", "[autograd][changed_value]") {
  const Tensor w = weight(), without_gradient = weight();
  optim::Sgd sgd({w, without_gradient});
  const Tensor loss = sum(without_gradient * without_gradient);
  sum(w).backward();
  sgd.step();  // without_gradient has no gradient yet
  CHECK(message_of([&] { loss.backward(); }) == "");
}

TEST_CASE("the result of a recorded operation cannot be written", "[autograd][changed_value]") {
  const Tensor w = weight();
  const int made = __LINE__ + 1;
  const Tensor y = softmax(w, 0);
  const int called = __LINE__ + 1;
  const std::string message = full_message_of([&] { y.mutable_value() += 1; });
  CHECK(message == "mutable_value: x (2) is the result of Softmax made at " + place(made) +
                       "; change a detached copy, at " + place(called));
  Generator generator(1);
  CHECK(message_of([&] { nn::init::uniform_(y, generator); }).rfind("mutable_value: ", 0) == 0);
  CHECK(message_of([&] { detach(y).mutable_value() += 1; }) == "");
}

TEST_CASE("the result of an operation without a graph can be written",
          "[autograd][changed_value]") {
  const Tensor constant = tensor_of({2}, {1, 2});
  const NoGrad no_grad;
  const Tensor y = constant * 2.0;
  y.mutable_value() += 1;
  CHECK(difference(y, array_of({2}, {3, 5})) == "");
}

TEST_CASE("a value that has lost its shape is an error in the next operation",
          "[autograd][changed_value]") {
  const Tensor w = Tensor(ones({3}), true).set_name("w"), x(ones({3}));
  w.mutable_value() = 0;
  const int line = __LINE__ - 1;
  const std::string expected =
      ": w (3) has the shape () since mutable_value() at tests/autograd/changed_value_test.cpp:" +
      std::to_string(line) + "; assign an array of its shape, or call fill";
  CHECK(message_of([&] { w + x; }) == "Add" + expected);
  CHECK(message_of([&] { w.mutable_value(); }) == "mutable_value" + expected);
}
