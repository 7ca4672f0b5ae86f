// look_page_test.cpp: heed look --page: its data, its size, and the models of --keep-history.

#include <cmath>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"
#include "page/inflated.hpp"
#include "small_model.hpp"

using namespace heed_test;

namespace {

using Json = nlohmann::json;

Json part(const std::string& page, const std::string& id) {
  return Json::parse(heed_test::inflated(page, id));
}

struct PageSandbox : Sandbox {
  explicit PageSandbox(const Arguments& more = {}) { REQUIRE(heed(train_tiny + more).code == 0); }

  std::string page(const Arguments& more = {}) const {
    const Finished done = heed(Arguments{"look", "o", "--page", "p/a b.html"} + more);
    INFO(done.err);
    REQUIRE(done.code == 0);
    const std::string html = content(*this / "p/a b.html");
    CHECK(has(done.out, "page   p/a b.html: " + heed::counted(html.size(), "byte") + "\n"));
    return html;
  }
};

}  // namespace

TEST_CASE("look --page writes weights, vectors, gradients, predictions and maps of all heads",
          "[commands][look][page]") {
  const PageSandbox sandbox;
  const std::string html = sandbox.page();
  const Json data = part(html, "data"), gradients = part(html, "gradients");
  CHECK(data["model"]["length"] == 16);
  CHECK(data["tokens"].size() == 16);
  CHECK(data["weights"].size() == 2);
  CHECK(data["weights"][0].get<std::string>().size() == (16 * 17 / 2 * 2 + 2) / 3 * 4);
  for (const char* of_head : {"vectors", "maps"})
    for (const Json& head : data[of_head]) CHECK(head.is_object());
  CHECK(data["lens"]["tokens"].size() == 2 * 16 * 5);
  CHECK(data["history"]["models"].empty());
  REQUIRE(gradients.size() == 17);  // the mean, then the last position to the first
  CHECK(gradients[0]["position"].is_null());
  CHECK(gradients[1]["position"] == 15);
  CHECK(gradients[1]["known"] == false);
  CHECK(gradients[16]["rows"] == 1);
  double sum = 0;  // of the losses of all predictions whose token the text has
  for (std::size_t i = 2; i < gradients.size(); ++i) sum += gradients[i]["loss"].get<double>();
  CHECK(std::abs(gradients[0]["loss"].get<double>() - sum / 15) < 2e-4);
  CHECK_FALSE(sandbox.has_file("o/look.csv"));
}

TEST_CASE("the page has the models that train --keep-history keeps", "[commands][look][page]") {
  const PageSandbox sandbox({"--keep-history", "--eval-every", "10"});
  for (const char* name : {"step-0", "step-10", "step-20"})
    CHECK(sandbox.has_file("o/history/" + std::string(name) + ".safetensors"));
  const Json history = part(sandbox.page(), "data")["history"];
  REQUIRE(history["models"].size() == 3);
  CHECK(history["models"][1]["step"] == 10);
  CHECK(history["models"][0]["weights"] != history["models"][2]["weights"]);
  CHECK(history["models"][2]["weights"] == part(sandbox.page(), "data")["weights"]);
  CHECK(history["validation"][0] == Json({10, 20}));

  // A new run in the same folder removes the models of the old one.
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--replace"}).code == 0);
  CHECK_FALSE(sandbox.has_file("o/history/step-10.safetensors"));
  CHECK(part(sandbox.page(), "data")["history"]["models"].empty());
}

