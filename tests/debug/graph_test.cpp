// graph_test.cpp: tests of graph_text and graph_dot.

#include "heed/debug/graph.hpp"

#include <string>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

const std::string file = __FILE__;

struct Small {
  Tensor loss;
  int line;
  std::string at(int offset) const { return file + ":" + std::to_string(line + offset) + "\n"; }
};

Small small_graph() {
  const int line = __LINE__;
  const Tensor x(ones({2, 3}));
  const Tensor w = Tensor(ones({3, 2}), true).set_name("weight");
  const Tensor scores = matmul(x, w).set_name("scores");
  return {sum(scores * scores), line};
}

}  // namespace

TEST_CASE("graph_text has a line for each node, inputs first", "[debug][graph]") {
  const Small small = small_graph();
  CHECK(graph_text(small.loss) == "#0  Leaf              (2, 3)  " + small.at(1) +
                                      "#1  Leaf      weight  (3, 2)  " + small.at(2) +
                                      "#2  MatMul    scores  (2, 2)  from #0 #1  " + small.at(3) +
                                      "#3  Multiply          (2, 2)  from #2 #2  " + small.at(4) +
                                      "#4  Sum               ()      from #3  " + small.at(4));
}

TEST_CASE("graph_dot has a box for each node and an arrow for each input", "[debug][graph]") {
  const Small small = small_graph();
  CHECK(graph_dot(small.loss) ==
        "digraph heed {\n"
        "  rankdir = BT;\n"
        "  node [shape = box, style = \"rounded,filled\", fillcolor = white, fontname = "
        "\"Helvetica\"];\n"
        "  n0 [label = \"Leaf (2, 3)\", fillcolor = gray90];\n"
        "  n1 [label = \"weight = Leaf (3, 2)\", fillcolor = gold];\n"
        "  n2 [label = \"scores = MatMul (2, 2)\"];\n"
        "  n0 -> n2;\n"
        "  n1 -> n2;\n"
        "  n3 [label = \"Multiply (2, 2)\"];\n"
        "  n2 -> n3;\n"
        "  n2 -> n3;\n"
        "  n4 [label = \"Sum ()\"];\n"
        "  n3 -> n4;\n"
        "}\n");
}

TEST_CASE("a leaf is a graph, and graph_dot escapes quotes in names", "[debug][graph]") {
  Tensor x(scalar(1));
  x.set_name("the \"x\" of a\\b");
  CHECK(graph_dot(x).find("n0 [label = \"the \\\"x\\\" of a\\\\b = Leaf ()\"") !=
        std::string::npos);
  CHECK(graph_text(x).substr(0, 9) == "#0  Leaf ");
}

TEST_CASE("graph_text leaves out undefined inputs", "[debug][graph]") {
  const Tensor x = tensor_of({1, 2}, {1, 2}), w = tensor_of({1, 2}, {3, 4});
  const std::string text = graph_text(linear(x, w));
  CHECK(text.find("#2  Linear    (1, 1)  from #0 #1  ") != std::string::npos);
}

TEST_CASE("graph_text aligns the numbers of ten and of eleven nodes", "[debug][graph]") {
  Tensor x(ones({1}), true);
  while (x.node()->depth < 9) x = x * x;  // ten nodes, #0 to #9
  CHECK(graph_text(x).substr(0, 9) == "#0  Leaf ");
  CHECK(graph_text(x * x).substr(0, 10) == "#0   Leaf ");
}

TEST_CASE("graph_text needs no deep stack for 100,000 nodes", "[debug][graph]") {
  Tensor y = tensor_of({}, {1});
  for (int i = 0; i < 100000; ++i) y = y + 1;
  const std::string text = graph_text(y);
  CHECK(std::count(text.begin(), text.end(), '\n') == 100001);
}

TEST_CASE("graphs show the control characters of names as text", "[debug][graph]") {
  Tensor x(ones({2}), true);
  x.set_name("a\x1b[31m\nb");
  for (const std::string& text : {graph_text(x * 2.0), graph_dot(x * 2.0)}) {
    CHECK(text.find('\x1b') == text.npos);
    CHECK(text.find("[31m\nb") == text.npos);
    CHECK(text.find("\\x1b[31m") != text.npos);
  }
}
