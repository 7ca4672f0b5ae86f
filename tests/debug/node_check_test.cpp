// node_check_test.cpp: tests of HEED_TRACE=check, which compares the gradients that each node
// returns with central differences of its forward.

#include "debug/node_check.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "catch.hpp"
#include "heed/array/map.hpp"
#include "heed/array/random.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/autograd/record.hpp"
#include "heed/debug/gradcheck.hpp"
#include "heed/debug/trace.hpp"
#include "heed/extra/comparison.hpp"
#include "heed/extra/elementwise.hpp"
#include "heed/extra/indexing.hpp"
#include "heed/extra/losses.hpp"
#include "heed/extra/reductions.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/einsum.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/rotary.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

struct Checking {
  Checking() { set_trace("check"); }
  ~Checking() { set_trace(""); }
};

Tensor random(const Shape& shape, double low, double high, std::uint64_t seed) {
  return Tensor(Generator(seed).uniform(shape, low, high), true);
}

// A node like `of`, except that the gradient of input `wrong` has the wrong sign.
struct WrongSign final : Node {
  WrongSign(std::shared_ptr<Node> correct, std::size_t input)
      : Node(correct->value), of(std::move(correct)), wrong(input) {}
  Array forward_of(const ArrayList& x) const override { return of->forward_of(x); }
  std::vector<Array> backward_of(const Array& dy) const override {
    std::vector<Array> grads = of->backward_of(dy);
    grads[wrong] = map([](auto d) { return -d; }, grads[wrong]);
    return grads;
  }
  std::shared_ptr<Node> of;
  std::size_t wrong;
};

Tensor with_wrong_sign(const Tensor& y, std::size_t input) {
  return finish(std::make_shared<WrongSign>(y.node(), input), y.op(), y.location(),
                y.node()->inputs);
}

void pass(const Tensor& y) {
  backward(y, Generator(7).uniform(y.shape(), -1, 1), {/*keep_graph=*/true});
}

// At least one result of each operation.
std::vector<Tensor> results() {
  const Tensor x = random({3, 4}, 0.2, 1, 1), z = random({3, 4}, -1, -0.2, 2);
  const Tensor w = random({4, 4}, -1, 1, 3), v = random({4}, -1, 1, 4), c = random({4}, -1, 1, 5);
  const Tensor q = random({2, 3, 4}, -1, 1, 6), k = random({2, 3, 4}, -1, 1, 8);
  const Indices tokens = {{0, 2, 1}, {2, 0, 0}}, classes = {3, 0, 1};
  const Indices columns = indices_of({3, 1}, {0, 3, 3});
  AttentionOptions causal;
  causal.causal = true;
  const Mask mask = {{false, true, false, false}};
  Generator generator(9);
  return {tanh(x),
          sigmoid(x),
          relu(x),
          gelu(x),
          gelu(x, Gelu::tanh),
          silu(x),
          x + z,
          x - v,
          x * v,
          x / z,
          -x,
          x + 1.0,
          x * 3.0,
          x / 3.0,
          power(x, 3),
          exp(x),
          log(x),
          sqrt(x),
          abs(z),
          clamp(x, 0.4, 0.8),
          scaled_dot_product_attention(q, k, q * 2.0, causal),
          einsum("ij,jk->ik", {x, w}),
          embedding(tokens, w),
          cross_entropy(x, classes),
          mse_loss(x, z),
          binary_cross_entropy_with_logits(z, x),
          huber_loss(x, z),
          masked_fill(x, mask, -INFINITY),
          softmax(masked_fill(x, mask, -INFINITY), -1),
          where(mask, x, z),
          tril(w),
          dropout(x, 0.5, generator),
          matmul(x, w),
          linear(x, w, v),
          layer_norm(x, {4}, v, c),
          rms_norm(x, {4}, v),
          cosine_similarity(x, z),
          sum(x, {0}),
          mean(x),
          max(x, {1}),
          variance(x, {1}),
          gather(x, 1, columns),
          rotary_embedding(q),
          reshape(x, {2, 6}),
          expand(v, {3, 4}),
          permute(q, {2, 0, 1}),
          slice(x, 1, 1, 3),
          concat({x, z}, 0),
          softmax(x, -1),
          log_softmax(x, -1),
          logsumexp(x, -1),
          maximum(x, z * -1.2),
          minimum(x, z * -1.2),
          prod(x, 1),
          cumsum(x, 1),
          norm(x, 3, {1}),
          stddev(x, {1}),
          index_select(x, 1, {0, 3, 3}),
          unbind(x, 0)[1],
          scatter(x, 1, columns, random({3, 1}, -1, 1, 10)),
          flip(x, {1}),
          pad(x, {1, -1}),
          pow(x, random({3, 4}, 1, 2, 11)),
          sin(x),
          cos(x),
          erf(x),
          softplus(x),
          leaky_relu(z),
          elu(z),
          kl_div(z, x)};
}

