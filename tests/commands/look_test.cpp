// look_test.cpp: heed look on runs and on saved models: output, plots and errors.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/run_folder.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "small_model.hpp"

using namespace heed_test;

namespace {

// A sandbox with a run in o/: a model with one layer and two heads, trained on in.txt.
struct RunSandbox : Sandbox {
  RunSandbox() { REQUIRE(heed(train_tiny).code == 0); }
};

// The output of `heed look`, which must note that gnuplot is missing.
std::string shown(const Sandbox& sandbox, const Arguments& arguments) {
  const Finished run = sandbox.heed(Arguments{"look"} + arguments);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(has(run.err, "heed: note: gnuplot is not installed"));
  return run.out;
}

// The error of `heed look`, which must be one line without other output.
std::string rejected(const Sandbox& sandbox, const Arguments& arguments, int code) {
  const Finished run = sandbox.heed(Arguments{"look"} + arguments);
  CHECK(run.code == code);
  CHECK(run.out == "");
  CHECK(run.err.rfind("heed: error: ", 0) == 0);
  CHECK(run.err.find('\n') == run.err.size() - 1);
  return run.err.substr(13, run.err.size() - 14);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t i = text.find(part); i != text.npos; i = text.find(part, i + 1)) ++found;
  return found;
}

// An untrained bidirectional model of words, with two layers and two heads.
void save_words(const std::filesystem::path& file, const std::string& words) {
  const heed::Vocabulary vocabulary = heed::Vocabulary::from_words(words);
  using namespace heed::test;
  const SmallModel model(bidirectional(small_config(vocabulary.size(), {8, 8})), 3);
  heed::save_model(file, model.parameters, model.config, vocabulary);
}

}  // namespace

TEST_CASE("look prints scores, ablation and heat maps on the validation text", "[commands][look]") {
  const RunSandbox sandbox;
  const std::string out = shown(sandbox, {"o"});
  for (const char* part :
       {"model  o: 1 layer, 2 heads per layer, width 16, causal\n",
        "text   16 tokens, the beginning of the validation split of in.txt: \"",
        "(24 windows of 16 tokens, validation split of in.txt)\n", "previous token", "first token",
        "same token", "induction", "\nlayer 0, head 1 ", "\nuniform weights ",
        "\nHead ablation: with all heads the loss is ",
        "(48 windows of 16 tokens, validation split of in.txt)\n", "\nlargest without layer 0, ",
        "\n  layer 0, head 0                      layer 0, head 1\n", "·· masked\n"})
    CHECK(has(out, part));
  CHECK(count(out, " *") == 4);  // one * for each kind of head
  CHECK(sandbox.has_file("o/look.csv"));
  CHECK(sandbox.has_file("o/look.gp"));
  CHECK(shown(sandbox, {"o", "--threads", "2"}) == out);
  CHECK(has(shown(sandbox, {"o/checkpoint.safetensors"}), out.substr(out.find("text   "))));
}

TEST_CASE("look reads --text", "[commands][look]") {
  const RunSandbox sandbox;
  const std::string out = shown(sandbox, {"o", "--text", "the sea\ngave"});
  CHECK(has(out, "text   12 tokens: \"the sea\\ngave\"\n"));
  CHECK(has(out, "(the text above)\n"));
  CHECK(has(out, "(48 windows of 16 tokens, validation split of in.txt)\n"));
  CHECK(count(content(sandbox / "o/look.csv"), "\n") == 1 + 2 * 12 * 12);
  const std::string one = shown(sandbox, {"o", "--text", "t"});
  CHECK(has(one, "layer 0, head 0                 -"));  // a single token has no previous one
}

