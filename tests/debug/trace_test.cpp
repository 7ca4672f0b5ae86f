// trace_test.cpp: tests of HEED_TRACE=backward, nan and provenance.

#include "heed/debug/trace.hpp"

#include "catch.hpp"
#include "commands/child.hpp"
#include "heed/autograd/record.hpp"
#include "heed/debug/provenance.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::ScratchFolder;

using Lines = std::vector<std::string>;

// Sets these trace options until it is destroyed, and stores the trace lines.
struct Tracing {
  explicit Tracing(const std::string& options) {
    set_trace_output([this](const std::string& line) { lines.push_back(line); });
    set_trace(options);
  }
  ~Tracing() {
    set_trace("");
    set_trace_output(nullptr);
  }
  Lines lines;
};

std::string location(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

// The lines of the nodes, without the two header lines above them.
Lines node_lines(const Lines& lines) {
  return lines.size() < 2 ? Lines{} : Lines(lines.begin() + 2, lines.end());
}

// The words of a line, separated by single spaces.
std::string squeezed(const std::string& line) {
  std::istringstream in(line);
  std::string words;
  for (std::string word; in >> word;) words += (words.empty() ? "" : " ") + word;
  return words;
}

// y = x, with a gradient whose last element is `bad`.
struct BadGradient {
  static constexpr std::string_view name = "BadGradient";
  Array forward(const Array& x) const { return x; }
  Array backward(Array dy, const Array&, const Array&) const {
    dy.data()[dy.size() - 1] = bad;
    return dy;
  }
  Real bad;
};

// The error that `call` throws under HEED_TRACE=nan, with "file" for the path of this file.
template <class Call>
std::string nan_error(const Call& call) {
  const Tracing tracing("nan");
  std::string text = message_of(call);
  for (std::size_t at; (at = text.find(__FILE__)) != text.npos;)
    text.replace(at, std::string(__FILE__).size(), "file");
  return text;
}

std::string at(int line) { return "file:" + std::to_string(line); }

// Runs a program from the build folder with this value of HEED_TRACE.
heed_test::Finished run_with(const std::string& trace, const ScratchFolder& folder,
                             const std::string& program, heed_test::Arguments arguments = {}) {
  arguments.insert(arguments.begin(), HEED_BINARY_DIR "/" + program);
  return heed_test::run(
      {arguments, folder.path, "", {{"PATH", "/nothing"}, {"HEED_TRACE", trace}}});
}

}  // namespace

TEST_CASE("a backward pass writes a line for each node, the output first", "[debug][trace]") {
  Tracing tracing("backward");
  const Tensor x = tensor_of({2}, {3, 4}).set_name("x");
  const int line = __LINE__ + 1;
  const Tensor square = (x * x).set_name("square");
  const Tensor loss = sum(square);
  backward(loss);
  REQUIRE(tracing.lines.size() == 5);
  CHECK(tracing.lines[0] == "backward from Sum () made at " + location(line + 1) +
                                ": 3 nodes, with the norms of their gradients");
  const Lines nodes = node_lines(tracing.lines);
  CHECK(squeezed(nodes[0]) == "#2 Sum () 1 #1 square (2) 1.414 " + location(line + 1));
  CHECK(squeezed(nodes[1]) ==
        "#1 Multiply square (2) 1.414 #0 x (2) 5, #0 x (2) 5 " + location(line));
  CHECK(squeezed(nodes[2]) == "#0 Leaf x (2) 10 " + str(x.location()));
}

TEST_CASE("the columns of a traced pass are aligned with their titles", "[debug][trace]") {
  Tracing tracing("backward");
  const Tensor x = Tensor(random_array({3, 40}, 1), true).set_name("Schl\u00fcssel");
  const Tensor w = Tensor(random_array({40, 1000}, 2), true).set_name("w");
  backward(sum(tanh(matmul(x, w) * 1e-7)));
  const std::string title = tracing.lines.at(1);
  const auto column = [](const std::string& line, std::size_t column_at) {  // in characters
    std::size_t byte = 0;
    for (std::size_t i = 0; i < column_at; ++byte)
      if ((static_cast<unsigned char>(line[byte + 1]) >> 6) != 2) ++i;
    return line.substr(byte);
  };
  REQUIRE(tracing.lines.size() == 8);
  for (const std::string& line : node_lines(tracing.lines)) {
    INFO(title << '\n' << line);
    CHECK(column(line, title.find("made at")).find(line.substr(line.rfind(' ') + 1)) == 0);
    CHECK(column(line, title.find("shape"))[0] == '(');
    CHECK(column(line, title.find("gradient") + 7)[0] != ' ');
    CHECK(column(line, title.find("gradient") + 8)[0] == ' ');
    CHECK((column(line, title.find("passes to"))[0] == '#' || line.find("Leaf") != line.npos));
  }
}