TEST_CASE("look --page of a bidirectional model of words with odd names",
          "[commands][look][page]") {
  const Sandbox sandbox;
  const std::string long_word(10000, 'x');
  const heed::Vocabulary vocabulary =
      heed::Vocabulary::from_words("[MASK] </script> \u202e\"' " + long_word);
  using namespace heed::test;
  const SmallModel model(bidirectional(small_config(vocabulary.size(), {8, 8})), 3);
  heed::save_model(sandbox / "w.safetensors", model.parameters, model.config, vocabulary);
  const Finished done = sandbox.heed({"look", "w.safetensors", "--page", "w.html", "--text",
                                      "</script> [MASK] \u202e\"' " + long_word});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const std::string html = content(sandbox / "w.html");
  const Json data = part(html, "data");
  CHECK(data["texts"][0] == "</script>");
  CHECK(data["texts"][2] == "\\u202e\"'");
  CHECK(data["texts"][3] == long_word);
  CHECK(data["weights"][0].get<std::string>().size() == (4 * 4 * 2 + 2) / 3 * 4);
  CHECK(part(html, "gradients").size() == 4);  // no mean: the model does not predict the next token
}

TEST_CASE("vectors that are zero have four decimals on the page", "[commands][look][page]") {
  const Sandbox sandbox;
  heed::test::save_partly_zero_model(sandbox / "w.safetensors", ".value.");
  const Finished done =
      sandbox.heed({"look", "w.safetensors", "--page", "w.html", "--text", "the cat"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const Json vectors = part(content(sandbox / "w.html"), "data")["vectors"];
  REQUIRE(vectors.size() == 4);
  for (const Json& head : vectors) {
    CHECK(head["values"]["limit"] == 0);
    CHECK(head["values"]["decimals"] == 4);
    CHECK(head["keys"]["limit"] > 0);
  }
}

TEST_CASE("the name of a run never becomes markup of its page", "[commands][look][page]") {
  const PageSandbox sandbox;
  const std::string name = "<b>\"'& \u202e\xff";  // the slash of </b> cannot be part of a name
  std::filesystem::rename(sandbox / "o", sandbox / name);
  const Finished done = sandbox.heed({"look", name, "--page", "a.html"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const std::string html = content(sandbox / "a.html");
  CHECK_FALSE(has(html, "<b>\"'&"));
  CHECK_FALSE(has(html, "\u202e"));
  CHECK(part(html, "data")["model"]["run"] == "<b>\"'& \\u202e\\xff");
}

TEST_CASE("look --page rejects contradicting flags and folders that are files",
          "[commands][look][page]") {
  const PageSandbox sandbox;
  const auto error = [&](const Arguments& more) {
    return sandbox.heed(Arguments{"look", "o", "--page", "a.html"} + more).err;
  };
  CHECK(error({"--out", "x"}) ==
        "heed: error: --out applies to plots, and --page writes none; leave out one of them\n");
  CHECK(error({"--tsne"}) ==
        "heed: error: --tsne: the page has the maps of the heads already; leave out --tsne\n");
  CHECK(sandbox.heed({"look", "o", "--page", "in.txt/a.html"}).err ==
        "heed: error: in.txt: Not a directory; choose another --page\n");
  CHECK(sandbox.heed({"look", "o", "--page", "o"}).err ==
        "heed: error: o: is a folder; give --page the name of a file\n");
  CHECK_FALSE(sandbox.has_file("a.html"));
}

TEST_CASE("look --page replaces its own pages and no other file", "[commands][look][page]") {
  const PageSandbox sandbox;
  const std::string checkpoint = content(sandbox / "o/checkpoint.safetensors");
  put(sandbox / "notes.html", "<!doctype html>\n<title>Notes</title>\n");
  for (const std::string file : {"o/checkpoint.safetensors", "notes.html", "in.txt"})
    CHECK(sandbox.heed({"look", "o", "--page", file}).err ==
          "heed: error: " + file +
              ": exists and is not a page of heed look; give --page another name, or remove it\n");
  CHECK(content(sandbox / "o/checkpoint.safetensors") == checkpoint);
  put(sandbox / "a.html", "");
  CHECK(sandbox.heed({"look", "o", "--page", "a.html"}).code == 0);
  CHECK(sandbox.heed({"look", "o", "--page", "a.html"}).code == 0);
}
