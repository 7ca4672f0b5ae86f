// look_test.cpp: heed look on runs and on saved models: what it prints, draws and refuses.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/base/text.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "heed/train/model_file.hpp"

using namespace heed_test;

namespace {

// With a run in o/, of one layer and two heads, that learned in.txt.
struct RunDesk : Desk {
  RunDesk() { REQUIRE(heed(train_tiny).code == 0); }
};

// What look prints; there is no gnuplot, which it notes.
std::string seen(const Desk& desk, const Words& words) {
  const Finished run = desk.heed(Words{"look"} + words);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(has(run.err, "heed: note: gnuplot is not installed"));
  return run.out;
}

// What it is refused with, in one line and with nothing printed.
std::string refused(const Desk& desk, const Words& words, int code) {
  const Finished run = desk.heed(Words{"look"} + words);
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

// A model of words that sees all, untrained, of two layers and two heads.
void save_words(const std::filesystem::path& file, const std::string& words) {
  const heed::Vocabulary vocabulary = heed::Vocabulary::from_words(words);
  heed::nn::GptConfig config;
  config.vocab_size = vocabulary.size(), config.block_size = 8, config.layers = 2;
  config.heads = 2, config.embed_dim = 8, config.causal = false;
  heed::Parameters parameters;
  heed::Generator generator(3);
  const heed::nn::Gpt model(heed::Scope(parameters, generator), config);
  heed::save_model(file, parameters, config, vocabulary);
}

}  // namespace

TEST_CASE("look shows what the heads of a run do, on text it has not learned", "[app][look]") {
  const RunDesk desk;
  const std::string out = seen(desk, {"o"});
  for (const char* part :
       {"model  o: 1 layer, 2 heads in each, width 16; a symbol sees itself and those before it\n",
        "text   16 symbols, where the validation part of in.txt begins: \"",
        "(24 windows of 16 symbols, validation part of in.txt)\n", "previous token", "first token",
        "same symbol", "\nlayer 0, head 1 ", "\nevenly to all ",
        "\nWhich heads matter: with all of them the loss is ",
        "(48 windows of 16 symbols, validation part of in.txt)\n", "\nthe most without layer 0, ",
        "\n  layer 0, head 0                      layer 0, head 1\n", "·· masked\n"})
    CHECK(has(out, part));
  CHECK(count(out, " *") == 3);  // one for each kind
  CHECK(desk.has_file("o/look.csv"));
  CHECK(desk.has_file("o/look.gp"));
  CHECK(seen(desk, {"o", "--threads", "2"}) == out);
  CHECK(has(seen(desk, {"o/checkpoint.safetensors"}), out.substr(out.find("text   "))));
}

TEST_CASE("look reads the text it is given", "[app][look]") {
  const RunDesk desk;
  const std::string out = seen(desk, {"o", "--text", "the sea\ngave"});
  CHECK(has(out, "text   12 symbols: \"the sea\\ngave\"\n"));
  CHECK(has(out, "(the text above)\n"));
  CHECK(has(out, "(48 windows of 16 symbols, validation part of in.txt)\n"));
  CHECK(count(content(desk / "o/look.csv"), "\n") == 1 + 2 * 12 * 12);
  const std::string one = seen(desk, {"o", "--text", "t"});
  CHECK(has(one, "layer 0, head 0                 -"));  // one symbol has none before it
}

TEST_CASE("look shows one head large, and draws only that", "[app][look]") {
  const RunDesk desk;
  const std::string out = seen(desk, {"o", "--text", "rope.", "--layer", "0", "--head", "1"});
  CHECK(has(out, "\nlayer 0, head 1 (5, 5)\n"));
  CHECK_FALSE(has(out, "layer 0, head 0 (5, 5)\n"));
  CHECK(has(out, "rows: asks, columns: answers\n"));
  CHECK(has(out, "   r o p e .\n"));
  CHECK(count(content(desk / "o/look.csv"), "\n") == 1 + 5 * 5);
  CHECK(has(seen(desk, {"o", "--text", "rope.", "--layer", "0"}), "\nlayer 0, head 0 (5, 5)\n"));
}

TEST_CASE("look's pictures go where --out says", "[app][look]") {
  const RunDesk desk;
  seen(desk, {"o", "--out", "a/b", "--text", "rope"});
  CHECK(desk.has_file("a/b/look.csv"));
  CHECK_FALSE(desk.has_file("o/look.csv"));
  CHECK(has(refused(desk, {"o", "--out", "in.txt/x"}, 1), "in.txt/x: "));
  CHECK(refused(desk, {"o", "--out", "in.txt"}, 1) ==
        "in.txt: is a file, not a directory; choose another --out");
}

TEST_CASE("look has colours on a terminal, and none in a pipe", "[app][look]") {
  const RunDesk desk;
  CHECK_FALSE(has(seen(desk, {"o"}), "\x1b"));
  if (!has_terminals()) return;
  Call call = desk.call({"look", "o", "--layer", "0"});
  call.terminal = 80;
  const Finished run = heed_test::run(call);
  CHECK(run.code == 0);
  CHECK(has(run.out, "\x1b[48;5;"));
}

TEST_CASE("without the text that a run learned, look needs one", "[app][look]") {
  const RunDesk desk;
  put(desk / "in.txt", Desk::story() + "!");
  CHECK(refused(desk, {"o"}, 1) ==
        "in.txt: is not the text any more that the run learned; give --text");
  std::filesystem::remove(desk / "in.txt");
  CHECK(refused(desk, {"o"}, 1) == "in.txt: No such file or directory; give --text");
  const std::string out = seen(desk, {"o", "--text", "the sea"});
  CHECK(count(out, "(the text above)\n") == 2);
}

TEST_CASE("look refuses what the model does not have or cannot read", "[app][look]") {
  const RunDesk desk;
  CHECK(refused(desk, {"o", "--layer", "9"}, 2) == "--layer 9: the model has one layer, 0");
  CHECK(refused(desk, {"o", "--head", "2"}, 2) == "--head 2: the model has heads 0 to 1");
  CHECK(refused(desk, {"o", "--text", ""}, 2) ==
        "--text: is empty; give what the model is to read");
  CHECK(refused(desk, {"o", "--text", "the quay took: rope"}, 2) ==
        "--text: has 19 symbols; the model reads 16 at most, its block size");
  CHECK(refused(desk, {"o", "--text", "the \u00e9"}, 2) ==
        "--text: '\u00e9' (U+00E9) is not in the vocabulary; use what the training text has");
  std::filesystem::create_directory(desk / "empty");
  CHECK(refused(desk, {"empty"}, 1) == "empty/checkpoint.safetensors: No such file or directory");
  CHECK(refused(desk, {"in.txt"}, 1).rfind("in.txt: not a checkpoint", 0) == 0);
  CHECK_FALSE(desk.has_file("o/look.csv"));
}

TEST_CASE("look hides each word in turn, of a model that sees all", "[app][look]") {
  const Desk desk;
  save_words(desk / "w.safetensors", "[MASK] the cat sat");
  const std::string out = seen(desk, {"w.safetensors", "--text", "the cat [MASK]"});
  CHECK(has(out, "; a symbol sees all others\n"));
  CHECK(has(out, "text   3 symbols: \"the cat [MASK]\"\n"));
  CHECK(has(out, "(each symbol of the text above in turn hidden behind [MASK])\n"));
  CHECK_FALSE(has(out, "masked\n"));
  CHECK(desk.has_file("look.csv"));
  CHECK(refused(desk, {"w.safetensors"}, 1) ==
        "w.safetensors: does not say which text the model learned; give --text");
  CHECK(refused(desk, {"w.safetensors", "--text", "the dog"}, 2) ==
        "--text: 'dog' is not in the vocabulary; use what the training text has");
  CHECK(refused(desk, {"w.safetensors", "--text", "the", "--layer", "2"}, 2) ==
        "--layer 2: the model has layers 0 to 1");
  CHECK(refused(desk, {"w.safetensors", "--text", "the", "--head", "1"}, 2) ==
        "--head 1: of which layer? give --layer too, 0 to 1");
  CHECK(has(seen(desk, {"w.safetensors", "--text", "[MASK]"}),
            "\nNo loss without heads: every symbol of the text is hidden already.\n"));
  save_words(desk / "v.safetensors", "the cat sat");
  CHECK(has(seen(desk, {"v.safetensors", "--text", "the cat"}),
            "\nNo loss without heads: the model sees every symbol, and has no [MASK]"));
}

namespace {

// The last number of each line after the first.
std::vector<double> last_cells(const std::string& csv) {
  std::vector<double> cells;
  std::istringstream lines(csv.substr(csv.find('\n') + 1));
  for (std::string line; std::getline(lines, line);)
    cells.push_back(std::strtod(line.substr(line.rfind(',') + 1).c_str(), nullptr));
  return cells;
}

}  // namespace

TEST_CASE("look draws the shares of each head, and prints what each is worth", "[app][look]") {
  const Desk desk;
  save_words(desk / "w.safetensors", "[MASK] the cat sat");
  const std::string out = seen(desk, {"w.safetensors", "--text", "the cat sat"});
  const heed::LoadedModel saved(heed::ModelFile::open(desk / "w.safetensors"));
  heed::Indices tokens = heed::Indices::from_shape({1, 3});
  const std::vector<std::int64_t> ids = saved.vocabulary.encode("the cat sat");
  std::copy(ids.begin(), ids.end(), tokens.begin());
  std::vector<double> shares;
  for (const heed::LayerAttention& layer : heed::capture_attention(saved.model, tokens))
    shares.insert(shares.end(), layer.weights.begin(), layer.weights.end());
  const std::vector<double> drawn = last_cells(content(desk / "look.csv"));
  REQUIRE(drawn.size() == shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) CHECK(std::abs(drawn[i] - shares[i]) < 1e-5);
  const std::int64_t mask = saved.vocabulary.find("[MASK]");
  const heed::Ablation ablation =
      heed::ablate(saved.model, [&] { return heed::masked_token_loss(saved.model, tokens, mask); });
  CHECK(has(out, "the loss is " + heed::decimal(ablation.whole, 4) + " nats"));
  for (const double without : ablation.without)
    CHECK(has(out, heed::decimal(without - ablation.whole, 4)));
}

TEST_CASE("look begins where the validation part does", "[app][look]") {
  const RunDesk desk;
  const std::string story = Desk::story();
  const std::string begin = story.substr(story.size() / 10 * 9 + story.size() % 10 * 9 / 10, 16);
  CHECK(has(seen(desk, {"o"}), "begins: \"" + heed::printable(begin) + "\"\n"));
}

TEST_CASE("a text too short to validate with is none", "[app][look]") {
  const RunDesk desk;
  heed::SafetensorsFile file = heed::read_safetensors(desk / "o/checkpoint.safetensors");
  for (const char* own : {"heed.checksum", "heed.format"}) file.metadata.erase(own);
  for (const std::string text : {"", "O", "On day 0 "}) {
    put(desk / "in.txt", text);
    const heed::TextFingerprint identity = heed::fingerprint_of("in.txt", text);
    file.metadata["text.bytes"] = std::to_string(identity.bytes);
    file.metadata["text.hash"] = std::to_string(identity.hash);
    heed::write_safetensors(desk / "o/checkpoint.safetensors", file.metadata, file.tensors);
    CHECK(refused(desk, {"o"}, 1) == "in.txt: leaves nothing for validation; give --text");
    CHECK(has(seen(desk, {"o", "--text", "the sea"}), "(the text above)\n"));
  }
}

TEST_CASE("a text's name is shown in one line", "[app][look]") {
  const RunDesk desk;
  const std::string name = "a\n\x1b[31mb.txt";
  put(desk / name.c_str(), Desk::story());
  REQUIRE(desk.heed({"train", name, "--out", "p", "--steps", "2", "--layers", "1", "--heads", "2",
                     "--embed-dim", "8", "--block-size", "16"})
              .code == 0);
  const std::string out = seen(desk, {"p"});
  CHECK(has(out, "validation part of a\\n\\x1b[31mb.txt begins"));
  CHECK_FALSE(has(out, "\x1b"));
}