TEST_CASE("look --attends-to lists the ten heads with the largest weights", "[commands][look]") {
  const Sandbox sandbox;
  Arguments words = train_tiny;
  *(std::find(words.begin(), words.end(), "--layers") + 1) = "3";
  *(std::find(words.begin(), words.end(), "--heads") + 1) = "4";
  REQUIRE(sandbox.heed(words).code == 0);
  const std::string out = shown(sandbox, {"o", "--text", "On day", "--attends-to", "O"});
  const std::string title = "The largest attention weights from ";
  REQUIRE(has(out, title));
  std::istringstream lines(out.substr(out.find(title)));
  std::string line;
  std::getline(lines, line);
  CHECK(line == title + "y at position 5 to O at position 0 (uniform: 0.1667):");
  std::vector<double> weights;
  std::set<std::string> heads;
  while (std::getline(lines, line) && !line.empty()) {
    weights.push_back(std::stod(line.substr(line.rfind(' '))));
    heads.insert(line.substr(0, line.find("  ")));
  }
  CHECK(weights.size() == 10);
  CHECK(heads.size() == 10);
  CHECK(std::is_sorted(weights.rbegin(), weights.rend()));
  const std::string list =  // of all layers, also if one layer is shown
      out.substr(out.find(title), out.find("\n\n", out.find(title)) - out.find(title));
  CHECK(has(shown(sandbox, {"o", "--text", "On day", "--attends-to", "O", "--layer", "0"}), list));
}

TEST_CASE("with --layer and --head, look shows one large heat map and plots only that head",
          "[commands][look]") {
  const RunSandbox sandbox;
  const std::string out = shown(sandbox, {"o", "--text", "rope.", "--layer", "0", "--head", "1"});
  CHECK(has(out, "\nlayer 0, head 1 (5, 5)\n"));
  CHECK_FALSE(has(out, "layer 0, head 0 (5, 5)\n"));
  CHECK(has(out, "rows: query, columns: key\n"));
  CHECK(has(out, "   r o p e .\n"));
  CHECK(count(content(sandbox / "o/look.csv"), "\n") == 1 + 5 * 5);
  CHECK(
      has(shown(sandbox, {"o", "--text", "rope.", "--layer", "0"}), "\nlayer 0, head 0 (5, 5)\n"));
}

TEST_CASE("heat maps that do not fit side by side are shown one below the other",
          "[commands][look]") {
  const Sandbox sandbox;
  REQUIRE(sandbox
              .heed({"train", "in.txt", "--out", "o", "--steps", "2", "--layers", "1", "--heads",
                     "2", "--embed-dim", "16", "--block-size", "48"})
              .code == 0);
  const std::string text = Sandbox::story().substr(0, 44);
  CHECK(has(shown(sandbox, {"o", "--text", text}), "\n  layer 0, head 0\n"));
}

TEST_CASE("with gnuplot, look draws look.svg, in which each head has its title",
          "[commands][look]") {
  const RunSandbox sandbox;
  Call call = sandbox.call({"look", "o", "--text", "rope."});
  call.environment.erase("PATH");  // that of the test, which may have gnuplot
  const Finished run = heed_test::run(call);
  CHECK(run.code == 0);
  if (has(run.err, "gnuplot is not installed")) return;
  CHECK(run.err == "");
  const std::string svg = content(sandbox / "o/look.svg");
  CHECK(count(svg, ">layer 0, head 0<") == 1);
  CHECK(count(svg, ">layer 0, head 1<") == 1);
}

TEST_CASE("look writes its plots to --out", "[commands][look]") {
  const RunSandbox sandbox;
  shown(sandbox, {"o", "--out", "a/b", "--text", "rope"});
  CHECK(sandbox.has_file("a/b/look.csv"));
  CHECK_FALSE(sandbox.has_file("o/look.csv"));
  CHECK(has(rejected(sandbox, {"o", "--out", "in.txt/x"}, 1), "in.txt/x: "));
  CHECK(rejected(sandbox, {"o", "--out", "in.txt"}, 1) ==
        "in.txt: is a file, not a directory; choose another --out");
}

