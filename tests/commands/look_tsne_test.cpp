// look_tsne_test.cpp: heed look --tsne: output, plots and errors.

#include <algorithm>
#include <regex>
#include <string>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "page/inflated.hpp"
#include "small_model.hpp"

using namespace heed_test;

namespace {

// A sandbox with a run in o/: a model with one layer and two heads, trained on in.txt.
struct MapSandbox : Sandbox {
  MapSandbox() { REQUIRE(heed(train_tiny).code == 0); }

  std::string shown(const Arguments& more) const {
    const Finished result =
        heed(Arguments{"look", "o", "--tsne", "--text", "the quay\ngave"} + more);
    INFO(result.err);
    CHECK(result.code == 0);
    CHECK(has(result.err, "heed: note: gnuplot is not installed"));
    return result.out;
  }
  // The error of `heed look`, which must be one line without other output.
  std::string rejected(const Arguments& more) const {
    const Finished result = heed(Arguments{"look", "o", "--tsne"} + more);
    CHECK(result.code == 2);
    CHECK(result.out == "");
    CHECK(result.err.find('\n') == result.err.size() - 1);
    return result.err.substr(0, result.err.size() - 1);
  }
};

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++count;
  return count;
}

}  // namespace

TEST_CASE("look --tsne maps the queries and keys of one head", "[commands][look]") {
  const MapSandbox sandbox;
  const std::string out = sandbox.shown({"--head", "1"});
  INFO(out);
  CHECK(has(out, "queries and keys of layer 0, head 1\n"));
  CHECK(has(out, "● query   ▲ key"));
  CHECK(has(out, " after 1,000 iterations, perplexity 8, seed 1337\n"));
  CHECK(has(out, "\n  0 t  "));
  CHECK(has(out, "\n 12 e  "));
  CHECK(has(out,
            "of 13 queries have the same nearest key by cosine similarity and in the t-SNE map"));
  const std::string table = out.substr(out.find("  query "), out.find("queries have"));
  const std::string count = out.substr(0, out.find(" of 13 queries"));
  const int same = std::stoi(count.substr(count.rfind('\n') + 1));
  CHECK(lines_with(table, " *\n") == static_cast<std::size_t>(13 - same));
  const std::regex similarity("\n +[0-9]+ [^ ]+ +[0-9]+ [^ ]+ +-?[01]\\.[0-9]{4}  ");
  CHECK(std::distance(std::sregex_iterator(table.begin(), table.end(), similarity), {}) == 13);
  CHECK(sandbox.has_file("o/tsne.gp"));
  const std::string csv = content(sandbox / "o/tsne.csv");
  CHECK(csv.rfind("x,y,group,label\n", 0) == 0);
  CHECK(lines_with(csv, "\n") == 1 + 2 * 13);
  CHECK(lines_with(csv, ",1,␣\n") == 1);
  CHECK(lines_with(csv, ",\\n\n") == 2);
  CHECK(!has(out, "…"));
}

TEST_CASE("a map is reproducible, and differs with another seed or head", "[commands][look]") {
  const MapSandbox sandbox;
  const std::string out = sandbox.shown({});
  CHECK(has(out, "layer 0, head 0\n"));
  CHECK(sandbox.shown({"--layer", "0", "--head", "0", "--seed", "1337"}) == out);
  CHECK(sandbox.shown({"--threads", "2"}) == out);
  CHECK(sandbox.shown({"--seed", "7"}) != out);
  CHECK(sandbox.shown({"--head", "1"}) != out);
  CHECK(has(sandbox.shown({"--iterations", "1", "--perplexity", "2.5"}),
            " after 1 iteration, perplexity 2.5, seed 1337\n"));
}

TEST_CASE("the perplexity is 10 for texts of 16 tokens or more", "[commands][look]") {
  const MapSandbox sandbox;
  Arguments longer = train_tiny + Arguments{"--replace"};
  *(std::find(longer.begin(), longer.end(), "--block-size") + 1) = "24";
  REQUIRE(sandbox.heed(longer).code == 0);
  const std::string text = "the quay took the rope.";
  for (const std::size_t length : {16u, 17u, 23u})
    CHECK(has(sandbox.heed({"look", "o", "--tsne", "--text", text.substr(0, length)}).out,
              ", perplexity 10, seed 1337\n"));
}

