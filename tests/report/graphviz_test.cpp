// graphviz_test.cpp: any name, any label, no Graphviz at all: nothing fails, nothing is executed.

#include "heed/report/graphviz.hpp"

#include <cstdlib>

#include "catch.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"

using namespace heed;
using namespace heed::test;

namespace {}  // namespace

TEST_CASE("a string for Graphviz is drawn as it stands", "[report][graphviz]") {
  CHECK(graphviz_string("it's `date` %x") == "\"it's `date` %x\"");
  CHECK(graphviz_string("a \"b\"") == "\"a \\\"b\\\"\"");
  CHECK(graphviz_string("\\N") == "\"\\\\N\"");
  CHECK(graphviz_string("a\nb") == "\"a\\\\nb\"");
  CHECK(graphviz_string("&lt; & <") == "\"&amp;lt; &amp; <\"");
  CHECK(graphviz_string(" ") == "\"␣\"");
  CHECK(graphviz_string("") == "\"\"");
}

TEST_CASE("graphs are drawn under any name and in any folder", "[report][graphviz]") {
  for (const std::string name : {"graph", "it's a \"graph\"", "Wörter 魚", "<x", "-d", "-"}) {
    const ScratchFolder folder("'" + std::string(name == "<x" ? "quoted" : "ü \"q\""));
    const std::string text = "digraph { x [label=" + graphviz_string("a&b<c \\N `d` %e") + "] }\n";
    const Plot plot = draw_with_graphviz(folder.path, name, text);
    if (not_installed(plot.message)) return;
    INFO(plot.message);
    CHECK(plot.ok);
    CHECK(plot.message == folder / (name + ".svg"));
    CHECK(contains(folder.read(name + ".svg"), ">a&amp;b&lt;c \\N `d` %e</text>"));
    CHECK(folder.read(name + ".dot") == text);
  }
}

TEST_CASE("weights become arrows from the giver to the taker", "[report][graphviz]") {
  const std::string text =
      weighted_graph(array_of({2, 2}, {0.25, 0.75, 0, 1e-3}), {"the", "\"cat\""});
  CHECK(contains(text, "n0 [label=\"the\"]\n  n1 [label=\"\\\"cat\\\"\"]\n"));
  CHECK(contains(text, "n0 -> n0 [penwidth=1.50, label=\" 0.25\"]\n"));
  CHECK(contains(text, "n1 -> n0 [penwidth=4.50, label=\" 0.75\"]\n"));
  CHECK(contains(text, "n1 -> n1 [penwidth=0.50, label=\" 0.00\"]\n"));
  CHECK(!contains(text, "n0 -> n1"));
}

TEST_CASE("no arrow is wider than six points or drawn for less than nothing",
          "[report][graphviz]") {
  const std::string text =
      weighted_graph(array_of({2, 2}, {100, -1, not_a_number, infinity}), {"a", "b"});
  CHECK(contains(text, "n0 -> n0 [penwidth=6.00, label=\" 100.00\"]\n"));
  CHECK(contains(text, "n1 -> n1 [penwidth=6.00, label=\" inf\"]\n"));
  CHECK(!contains(text, "n1 -> n0"));
  CHECK(!contains(text, "n0 -> n1"));
}

TEST_CASE("two nodes of one name stay two", "[report][graphviz]") {
  const ScratchFolder folder;
  const std::string text = weighted_graph(ones({2, 2}), {"the", "the"});
  const Plot plot = draw_with_graphviz(folder.path, "twins", text);
  if (not_installed(plot.message)) return;
  INFO(plot.message);
  const std::string picture = folder.read("twins.svg");
  const std::size_t first = picture.find(">the</text>");
  CHECK(first != picture.npos);
  CHECK(picture.find(">the</text>", first + 1) != picture.npos);
}

TEST_CASE("an error in a graph is told in one line", "[report][graphviz]") {
  const ScratchFolder folder;
  const Plot plot = draw_with_graphviz(folder.path, "bad", "nonsense (\n");
  if (not_installed(plot.message)) return;
  CHECK(!plot.ok);
  CHECK(contains(plot.message, "Graphviz: "));
  CHECK(contains(plot.message, "syntax error"));
  CHECK(!contains(plot.message, "\n"));
}

TEST_CASE("a graph without anything in it is not said to be drawn", "[report][graphviz]") {
  const ScratchFolder folder;
  const Plot plot = draw_with_graphviz(folder.path, "empty", "");
  if (not_installed(plot.message)) return;
  CHECK(!plot.ok);
  CHECK(plot.message == "Graphviz did not write " + folder / "empty.svg");
}

TEST_CASE("without Graphviz the graph is written and one line says what to install",
          "[report][graphviz]") {
  const ScratchFolder folder;
  const EmptyPath nothing_installed;
  const Plot plot = draw_with_graphviz(folder.path, "graph", "digraph {}\n");
  CHECK(!plot.ok);
  CHECK(plot.message ==
        "Graphviz is not installed, so nothing was drawn: install graphviz (apt, brew, conda)");
  CHECK(folder.read("graph.dot") == "digraph {}\n");
}

TEST_CASE("a graph's folder that cannot be written to is told, not thrown", "[report][graphviz]") {
  const Plot plot = draw_with_graphviz("/nonexistent/folder", "graph", "digraph {}\n");
  CHECK(!plot.ok);
  CHECK(contains(plot.message, "/nonexistent/folder/graph.dot: cannot be written: "));
}

TEST_CASE("what cannot be a graph is refused", "[report][graphviz]") {
  CHECK(message_of([] {
          weighted_graph(ones({2, 3}), {"a", "b"});
        }) == "graph: needs a square matrix, got weights (2, 3)");
  CHECK(message_of([] {
          weighted_graph(ones({2, 2, 2}), {"a", "b"});
        }) == "graph: needs a square matrix, got weights (2, 2, 2)");
  CHECK(message_of([] {
          weighted_graph(ones({2, 2}), {"a"});
        }) == "graph: 1 names for weights (2, 2)");
  CHECK(message_of([] { draw_with_graphviz(".", "a/b", ""); }) ==
        "Graphviz: a picture's name is a file name without a folder, got 'a/b'");
  CHECK_THROWS_AS(draw_with_graphviz(".", "", ""), Error);
}