TEST_CASE("look replaces only plots of its own", "[commands][look][hostile]") {
  const RunSandbox sandbox;
  const std::vector<std::pair<std::string, Arguments>> plots = {
      {"look", {}}, {"tsne", {"--tsne", "--iterations", "5", "--perplexity", "2"}}};
  for (const auto& [name, flags] : plots) {
    const Arguments command = Arguments{"o", "--text", "rope.", "--out", name} + flags;
    for (const std::string ending : {".csv", ".gp", ".svg"}) {
      const std::string file = name + "/" + name + ending;
      std::filesystem::remove_all(sandbox / name);
      std::filesystem::create_directory(sandbox / name);
      put(sandbox / file, "mine");
      CHECK(rejected(sandbox, command, 1) ==
            file + ": exists and is not a plot of heed look; give another --out, or remove it");
      CHECK(content(sandbox / file) == "mine");
      std::filesystem::remove(sandbox / file);
      std::filesystem::create_symlink("../in.txt", sandbox / file);
      CHECK(has(rejected(sandbox, command, 1), file + ": is a symbolic link"));
      std::filesystem::remove(sandbox / file);
    }
    const std::string out = shown(sandbox, command);
    put(sandbox / name / (name + ".csv"), "");
    CHECK(shown(sandbox, command) == out);
    CHECK(shown(sandbox, command) == out);
  }
}

TEST_CASE("look prints colours on a terminal and none in a pipe", "[commands][look]") {
  const RunSandbox sandbox;
  CHECK_FALSE(has(shown(sandbox, {"o"}), "\x1b"));
  if (!has_terminals()) return;
  Call call = sandbox.call({"look", "o", "--layer", "0"});
  call.terminal = 80;
  const Finished run = heed_test::run(call);
  CHECK(run.code == 0);
  CHECK(has(run.out, "\x1b[48;5;"));
}

TEST_CASE("without the training text, look needs --text", "[commands][look]") {
  const RunSandbox sandbox;
  put(sandbox / "in.txt", Sandbox::story() + "!");
  CHECK(rejected(sandbox, {"o"}, 1) ==
        "in.txt: has changed since the run was trained on it; give --text");
  std::filesystem::remove(sandbox / "in.txt");
  CHECK(rejected(sandbox, {"o"}, 1) ==
        "in.txt: No such file or directory, the text of this run; give --text");
  const std::string out = shown(sandbox, {"o", "--text", "the sea"});
  CHECK(count(out, "(the text above)\n") == 2);
}

TEST_CASE("look rejects layers, heads and texts that the model does not have", "[commands][look]") {
  const RunSandbox sandbox;
  CHECK(rejected(sandbox, {"o", "--layer", "9"}, 2) == "--layer 9: the model has one layer, 0");
  CHECK(rejected(sandbox, {"o", "--head", "2"}, 2) == "--head 2: the model has heads 0 to 1");
  CHECK(rejected(sandbox, {"o", "--text", ""}, 2) == "--text: is empty; give a text for the model");
  CHECK(rejected(sandbox, {"o", "--text", "the quay took: rope"}, 2) ==
        "--text: has 19 tokens; the model reads at most 16, its block size");
  CHECK(rejected(sandbox, {"o", "--text", "the \u00e9"}, 2) ==
        "--text: '\u00e9' (U+00E9) is not in the vocabulary; use only tokens of the training text");
  CHECK(rejected(sandbox, {"o", "--text", "the sea", "--mask", "s"}, 2) ==
        "--mask 's': a causal model has no [MASK]; leave out --mask");
  CHECK(rejected(sandbox, {"o", "--text", "the sea", "--attends-to", "x"}, 2) ==
        "--attends-to 'x': the text has no such token; give one of its tokens, such as 't'");
  std::filesystem::create_directory(sandbox / "empty");
  CHECK(rejected(sandbox, {"empty"}, 1) ==
        "empty/checkpoint.safetensors: No such file or directory; give a run's folder, such as "
        "runs/harbour, or a checkpoint");
  CHECK(rejected(sandbox, {"in.txt"}, 1).rfind("in.txt: not a checkpoint", 0) == 0);
  CHECK_FALSE(sandbox.has_file("o/look.csv"));
}