TEST_CASE("a map in a terminal has at most 100 columns", "[commands][look]") {
  if (!has_terminals()) return;
  const MapSandbox sandbox;
  const auto map = [&](std::size_t columns) {
    Call call = sandbox.call({"look", "o", "--tsne", "--text", "the quay\ngave"});
    call.terminal = columns;
    const std::string out = run(call).out;
    REQUIRE(has(out, "queries and keys of layer"));
    return out.substr(out.find("queries and keys of layer"));
  };
  CHECK(map(100) != map(80));
  CHECK(map(200) == map(100));
}

TEST_CASE("a head whose queries are zero has no map, and its page is written without one",
          "[commands][look]") {
  const Sandbox sandbox;
  heed::test::save_partly_zero_model(sandbox / "w.safetensors", ".query.");
  const Arguments look = {"look", "w.safetensors", "--text", "the cat"};
  const Finished map = sandbox.heed(look + Arguments{"--tsne"});
  CHECK(map.code == 1);
  CHECK(map.err ==
        "heed: error: layer 0, head 0: a query or a key is all zeros, so it has no cosine "
        "similarity; give another --layer or --head\n");
  REQUIRE(sandbox.heed(look + Arguments{"--page", "w.html"}).code == 0);
  CHECK(has(inflated(content(sandbox / "w.html"), "data"), "\"maps\":[{\"zero\":true}"));
}

TEST_CASE("with gnuplot, look --tsne draws tsne.svg with the title of the head",
          "[commands][look]") {
  const MapSandbox sandbox;
  Call call = sandbox.call({"look", "o", "--tsne", "--text", "the quay", "--head", "1"});
  call.environment.erase("PATH");  // that of the test, which may have gnuplot
  const Finished result = run(call);
  CHECK(result.code == 0);
  if (has(result.err, "gnuplot is not installed")) return;
  CHECK(result.err == "");
  CHECK(lines_with(content(sandbox / "o/tsne.svg"), ">queries and keys of layer 0, head 1<") == 1);
}

TEST_CASE("look --tsne writes its plots to --out", "[commands][look]") {
  const MapSandbox sandbox;
  sandbox.shown({"--out", "maps"});
  CHECK(sandbox.has_file("maps/tsne.csv"));
  CHECK(!sandbox.has_file("o/tsne.csv"));
}

TEST_CASE("look --tsne rejects a model with windows of one token", "[commands][look]") {
  const MapSandbox sandbox;
  REQUIRE(sandbox
              .heed({"train", "in.txt", "--replace", "--out", "o", "--steps", "2", "--layers", "1",
                     "--heads", "1", "--embed-dim", "8", "--block-size", "1"})
              .code == 0);
  CHECK(sandbox.rejected({}) ==
        "heed: error: --tsne: needs a model with a block size of 2 or more; that of o is 1");
}

TEST_CASE("invalid options and texts are rejected in one line", "[commands][look]") {
  const MapSandbox sandbox;
  CHECK(sandbox.rejected({"--text", "the", "--perplexity", "10", "--out", "maps"}) ==
        "heed: error: --perplexity 10: must be at most 5 for 3 queries and 3 keys; or give a "
        "longer --text");
  CHECK(sandbox.rejected({"--text", "t"}) ==
        "heed: error: --text: needs at least 2 tokens for --tsne, got 1");
  CHECK(sandbox.rejected({"--perplexity", "0.5"})
            .rfind("heed: error: --perplexity 0.5: must be", 0) == 0);
  CHECK(has(sandbox.rejected({"--iterations", "0"}), "--iterations 0: "));
  CHECK(has(sandbox.rejected({"--text", "the sea", "--head", "2"}), "--head 2: "));
  CHECK(!sandbox.has_file("o/tsne.csv"));
  CHECK(!sandbox.has_file("maps"));
}