TEST_CASE("when a traced pass throws, the line of the current node is written", "[debug][trace]") {
  Tracing tracing("backward,nan");
  const Tensor x = tensor_of({2}, {1, 2}).set_name("x");
  const Tensor y = record(BadGradient{Real(infinity)}, SourceLocation::current(), x);
  CHECK_THROWS_AS(backward(sum(y)), Error);
  const Lines nodes = node_lines(tracing.lines);
  REQUIRE(nodes.size() == 2);
  CHECK(squeezed(nodes[1]) == "#1 BadGradient (2) 1.414 #0 x (2) inf " + str(y.location()));
  backward(sum(x));  // the next pass has only its own lines
  CHECK(node_lines(Lines(tracing.lines.begin() + 4, tracing.lines.end())).size() == 2);
}

TEST_CASE("a trace changes no gradient and keeps no node alive", "[debug][trace]") {
  const Array start = random_array({3, 4}, 5);
  const auto f = [](const std::vector<Tensor>& in) {
    return sum(softmax(matmul(in[0], transpose(in[0], 0, 1)), -1) * 3);
  };
  const Array untraced = gradients(f, {start}, scalar(1))[0];
  const std::size_t alive = live_nodes();
  Tracing tracing("backward,nan,provenance");
  CHECK(same_bits(gradients(f, {start}, scalar(1))[0], untraced));
  CHECK(live_nodes() == alive);
  CHECK(tracing.lines.size() == 2 + 6);
}

TEST_CASE("without options nothing is written, recorded or thrown", "[debug][trace]") {
  Tracing tracing("");
  const Tensor x = tensor_of({2}, {0, 1});
  const Tensor y = log(x) * 0;
  backward(sum(y));
  CHECK(tracing.lines.empty());
  CHECK(contributions(x).empty());
  CHECK(std::isnan(y.value().data()[0]));
}

TEST_CASE("the error of the first infinity contains its operation, line and inputs",
          "[debug][trace]") {
  const Tensor x = tensor_of({2, 3}, {1, 2, 3, 4, 5, 0}).set_name("x"),
               constant(array_of({1}, {0}));
  CHECK(nan_error([&] {
          log(In(x, {"a.cpp", 5}));
        }) ==
        "HEED_TRACE=nan: Log (2, 3) made at a.cpp:5 has -inf at (1, 2); its inputs: x (2, 3); "
        "all finite");
  const int line = __LINE__ + 1;
  const std::string message = nan_error([&] { x / constant; });
  CHECK(message == "HEED_TRACE=nan: Divide (2, 3) made at " + at(line) +
                       " has inf at (0, 0); its inputs: x (2, 3); "
                       "Leaf (1); all finite");
}

TEST_CASE("the error of a NaN contains the input that already contained it", "[debug][trace]") {
  const Tensor good = tensor_of({2}, {1, 2}).set_name("amounts");
  const Tensor bad =
      Tensor(array_of({2}, {1, not_a_number}), true, {"a.cpp", 7}).set_name("prices");
  const int line = __LINE__ + 1;
  const std::string message = nan_error([&] { good* bad; });
  CHECK(message ==
        "HEED_TRACE=nan: Multiply (2) made at " + at(line) +
            " has nan at (1); its inputs: amounts (2); prices (2) with nan at (1), made at "
            "a.cpp:7");
}

TEST_CASE("values are also checked without a graph, and in operations on lists", "[debug][trace]") {
  const NoGrad no_grad;
  const Tensor bad = tensor_of({2}, {not_a_number, 1}).set_name("bad");
  CHECK(nan_error([&] { exp(bad); }).find("bad (2) with nan at (0)") != std::string::npos);
  CHECK(nan_error([&] {
          concat({tensor_of({2}, {1, 2}), bad}, 0);
        }).find("has nan at (2); its inputs:") != std::string::npos);
}

TEST_CASE("minus infinity is allowed in masked scores, plus infinity is not", "[debug][trace]") {
  const Tensor scores = Tensor(random_array({3, 3}, 1), true).set_name("scores");
  const Tensor mask(array_of({1, 3}, {0, -infinity, -infinity}));  // added to scores
  const auto run_backward = [&](const Tensor& masked) {
    const Tensor logs = masked_fill(log_softmax(masked, -1), future_mask(3), 0);
    backward(sum((softmax(masked, -1) + logs) * scores));
  };
  CHECK(nan_error([&] { run_backward(masked_fill(scores, future_mask(3), -infinity)); }) == "");
  CHECK(nan_error([&] { run_backward(masked_fill(scores, future_mask(3), -infinity) / 2); }) == "");
  CHECK(nan_error([&] { softmax(scores + mask, -1); }) == "");
  CHECK(nan_error([&] { masked_fill(scores, future_mask(3), infinity); }) != "");
  const std::string negated = nan_error([&] {
    masked_fill(In(scores, {"a.cpp", 1}), future_mask(3), -infinity) * -1;
  });
  CHECK(negated.find(" has inf at (0, 1); its inputs: MaskedFill (3, 3) with -inf at (0, 1), made "
                     "at a.cpp:1") != std::string::npos);
}