TEST_CASE("look masks each token in turn for a bidirectional model", "[commands][look]") {
  const Sandbox sandbox;
  save_words(sandbox / "w.safetensors", "[MASK] the cat sat");
  const std::string out = shown(sandbox, {"w.safetensors", "--text", "the cat [MASK]"});
  CHECK(has(out, ", bidirectional\n"));
  CHECK(has(out, "text   3 tokens: \"the cat [MASK]\"\n"));
  CHECK(has(out, "(each token of the text above in turn replaced by [MASK])\n"));
  CHECK_FALSE(has(out, "masked\n"));
  CHECK(sandbox.has_file("look.csv"));
  CHECK(rejected(sandbox, {"w.safetensors"}, 1) ==
        "w.safetensors: does not name a training text; give --text");
  CHECK(rejected(sandbox, {"w.safetensors", "--text", "the dog"}, 2) ==
        "--text: 'dog' is not in the vocabulary; use only tokens of the training text");
  CHECK(rejected(sandbox, {"w.safetensors", "--text", "the cat", "--mask", "sat"}, 2) ==
        "--mask 'sat': the text has no such token; give one of its tokens, such as 'the'");
  CHECK(rejected(sandbox, {"w.safetensors", "--text", "the", "--layer", "2"}, 2) ==
        "--layer 2: the model has layers 0 to 1");
  CHECK(rejected(sandbox, {"w.safetensors", "--text", "the", "--head", "1"}, 2) ==
        "--head 1: give --layer too, 0 to 1");
  CHECK(has(shown(sandbox, {"w.safetensors", "--text", "[MASK]"}),
            "\nNo head ablation: every token of the text is [MASK].\n"));
  save_words(sandbox / "v.safetensors", "the cat sat");
  CHECK(rejected(sandbox, {"v.safetensors", "--text", "the cat", "--mask", "cat"}, 2) ==
        "--mask 'cat': this model's vocabulary has no [MASK]; leave out --mask");
  CHECK(has(shown(sandbox, {"v.safetensors", "--text", "the cat"}),
            "\nNo head ablation: the model is bidirectional, and its vocabulary has no [MASK]"));
}

TEST_CASE("look --mask replaces any token of the vocabulary", "[commands][look]") {
  const Sandbox sandbox;
  save_words(sandbox / "w.safetensors", "A [MASK] cat");  // A has id 0
  CHECK(has(shown(sandbox, {"w.safetensors", "--text", "A cat", "--mask", "A"}),
            "text   2 tokens: \"[MASK] cat\"\n"));
}

TEST_CASE("look --mask rejects a causal model whose vocabulary has the word [MASK]",
          "[commands][look]") {
  const Sandbox sandbox;
  const heed::Vocabulary vocabulary = heed::Vocabulary::from_words("[MASK] the cat");
  const heed::test::SmallModel model(heed::test::small_config(vocabulary.size(), {8, 8}), 3);
  heed::save_model(sandbox / "w.safetensors", model.parameters, model.config, vocabulary);
  CHECK(rejected(sandbox, {"w.safetensors", "--text", "the cat", "--mask", "cat"}, 2) ==
        "--mask 'cat': a causal model has no [MASK]; leave out --mask");
}

namespace {

// The last column of a CSV file without its header.
std::vector<double> last_cells(const std::string& csv) {
  std::vector<double> cells;
  std::istringstream lines(csv.substr(csv.find('\n') + 1));
  for (std::string line; std::getline(lines, line);)
    cells.push_back(std::strtod(line.substr(line.rfind(',') + 1).c_str(), nullptr));
  return cells;
}

}  // namespace