// y = 1000 x, a function whose backward forgets the factor at the last element of 100 x 100.
struct WrongCorner {
  static constexpr std::string_view name = "WrongCorner";
  Array forward(const Array& x) const {
    return map([](auto v) { return v * 1000; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array&) const {
    Array dx = map([](auto d) { return d * 1000; }, dy);
    dx.data()[dx.size() - 1] *= 2;
    return dx;
  }
};

// y = x^3 / 3, with a relative error in its gradient.
struct Cubed {
  static constexpr std::string_view name = "Cubed";
  Array forward(const Array& x) const {
    return map([](auto v) { return v * v * v / 3; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    return map([f = Real(1 + error)](auto d, auto v) { return f * d * v * v; }, dy, x);
  }
  double error;
};

// Adds the names of the operations that computed a node.
void add_operations(const Node& node, std::set<std::string>& names) {
  names.insert(std::string(node.op));
  for (const auto& input : node.inputs)
    if (input != nullptr) add_operations(*input, names);
}

// The names of the structs in src/ops and src/extra that have a name for messages.
std::vector<std::string> operations_of_sources() {
  std::vector<std::string> names;
  const std::regex name("static constexpr std::string_view name = \"(\\w+)\"");
  for (const char* folder : {HEED_SOURCE_DIR "/src/ops", HEED_SOURCE_DIR "/src/extra"})
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      std::ifstream in(file.path());
      const std::string text(std::istreambuf_iterator<char>(in), {});
      for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i)
        names.push_back((*i)[1]);
    }
  return names;
}

}  // namespace

TEST_CASE("the results that HEED_TRACE=check is tested with have every operation",
          "[debug][check]") {
  std::set<std::string> all;
  for (const Tensor& y : results()) add_operations(*y.node(), all);
  const std::vector<std::string> names = operations_of_sources();
  CHECK(names.size() >= 50);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(all.count(name) == 1);
  }
}

TEST_CASE("HEED_TRACE=check finds a gradient that is wrong by 2 %, in double by 1e-5",
          "[debug][check]") {
  const Checking checking;
  const double smallest = sizeof(Real) == sizeof(double) ? 1e-5 : 2e-2;
  for (const double low : {0.05, 0.5, 5.0}) {
    const Tensor x = random({3, 4}, low, 2 * low, 1);
    const auto cubed = [&](double error) {
      return record(Cubed{error}, SourceLocation::current(), x);
    };
    CHECK_NOTHROW(pass(cubed(0)));
    for (const double error : {smallest, -smallest})
      CHECK(message_of([&] { pass(cubed(error)); }).find("the gradient of Cubed (3, 4) made at") !=
            std::string::npos);
  }
}

TEST_CASE("HEED_TRACE=check accepts the backward of every operation", "[debug][check]") {
  const Checking checking;
  for (const Tensor& y : results()) {
    INFO(y);
    CHECK_NOTHROW(pass(y));
  }
}

TEST_CASE("HEED_TRACE=check names an operation whose gradient has a wrong sign", "[debug][check]") {
  const Checking checking;
  for (const Tensor& y : results())
    for (std::size_t k = 0; k < y.node()->inputs.size(); ++k) {
      const auto& input = y.node()->inputs[k];
      if (input == nullptr || !input->requires_grad) continue;
      INFO(y << "\ninput " << k);
      const std::string message = message_of([&] { pass(with_wrong_sign(y, k)); });
      CHECK(message.rfind("HEED_TRACE=check: the gradient of " + std::string(y.op()), 0) == 0);
      CHECK(message.find("is wrong: input " + std::to_string(k)) != message.npos);
    }
}

TEST_CASE("HEED_TRACE=check gives the worst element with both numbers", "[debug][check]") {
  const Checking checking;
  const Tensor x = tensor_of({2}, {1, 2}).set_name("x");
  const Tensor y = with_wrong_sign(x * x, 1).set_name("square");
  const std::string message = message_of([&] {
    backward(y, array_of({2}, {1, 10}), {/*keep_graph=*/true});
  });
  CHECK(message.find("the gradient of Multiply 'square' (2) made at " __FILE__) != message.npos);
  CHECK(message.find("is wrong: input 1, x (2): differs from central differences (2 elements "
                     "compared); worst at (1): backward -20, measured ") != message.npos);
}

