// pictures_test.cpp: the pictures in docs, which README.md shows, are those that lessons draw now.

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "catch.hpp"
#include "commands/child.hpp"
#include "lessons/differences.hpp"
#include "readme.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed_test;

// Runs the lesson until it has drawn the picture, and returns the SVG file; "" if gnuplot or
// Graphviz is not installed. On a terminal a lesson prints each line at once.
std::string drawn(const std::string& lesson, const std::string& picture) {
  const ScratchFolder folder;
  Call call{{HEED_BINARY_DIR "/lessons/" + lesson}, folder.path};
  call.terminal = 80;
  Child child(call);
  const std::string file = "runs/lessons/" + lesson + "/" + picture + ".svg";
  child.read_until("picture: " + file);
  child.kill(SIGKILL);
  if (!has(child.finish().out, " is not installed")) return folder.read(file);
  WARN("skipped: gnuplot or Graphviz is not installed");
  return "";
}

}  // namespace

TEST_CASE("the README's pictures that need no training have the texts that lessons draw now",
          "[lessons][lessons_in_full][.]") {
  if (!has_terminals()) return;
  struct Picture {
    std::string file, lesson, name;
  };
  for (const Picture& picture :
       {Picture{"docs/feast_graph.svg", "03_graph_attention", "feast_graph"},
        Picture{"docs/data_flow.svg", "04_query_key_value", "data_flow"},
        Picture{"docs/bank_weights.svg", "04_query_key_value", "bank"},
        Picture{"docs/encoder_decoder.svg", "20_encoder_decoder", "architecture"}}) {
    const std::string svg = drawn(picture.lesson, picture.name);
    if (svg.empty()) return;
    INFO(picture.file);
    CHECK(has(readme(), "(" + picture.file + ")"));
    const std::string texts = texts_of_picture(svg, false);
    CHECK(std::count(texts.begin(), texts.end(), '\n') > 15);
    CHECK(texts_of_picture(content(project / picture.file), false) == texts);
  }
}