TEST_CASE("look plots the attention weights and prints the ablation loss of each head",
          "[commands][look]") {
  const Sandbox sandbox;
  save_words(sandbox / "w.safetensors", "[MASK] the cat sat");
  const std::string out = shown(sandbox, {"w.safetensors", "--text", "the cat sat"});
  CHECK_FALSE(has(out, "The most probable tokens"));  // the text has no [MASK]
  const heed::LoadedModel saved(heed::ModelFile::open(sandbox / "w.safetensors"));
  heed::Indices tokens = heed::Indices::from_shape({1, 3});
  const std::vector<std::int64_t> ids = saved.vocabulary.encode("the cat sat");
  std::copy(ids.begin(), ids.end(), tokens.begin());
  std::vector<double> weights;
  for (const heed::LayerAttention& layer : heed::capture_attention(saved.model, tokens))
    weights.insert(weights.end(), layer.weights.begin(), layer.weights.end());
  const std::vector<double> plotted = last_cells(content(sandbox / "look.csv"));
  REQUIRE(plotted.size() == weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) CHECK(std::abs(plotted[i] - weights[i]) < 1e-5);
  const std::int64_t mask = saved.vocabulary.find("[MASK]");
  const heed::Ablation ablation =
      heed::ablate(saved.model, [&] { return heed::masked_token_loss(saved.model, tokens, mask); });
  CHECK(has(out, "the loss is " + heed::decimal(ablation.baseline_loss, 4) + " nats"));
  for (const double loss : ablation.ablated_loss)
    CHECK(has(out, heed::decimal(loss - ablation.baseline_loss, 4)));
}

TEST_CASE("without --text, look reads the beginning of the validation part", "[commands][look]") {
  const RunSandbox sandbox;
  const std::string story = Sandbox::story();
  const std::string begin = story.substr(story.size() / 10 * 9 + story.size() % 10 * 9 / 10, 16);
  CHECK(has(shown(sandbox, {"o"}),
            "validation split of in.txt: \"" + heed::printable(begin) + "\"\n"));
}

TEST_CASE("a training text without a validation part is rejected", "[commands][look]") {
  const RunSandbox sandbox;
  heed::SafetensorsFile file = heed::read_safetensors(sandbox / "o/checkpoint.safetensors");
  for (const char* own : {"heed.checksum", "heed.format"}) file.metadata.erase(own);
  const auto train_on = [&](const std::string& text) {
    put(sandbox / "in.txt", text);
    const heed::TextFingerprint identity = heed::fingerprint_of("in.txt", text);
    file.metadata["text.bytes"] = std::to_string(identity.bytes);
    file.metadata["text.hash"] = std::to_string(identity.hash);
    heed::write_safetensors(sandbox / "o/checkpoint.safetensors", file.metadata, file.tensors);
  };
  for (const std::string text : {"", "O", "On day 0 ", "On day 0 t"}) {
    train_on(text);
    CHECK(rejected(sandbox, {"o"}, 1) ==
          "in.txt: is too short for a validation split; give --text");
    CHECK(has(shown(sandbox, {"o", "--text", "the sea"}), "(the text above)\n"));
  }
  train_on("On day 0 th");  // the validation split has two characters
  CHECK(has(shown(sandbox, {"o"}), "text   2 tokens, the beginning of the validation split of "));
}

TEST_CASE("look escapes control characters in the name of the text", "[commands][look]") {
  const RunSandbox sandbox;
  const std::string name = "a\n\x1b[31mb.txt";
  put(sandbox / name.c_str(), Sandbox::story());
  REQUIRE(sandbox
              .heed({"train", name, "--out", "p", "--steps", "2", "--layers", "1", "--heads", "2",
                     "--embed-dim", "8", "--block-size", "16"})
              .code == 0);
  const std::string out = shown(sandbox, {"p"});
  CHECK(has(out, "validation split of a\\n\\x1b[31mb.txt: "));
  CHECK_FALSE(has(out, "\x1b"));
}