TEST_CASE("HEED_TRACE=check compares the largest gradients of a large input", "[debug][check]") {
  const Checking checking;
  const Tensor x = random({100, 100}, -1, 1, 1);
  const Tensor y = record(WrongCorner{}, SourceLocation::current(), x);
  const std::string message = message_of([&] { backward(y, ones({100, 100})); });
  CHECK(message.find(
            "(64 of 10000 elements compared); worst at (99, 99): backward 2000, measured ") !=
        message.npos);
}

TEST_CASE("HEED_TRACE=check accepts any gradient between those on both sides of a kink",
          "[debug][check]") {
  const Checking checking;
  const Tensor x = tensor_of({3}, {0, -1, 1});
  CHECK_NOTHROW(pass(relu(x)));
  CHECK_NOTHROW(pass(abs(x)));
  CHECK_NOTHROW(pass(sqrt(tensor_of({2}, {1e-5, 1}))));  // a step of 0.01 would leave the domain
}

TEST_CASE("the check of an operation that is not finite says that nothing was compared",
          "[debug][check]") {
  const Checking checking;
  const Tensor x = tensor_of({2}, {-1, -2}).set_name("x"), y = log(x);
  CHECK_NOTHROW(pass(y));
  const std::string text = check_text(y.node().get());
  CHECK(text.rfind("not compared\ninput 0, x (2): nothing was compared, because Log is not finite "
                   "here",
                   0) == 0);
}

TEST_CASE("the check of an operation counts only the elements where it is finite",
          "[debug][check]") {
  const Tensor y = sqrt(tensor_of({3}, {0, 1, 4}).set_name("x"));
  const std::string text = check_text(y.node().get());
  CHECK(text.rfind("right\ninput 0, x (3): agrees with central differences (2 of 3 elements "
                   "compared); worst at (",
                   0) == 0);
}

TEST_CASE("the check of an operation allows for the rounding of large results", "[debug][check]") {
  const Checking checking;
  const double large = std::pow(static_cast<double>(std::numeric_limits<Real>::epsilon()), -0.75);
  CHECK_NOTHROW(pass(tensor_of({3}, {0.25, 0.5, 1}) + large));
}

TEST_CASE("in float, the check says how programs of any kind compute in double", "[debug][check]") {
  const Tensor y = log(tensor_of({1}, {1}));
  const std::string text = check_text(y.node().get());
  const bool in_float = sizeof(Real) == sizeof(float);
  CHECK((text.find("errors below 2 % may not be seen") != text.npos) == in_float);
  CHECK((text.find("./heed debug --double for lessons and exercises") != text.npos) == in_float);
  CHECK((text.find("heed::heed_double for other programs") != text.npos) == in_float);
}

TEST_CASE("gradcheck's leaves have the location of its call", "[debug][check]") {
  SourceLocation location;
  const int line = __LINE__ + 1;
  gradcheck(
      [&](const std::vector<Tensor>& x) {
        if (x[0].requires_grad()) location = x[0].location();
        return x[0] * 2.0;
      },
      {ones({2})});
  CHECK(str(location) == __FILE__ ":" + std::to_string(line));
}

TEST_CASE("the check of a node without elements finds nothing wrong", "[debug][node_check]") {
  const Checking checking;
  const Tensor x(zeros({0}), true);
  backward(sum(x * x));
  CHECK(x.grad().size() == 0);
}

namespace {

// y = w x^2, whose backward runs another forward and backward pass, as in gradient checkpointing.
// It adds to the gradient of w, which it captures.
struct Checkpointed {
  static constexpr std::string_view name = "Checkpointed";
  Array forward(const Array& x) const {
    const NoGrad no_grad;
    return (w * Tensor(x) * Tensor(x)).value();
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {
    const Tensor again(x, true);
    heed::backward(w * again * again, dy);
    return again.grad();
  }
  Tensor w;
};

}  // namespace

TEST_CASE("HEED_TRACE=check leaves the gradients that a backward in a backward adds to",
          "[debug][check]") {
  const Tensor w(array_of({2}, {2, 3}), true), x(array_of({2}, {5, 7}), true);
  const Checking checking;
  backward(record(Checkpointed{w}, SourceLocation::current(), x), ones({2}));
  CHECK((x.grad() == array_of({2}, {20, 42})));
  CHECK((w.grad() == array_of({2}, {25, 49})));
}
