// graphviz_test.cpp: tests of quoting, of weighted graphs, of running dot, and of its absence.

#include "heed/draw/graphviz.hpp"

#include <cstdlib>

#include "catch.hpp"
#include "draw/plot_programs.hpp"
#include "heed/draw/plot_program.hpp"
#include "near.hpp"

using namespace heed;
using namespace heed::test;
using namespace heed_test;

TEST_CASE("graphviz_string escapes quotes, backslashes and entities", "[draw][graphviz]") {
  CHECK(graphviz_string("it's `date` %x") == "\"it's `date` %x\"");
  CHECK(graphviz_string("a \"b\"") == "\"a \\\"b\\\"\"");
  CHECK(graphviz_string("\\N") == "\"\\\\N\"");
  CHECK(graphviz_string("a\nb") == "\"a\\\\nb\"");
  CHECK(graphviz_string("&lt; & <") == "\"&amp;lt; &amp; <\"");
  CHECK(graphviz_string(" ") == "\"␣\"");
  CHECK(graphviz_string("") == "\"\"");
}

TEST_CASE("graph names and folders may contain spaces, quotes and Unicode", "[draw][graphviz]") {
  for (const std::string name : {"graph", "it's a \"graph\"", "Wörter 魚", "x<", "-d", "-"}) {
    const ScratchFolder folder("'" + std::string(name == "x<" ? "quoted" : "ü \"q\""));
    const std::string text = "digraph { x [label=" + graphviz_string("a&b<c \\N `d` %e") + "] }\n";
    const Plot plot = draw_with_graphviz(folder.path, name, text);
    if (not_installed(plot.message)) return;
    INFO(plot.message);
    CHECK(plot.ok);
    CHECK(plot.message == (folder / (name + ".svg")).string());
    CHECK(has(folder.read(name + ".svg"), ">a&amp;b&lt;c \\N `d` %e</text>"));
    CHECK(folder.read(name + ".dot") == text);
  }
}

TEST_CASE("a positive weight becomes an edge from column j to row i", "[draw][graphviz]") {
  const std::string text =
      weighted_graph(array_of({2, 2}, {0.25, 0.75, 0, 1e-3}), {"the", "\"cat\""});
  CHECK(has(text, "n0 [label=\"the\"]\n  n1 [label=\"\\\"cat\\\"\"]\n"));
  CHECK(has(text, "n0 -> n0 [penwidth=1.50, label=\" 0.25\"]\n"));
  CHECK(has(text, "n1 -> n0 [penwidth=4.50, label=\" 0.75\"]\n"));
  CHECK(has(text, "n1 -> n1 [penwidth=0.50, style=dashed]\n"));
  CHECK(!has(text, "n0 -> n1"));
}

TEST_CASE("an edge of a weight below 0.005 is dashed and has no label", "[draw][graphviz]") {
  const std::string text = weighted_graph(array_of({2, 2}, {0.0049, 0.0051, 1e-30, 0}), {"a", "b"});
  CHECK(has(text, "n0 -> n0 [penwidth=0.50, style=dashed]\n"));
  CHECK(has(text, "n1 -> n0 [penwidth=0.50, label=\" 0.01\"]\n"));
  CHECK(has(text, "n0 -> n1 [penwidth=0.50, style=dashed]\n"));
  CHECK(!has(text, "n1 -> n1"));
}

TEST_CASE("edges are at most six points wide, and weights that are not positive have none",
          "[draw][graphviz]") {
  const std::string text =
      weighted_graph(array_of({2, 2}, {100, -1, not_a_number, infinity}), {"a", "b"});
  CHECK(has(text, "n0 -> n0 [penwidth=6.00, label=\" 100.00\"]\n"));
  CHECK(has(text, "n1 -> n1 [penwidth=6.00, label=\" inf\"]\n"));
  CHECK(!has(text, "n1 -> n0"));
  CHECK(!has(text, "n0 -> n1"));
}

TEST_CASE("two nodes with the same name stay separate", "[draw][graphviz]") {
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

TEST_CASE("an error in a graph becomes a message of one line", "[draw][graphviz]") {
  const ScratchFolder folder;
  const Plot plot = draw_with_graphviz(folder.path, "bad", "nonsense (\n");
  if (not_installed(plot.message)) return;
  CHECK(!plot.ok);
  CHECK(has(plot.message, "Graphviz: "));
  CHECK(has(plot.message, "syntax error"));
  CHECK(!has(plot.message, "\n"));
}

TEST_CASE("an empty graph file is reported as not drawn", "[draw][graphviz]") {
  const ScratchFolder folder;
  const Plot plot = draw_with_graphviz(folder.path, "empty", "");
  if (not_installed(plot.message)) return;
  CHECK(!plot.ok);
  CHECK(plot.message == "Graphviz did not write " + (folder / "empty.svg").string());
}

TEST_CASE("without Graphviz the graph is written and the message says what to install",
          "[draw][graphviz]") {
  const ScratchFolder folder;
  const EmptyPath nothing_installed;
  const Plot plot = draw_with_graphviz(folder.path, "graph", "digraph {}\n");
  CHECK(!plot.ok);
  CHECK(plot.message ==
        "Graphviz is not installed, so nothing was drawn: install graphviz (apt, brew, conda)");
  CHECK(folder.read("graph.dot") == "digraph {}\n");
}

TEST_CASE("a graph's folder that is not writable becomes a message", "[draw][graphviz]") {
  const Plot plot = draw_with_graphviz("/nonexistent/folder", "graph", "digraph {}\n");
  CHECK(!plot.ok);
  CHECK(has(plot.message, "/nonexistent/folder/graph.dot: No such file or directory"));
}

TEST_CASE("weighted_graph rejects invalid matrices and numbers of names", "[draw][graphviz]") {
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
        "Graphviz: the name of a picture must be a file name without a folder, got 'a/b'");
  CHECK_THROWS_AS(draw_with_graphviz(".", "", ""), Error);
  CHECK(message_of([] { draw_with_graphviz(".", "| ls", ""); }) ==
        "Graphviz: the name of a picture must not begin with < | $ + or @, which gnuplot does not "
        "take for a file, got '| ls'");
}
