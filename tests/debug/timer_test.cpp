// timer_test.cpp: tests of HEED_TRACE=time.

#include "heed/debug/timer.hpp"

#include <chrono>
#include <thread>

#include "catch.hpp"
#include "commands/child.hpp"
#include "heed/autograd/record.hpp"
#include "heed/debug/trace.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/adamw.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::ScratchFolder;

// Clears the times and measures until it is destroyed.
struct TimingGuard {
  TimingGuard() {
    clear_operation_times();
    set_trace("time");
  }
  ~TimingGuard() {
    set_trace("");
    clear_operation_times();
  }
};

OperationTime time_of(std::string_view name) {
  for (const OperationTime& o : operation_times())
    if (o.name == name) return o;
  return {};
}

// y = x, which takes 20 ms forward and 40 ms backward.
struct Slow {
  static constexpr std::string_view name = "Slow";
  static void wait(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
  Array forward(const Array& x) const { return wait(20), x; }
  Array backward(const Array& dy, const Array&, const Array&) const { return wait(40), dy; }
};

}  // namespace

TEST_CASE("each operation is counted forward, backward and without gradients", "[debug][timing]") {
  const TimingGuard guard;
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4});
  backward(sum(softmax(matmul(x, x), -1)));
  {
    const NoGrad no_grad;
    matmul(x, x);
  }
  CHECK(timed_passes() == 1);
  const OperationTime product = time_of("MatMul");
  CHECK(product.forward.calls == 1);
  CHECK(product.backward.calls == 1);
  CHECK(product.no_grad.calls == 1);
  CHECK(time_of("Softmax").forward.calls == 1);
  CHECK(time_of("Softmax").no_grad.calls == 0);
}

TEST_CASE("operation_times has the forward and backward time of each operation, the longest first",
          "[debug][timing]") {
  const TimingGuard guard;
  const Tensor x = tensor_of({2}, {1, 2});
  backward(sum(record(Slow{}, SourceLocation::current(), x)));
  const OperationTime slow = time_of("Slow");
  CHECK(slow.forward.seconds >= 0.020);
  CHECK(slow.backward.seconds >= 0.040);
  CHECK(slow.no_grad.seconds == 0);
  CHECK(operation_times().front().name == "Slow");
}

TEST_CASE("the time of the optimizer is measured too", "[debug][timing]") {
  const TimingGuard guard;
  const Tensor x = tensor_of({2}, {1, 2});
  optim::AdamW optimizer({x}, {});
  backward(sum(x));
  optimizer.step();
  CHECK(time_of("AdamW").forward.calls == 1);
}

TEST_CASE("without HEED_TRACE=time nothing is measured", "[debug][timing]") {
  clear_operation_times();
  const Tensor x = tensor_of({2}, {1, 2});
  backward(sum(x));
  CHECK(operation_times().empty());
  CHECK(timed_passes() == 0);
  CHECK(time_table().empty());
}

TEST_CASE("the percentages of the table add up to 100", "[debug][timing]") {
  const TimingGuard guard;
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4});
  for (int i = 0; i < 3; ++i) backward(sum(softmax(matmul(x, x), -1)));
  std::istringstream table(time_table());
  std::string line;
  std::getline(table, line);
  CHECK(line == "HEED_TRACE=time: 3 backward passes, milliseconds per pass");
  std::getline(table, line);
  double percent = 0, name_count = 0;
  while (std::getline(table, line) && line.find('%') != line.npos) {
    percent += std::stod(line.substr(line.find('%') - 7));
    ++name_count;
  }
  CHECK(name_count == 4);  // MatMul, Softmax, Sum and the leaf
  CHECK(std::abs(percent - 100) < 0.5);
  CHECK(line.rfind("sum of these", 0) == 0);
}

TEST_CASE("without a backward pass the table has the times without gradients", "[debug][timing]") {
  const TimingGuard guard;
  const NoGrad no_grad;
  const Tensor x = tensor_of({2, 2}, {1, 2, 3, 4});
  softmax(matmul(x, x), -1);
  const std::string table = time_table();
  CHECK(table.rfind("HEED_TRACE=time: total milliseconds, without a backward pass\n", 0) == 0);
  CHECK(table.find("\nMatMul ") != std::string::npos);
  CHECK(table.find("\nSoftmax ") != std::string::npos);
  CHECK(table.find("without gradients") == std::string::npos);
}

TEST_CASE("a program with HEED_TRACE=time prints the table to stderr when it ends",
          "[debug][timing]") {
  const ScratchFolder folder("timed");
  const heed_test::Finished lesson =
      heed_test::run({{HEED_BINARY_DIR "/lessons/06_backward_through_attention"},
                      folder.path,
                      "",
                      {{"PATH", "/nothing"}, {"HEED_TRACE", "time"}}});
  CHECK(lesson.code == 0);
  CHECK(lesson.err.rfind("HEED_TRACE=time: 64 backward passes, milliseconds per pass\n", 0) == 0);
  CHECK(lesson.err.find("\nSoftmax ") != std::string::npos);
}