TEST_CASE("the error of a gradient that is not finite contains its operation and the input",
          "[debug][trace]") {
  const Tensor x = tensor_of({3}, {1, 4, 0}).set_name("x");
  const Tensor root = sqrt(In(x, {"a.cpp", 8})).set_name("root");
  CHECK(
      nan_error([&] { backward(root, ones({3})); }) ==
      "HEED_TRACE=nan: Sqrt 'root' (3) made at a.cpp:8 has a finite gradient and passes x (3) one "
      "with inf at (2); its inputs: x (3); all finite");
  CHECK_FALSE(x.has_grad());
  for (const double bad : {not_a_number, infinity, -infinity})
    CHECK(nan_error([&] {
            backward(sum(record(BadGradient{static_cast<Real>(bad)}, {"a.cpp", 9}, x)));
          }).find("passes x (3) one with ") != std::string::npos);
}

TEST_CASE("the error of an overflow in a sum of gradients contains the node", "[debug][trace]") {
  const double max_value = static_cast<double>(std::numeric_limits<Real>::max());
  const Tensor x(array_of({1}, {1}), true, {"a.cpp", 1});
  const int line = __LINE__ + 1;
  const Tensor y = x * 1;
  CHECK(nan_error([&] { backward(y + y, filled({1}, static_cast<Real>(max_value))); }) ==
        "HEED_TRACE=nan: Scale (1) made at " + at(line) +
            " has a gradient with inf at (0), the sum of its contributions");
  CHECK(nan_error([&] { backward(x, filled({1}, static_cast<Real>(not_a_number))); }) ==
        "HEED_TRACE=nan: Leaf (1) made at a.cpp:1 has a gradient with nan at (0), as given to "
        "backward");
}

TEST_CASE("with HEED_TRACE=provenance every backward pass records contributions",
          "[debug][trace]") {
  const Tensor x = tensor_of({2}, {3, 4});
  const Tracing tracing("provenance");
  backward(sum(x * 2));
  REQUIRE(contributions(x).size() == 1);
  CHECK(contributions(x)[0].op == "Scale");
}

TEST_CASE("a pass with a Provenance records each term once, also with HEED_TRACE=provenance",
          "[debug][trace]") {
  const Tensor x = tensor_of({2}, {3, 4});
  const Tracing tracing("provenance");
  Provenance provenance;
  BackwardOptions options;
  options.observer = &provenance;
  backward(sum(x * 2), options);
  CHECK(contributions(x).size() == 1);
}

TEST_CASE("set_trace throws for an unknown option and changes nothing", "[debug][trace]") {
  const Tracing tracing("nan");
  CHECK(message_of([] { set_trace("backward,bakward"); }) ==
        "HEED_TRACE: 'bakward' is none of its options: backward, nan, provenance, time, check");
  CHECK(message_of([] { set_trace("NAN\nnan"); }) ==
        "HEED_TRACE: 'NAN\\nnan' is none of its options: backward, nan, provenance, time, check");
  CHECK(trace_enabled(TraceOption::nan));
  CHECK_FALSE(trace_enabled(TraceOption::backward));
}

TEST_CASE("options may be surrounded by spaces and extra commas", "[debug][trace]") {
  const Tracing tracing(" nan ,,provenance, ");
  CHECK(trace_enabled(TraceOption::nan));
  CHECK(trace_enabled(TraceOption::provenance));
  CHECK_FALSE(trace_enabled(TraceOption::backward));
}

TEST_CASE("a traced lesson writes the trace to stderr and its usual output to stdout",
          "[debug][trace]") {
  const ScratchFolder folder("traced");
  const std::string lesson = "lessons/06_backward_through_attention";
  const heed_test::Finished plain = run_with("", folder, lesson);
  const heed_test::Finished traced = run_with("backward,nan", folder, lesson);
  CHECK(traced.code == 0);
  CHECK(traced.out == plain.out);
  CHECK(plain.err == "");
  std::istringstream in(traced.err);
  std::map<std::string, int> ops;
  for (std::string line; std::getline(in, line);) {
    const std::string words = squeezed(line);
    if (words[0] == '#') ++ops[words.substr(words.find(' ') + 1, 6)];
    if (words.find("MatMul O (3, 4) 1.006 ") != words.npos) ++ops["first"];
  }
  // Once for backward, and in the first step of each of six descents: three of one step, three
  // of 20.
  CHECK(ops["first"] == 1 + 6);
  CHECK(ops["Softma"] == 1 + 3 * 1 + 3 * 20);
  CHECK(ops["MatMul"] == (1 + 3 * 1 + 3 * 20) * 5);
}

TEST_CASE("for an unknown option heed has exit code 2, a lesson 1", "[debug][trace]") {
  const ScratchFolder folder("unknown option");
  const std::string expected =
      "heed: error: HEED_TRACE: 'bakward' is none of its options: backward, nan, provenance, "
      "time, check\n";
  const heed_test::Finished app = run_with("nan,bakward", folder, "heed", {"train"});
  CHECK(app.code == 2);
  CHECK(app.err == expected);
  const heed_test::Finished lesson =
      run_with("bakward", folder, "lessons/06_backward_through_attention");
  CHECK(lesson.code == 1);
  CHECK(lesson.err.rfind(expected.substr(0, expected.size() - 1) + ", at lessons/", 0) == 0);
}
