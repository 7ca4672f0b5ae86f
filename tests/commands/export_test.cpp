// export_test.cpp: heed export, whose folders PyTorch and heed import read.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "commands/imported_folder.hpp"
#include "small_model.hpp"

using namespace heed_test;

namespace {

// Exports and imports a run, and compares the bytes of all parameters and of the vocabulary. The
// biases that an export for GPT2LMHeadModel may add are left out.
void check_round_trip(const Sandbox& sandbox, const std::string& run, const std::string& format) {
  INFO(run << " to " << format);
  const std::string folder = run + "_to_" + format, again = run + "_from_" + format;
  const Finished exported = sandbox.heed({"export", run, "--to", format, folder});
  INFO(exported.err);
  REQUIRE(exported.code == 0);
  const Finished imported = sandbox.heed({"import", folder, "--out", again});
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  const auto before = state(sandbox / run), after = state(sandbox / again);
  for (const auto& [key, value] : after) {
    if (key.rfind("tensor ", 0) != 0 && key.rfind("vocabulary.", 0) != 0) continue;
    INFO(key);
    if (format == "gpt2" && before.count(key) == 0 && has(key, ".bias")) continue;
    REQUIRE(before.count(key) == 1);
    CHECK(before.at(key) == value);
  }
  for (const auto& [key, value] : before)
    if (key.rfind("tensor ", 0) == 0 && key.rfind("tensor optimizer.", 0) != 0)
      CHECK(after.count(key) == 1);
}

}  // namespace

TEST_CASE("exported models are imported with the same bytes", "[commands][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed({"import", weights("gpt2_prefix").string(), "--out", "g"}).code == 0);
  REQUIRE(sandbox.heed({"import", weights("bert").string(), "--out", "b"}).code == 0);
  check_round_trip(sandbox, "g", "gpt2");
  const Finished finished = sandbox.heed(train_tiny);
  REQUIRE(finished.code == 0);
  check_round_trip(sandbox, "o", "nanogpt");
  check_round_trip(sandbox, "b", "pytorch");
  const Arguments llama = {"--norm", "rms",    "--positions", "rotary",
                           "--mlp",  "swiglu", "--kv-heads",  "1"};
  const Arguments bpe = {"--tokenizer", "bpe", "--vocab-size", "300"};
  REQUIRE(sandbox.heed(Arguments{"train", "in.txt", "--out", "l"} + tiny + llama).code == 0);
  REQUIRE(sandbox.heed(Arguments{"train", "in.txt", "--out", "t"} + tiny + bpe).code == 0);
  for (const char* run : {"o", "l", "t"}) check_round_trip(sandbox, run, "pytorch");
  for (const char* name : {"llama", "llama_bf16", "qwen2"}) {
    REQUIRE(sandbox.heed({"import", weights(name).string(), "--out", name}).code == 0);
    check_round_trip(sandbox, name, "llama");
    check_round_trip(sandbox, name, "pytorch");
  }
  for (const char* format : {"nanogpt", "gpt2"})
    CHECK(has(sandbox.heed({"export", "l", "--to", format, "x"}).err,
              " has no RMSNorm; --to pytorch exports every model\n"));
  const Finished rejected = sandbox.heed({"export", "b", "--to", "nanogpt", "x"});
  CHECK(rejected.code == 1);
  CHECK(has(rejected.err, "nanoGPT has no bidirectional attention; --to pytorch exports every"));
  CHECK(!sandbox.has_file("x"));
  fs::create_directory(sandbox / "mine");
  put(sandbox / "mine/load.py", "my own");
  CHECK(sandbox.heed({"export", "b", "--to", "pytorch", "mine"}).err ==
        "heed: error: mine/load.py: exists already; give another folder, or remove it first\n");
  CHECK(content(sandbox / "mine/load.py") == "my own");
  CHECK(sandbox.heed({"export", "b", "x"}).code == 2);
  CHECK(sandbox.heed({"export", "b", "--to", "pytorch"}).code == 2);
}

namespace {

// The modules that a Python program imports.
std::set<std::string> modules_of(const std::string& program) {
  std::set<std::string> modules;
  const std::regex import(R"((?:^|\n) *(?:import|from) ([a-z_, ]+))"), name("[a-z_]+");
  for (std::sregex_iterator line(program.begin(), program.end(), import), end; line != end;
       ++line) {
    const std::string names = (*line)[1];
    for (std::sregex_iterator at(names.begin(), names.end(), name); at != end; ++at)
      modules.insert(at->str());
  }
  return modules;
}

// An untrained bidirectional model of words in the folder of a run.
void save_masked_words(const fs::path& run) {
  using namespace heed::test;
  const heed::Vocabulary vocabulary = heed::Vocabulary::from_words("[MASK] the cat sat");
  const SmallModel model(bidirectional(small_config(vocabulary.size(), {8, 8})), 3);
  fs::create_directory(run);
  heed::save_model(run / "checkpoint.safetensors", model.parameters, model.config, vocabulary);
}

}  // namespace

TEST_CASE("an export of any tokens has its model, its vocabulary and load.py, and is imported",
          "[commands][weights]") {
  const Sandbox sandbox;
  const std::set<std::string> files = {"config.json", "load.py", "model.safetensors"};
  std::set<std::string> with_vocabulary = files;
  with_vocabulary.insert("meta.json");
  const std::map<std::string, Arguments> tokens = {
      {"characters", {}},
      {"bytes", {"--bytes"}},
      {"bpe", {"--tokenizer", "bpe", "--vocab-size", "300"}}};
  for (const auto& [run, flags] : tokens) {
    REQUIRE(sandbox.heed(Arguments{"train", "in.txt", "--out", run} + tiny + flags).code == 0);
    for (const std::string format : {"pytorch", "nanogpt", "gpt2"}) {
      check_round_trip(sandbox, run, format);
      const std::string folder = run + "_to_" + format;
      CHECK(files_in(sandbox / folder) == (format == "pytorch" ? files : with_vocabulary));
      const char* const made = format == "pytorch"   ? "\"model.pt\""
                               : format == "nanogpt" ? "\"ckpt.pt\""
                                                     : "\"pytorch_model.bin\"";
      CHECK(sandbox.read(folder + "/load.py").find(made) != std::string::npos);
      for (const std::string& module : modules_of(sandbox.read(folder + "/load.py"))) {
        INFO(module);
        CHECK(std::set<std::string>{"torch", "ctypes", "json", "math", "os", "pickle", "struct",
                                    "sys"}
                  .count(module) == 1);
      }
    }
  }
  save_masked_words(sandbox / "words");
  check_round_trip(sandbox, "words", "pytorch");
  CHECK(files_in(sandbox / "words_to_pytorch") == files);
}

// Whether a script of /usr/bin/python3 could not run because there is no such Python with torch.
bool lacks_torch(const Finished& script) {
  const bool lacks = script.code == 127 || has(script.err, "No module named 'torch'");
  if (lacks) std::cout << "skipped: there is no /usr/bin/python3 with torch\n";
  return lacks;
}

// Stands for GPT2LMHeadModel of an old version of transformers, which has buffers with masks.
constexpr const char* strict_gpt2 = R"(import sys, torch
sys.path.insert(0, "x")
from load import state, load_into
class Gpt2:
    def state_dict(self):
        return {**state, "transformer.h.0.attn.bias": torch.ones(1, 1, 4, 4), "transformer.h.0.attn.masked_bias": torch.tensor(-1e4)}
    def load_state_dict(self, new):
        assert set(new) == set(self.state_dict())
load_into(Gpt2())
assert state["transformer.h.0.attn.c_attn.weight"].shape == (24, 72)
assert torch.equal(state["lm_head.weight"], state["transformer.wte.weight"])
)";

TEST_CASE("an export for GPT2LMHeadModel adds biases of zero to a model without biases",
          "[commands][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  REQUIRE(sandbox.heed({"export", "o", "--to", "gpt2", "x"}).code == 0);
  REQUIRE(sandbox.heed({"import", "x", "--out", "again"}).code == 0);
  const auto before = state(sandbox / "o");
  std::size_t biases = 0;
  for (const auto& [key, value] : state(sandbox / "again")) {
    if (key.rfind("tensor ", 0) != 0) continue;
    INFO(key);
    const bool is_added = before.count(key) == 0;
    if (!is_added) CHECK(value == before.at(key));
    if (is_added) CHECK(key.substr(key.rfind('.')) == ".bias");
    if (is_added) CHECK(value == std::string(value.size(), '\0'));
    biases += is_added ? 1 : 0;
  }
  CHECK(biases == 9);  // of two norms and six linear layers in the block, and of the last norm
  REQUIRE(sandbox.heed({"import", weights("gpt2").string(), "--out", "g"}).code == 0);
  CHECK(has(sandbox.heed({"export", "g", "--to", "nanogpt", "n"}).err,
            "nanoGPT has no tanh approximation of GELU; --to pytorch exports every model\n"));
}

TEST_CASE("an export for GPT2LMHeadModel has its tensors and keeps its buffers",
          "[commands][weights]") {
  const Sandbox sandbox;
  const auto script = [&](const Arguments& arguments) {
    return run({Arguments{"/usr/bin/python3"} + arguments, sandbox.path, "", {}});
  };
  REQUIRE(sandbox.heed({"import", weights("gpt2").string(), "--out", "g"}).code == 0);
  REQUIRE(sandbox.heed({"export", "g", "--to", "gpt2", "x"}).code == 0);
  const Finished loaded = script({"-c", strict_gpt2});
  if (lacks_torch(loaded)) return;
  INFO(loaded.err);
  CHECK(loaded.code == 0);
  CHECK(script({"x/load.py"}).code == 0);
  CHECK(sandbox.has_file("x/pytorch_model.bin"));
  REQUIRE(sandbox.heed({"export", "g", "--to", "pytorch", "p"}).code == 0);
  const Finished names = script({"p/load.py"});
  CHECK(has(names.out, "blocks.0.attention.query.weight (24, 24)"));
}

TEST_CASE(
    "the rejection of a pickle names the program that converts it, and the result is imported",
    "[commands][weights]") {
  const Folder folder("gpt2");
  const auto script = [&](const Arguments& arguments) {
    return run({Arguments{"/usr/bin/python3"} + arguments, folder.path, "", {}});
  };
  REQUIRE(folder.heed({"import", "m", "--out", "g"}).code == 0);
  REQUIRE(folder.heed({"export", "g", "--to", "gpt2", "x"}).code == 0);
  const Finished pickled = script({"x/load.py"});
  if (lacks_torch(pickled)) return;
  REQUIRE(pickled.code == 0);
  fs::rename(folder / "x/pytorch_model.bin", folder / "m/pytorch_model.bin");
  fs::remove(folder / "m/model.safetensors");
  const Finished rejected = folder.heed({"import", "m", "--out", "i"});
  CHECK(rejected.code == 1);
  CHECK(has(rejected.err, "m/pytorch_model.bin: is a Python pickle, which heed does not read; "));
  const std::string before = "convert it with ";
  const std::size_t begin = rejected.err.find(before);
  REQUIRE(begin != rejected.err.npos);
  std::string program = rejected.err.substr(begin + before.size());
  program.erase(program.find_first_of(" \n"));
  const Finished converted =
      script({fs::path(HEED_SOURCE_DIR) / program, "m/pytorch_model.bin", "m/model.safetensors"});
  INFO(converted.err);
  REQUIRE(converted.code == 0);
  const Finished imported = folder.heed({"import", "m", "--out", "i"});
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  CHECK(state(folder / "i") == state(folder / "g"));
}

TEST_CASE("nanoGPT's modules load an export strictly and continue a text as heed does",
          "[commands][weights]") {
  const std::string python = "/usr/bin/python3";
  const Sandbox sandbox;
  const auto script = [&](const Arguments& arguments) {
    return run({Arguments{python} + arguments, sandbox.path, "", {}});
  };
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--warmup", "0", "--lr", "0.01"}).code == 0);
  REQUIRE(sandbox.heed({"export", "o", "--to", "nanogpt", "x"}).code == 0);
  const Finished loaded = script({"x/load.py"});
  if (lacks_torch(loaded)) return;
  INFO(loaded.err);
  REQUIRE(loaded.code == 0);
  const Finished peer = script({HEED_TESTS_DIR "/weights/nanogpt.py", "x", "On day", "10"});
  INFO(peer.err);
  CHECK(peer.code == 0);
  CHECK(peer.out ==
        sandbox.heed({"sample", "o", "--prompt", "On day", "--tokens", "10", "--temperature", "0"})
            .out);
  // A model of bytes has no meta.pkl, and load.py says so.
  REQUIRE(sandbox.heed(Arguments{"train", "in.txt", "--bytes", "--out", "bytes"} + tiny).code == 0);
  REQUIRE(sandbox.heed({"export", "bytes", "--to", "nanogpt", "b"}).code == 0);
  const Finished bytes = script({"b/load.py"});
  CHECK(bytes.code == 0);
  CHECK(bytes.out ==
        "no meta.pkl: nanoGPT's has characters, and the tokens of this model are others\n");
  CHECK_FALSE(sandbox.has_file("b/meta.pkl"));
  CHECK(loaded.out == "");
  // The reverse: nanoGPT's files become a folder for heed import. It needs load.py and no export.
  fs::create_directory(sandbox / "alone");
  fs::copy_file(sandbox / "x/load.py", sandbox / "alone/load.py");
  const Finished alone = script({"alone/load.py", "x/ckpt.pt", "w", "x/meta.pkl"});
  INFO(alone.err);
  REQUIRE(alone.code == 0);
  REQUIRE(script({"x/load.py", "x/ckpt.pt", "y", "x/meta.pkl"}).code == 0);
  REQUIRE(script({HEED_SOURCE_DIR "/tools/weights/pickle_to_safetensors.py", "x/ckpt.pt", "z",
                  "x/meta.pkl"})
              .code == 0);
  for (const char* folder : {"x", "y", "z", "w"}) {
    const Finished imported = sandbox.heed({"import", folder, "--out", std::string("i_") + folder});
    INFO(imported.err);
    REQUIRE(imported.code == 0);
    CHECK(state(sandbox / "i_x") == state(sandbox / (std::string("i_") + folder)));
  }
}

TEST_CASE("an export for GPT2LMHeadModel names <|endoftext|> only if the vocabulary has it",
          "[commands][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  REQUIRE(sandbox.heed({"import", weights("gpt2").string(), "--out", "g"}).code == 0);
  const auto ids = [&](const char* run, const char* folder) {
    REQUIRE(sandbox.heed({"export", run, "--to", "gpt2", folder}).code == 0);
    const auto config = nlohmann::json::parse(sandbox.read(std::string(folder) + "/config.json"));
    return config.at("bos_token_id").dump() + " " + config.at("eos_token_id").dump();
  };
  CHECK(ids("o", "x") == "null null");  // token 0 is the line break
  CHECK(sandbox.heed({"import", "x", "--out", "again"}).code == 0);
  CHECK(ids("g", "y") == "264 264");
}

TEST_CASE("Python scripts of heed open each text file as UTF-8", "[commands][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  std::vector<fs::path> scripts;
  REQUIRE(sandbox.heed({"import", weights("llama").string(), "--out", "l"}).code == 0);
  for (const std::string format : {"nanogpt", "gpt2", "llama", "pytorch"}) {
    REQUIRE(sandbox.heed({"export", format == "llama" ? "l" : "o", "--to", format, format}).code ==
            0);
    scripts.push_back(sandbox / format / "load.py");
  }
  for (const auto& entry : fs::recursive_directory_iterator(HEED_SOURCE_DIR "/tools"))
    if (entry.path().extension() == ".py") scripts.push_back(entry.path());
  const std::regex call(R"([^.\w]open\(((?:[^()]|\([^()]*\))*)\))"), binary(R"("[rw]b")");
  for (const fs::path& script : scripts) {
    const std::string text = content(script);
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
      INFO(script << ": " << at->str());
      const std::string arguments = (*at)[1];
      CHECK((has(arguments, "encoding=") || std::regex_search(arguments, binary)));
    }
  }
}

TEST_CASE("a model that rotates pairs of neighbours is exported with halves of heads",
          "[commands][weights][llama]") {
  const Folder f("llama2_c");
  const auto greedy = [&](const std::string& run) {
    return f.heed({"sample", run, "--tokens", "25", "--temperature", "0"}).out;
  };
  REQUIRE(f.heed({"import", "m/model.bin", "--tokenizer", "m/tokenizer.bin", "--out", "r"}).code ==
          0);
  REQUIRE(f.heed({"export", "r", "x", "--to", "llama"}).code == 0);
  REQUIRE(f.heed({"import", "x", "--out", "i"}).code == 0);
  CHECK(greedy("i") == greedy("r"));
  const auto pairs = state(f / "r"), halves = state(f / "i");
  CHECK(pairs.at("tensor blocks.0.attention.query.weight") !=
        halves.at("tensor blocks.0.attention.query.weight"));
  CHECK(pairs.at("tensor blocks.0.attention.value.weight") ==
        halves.at("tensor blocks.0.attention.value.weight"));
  CHECK(halves.at("model.rotary_pairs") == "halves");
  check_round_trip(f, "i", "llama");

  // A model that heed trained, with characters.
  f.write("in.txt", Sandbox::story());
  const Arguments llama = {"--norm", "rms",    "--positions", "rotary",
                           "--mlp",  "swiglu", "--kv-heads",  "1"};
  REQUIRE(f.heed(Arguments{"train", "in.txt", "--out", "l"} + tiny + llama).code == 0);
  REQUIRE(f.heed({"export", "l", "y", "--to", "llama"}).code == 0);
  REQUIRE(f.heed({"import", "y", "--out", "j"}).code == 0);
  CHECK(greedy("j") == greedy("l"));
  check_round_trip(f, "j", "llama");
  const Arguments part = {"--rotary-dim", "4"};
  REQUIRE(f.heed(Arguments{"train", "in.txt", "--out", "p"} + tiny + llama + part).code == 0);
  CHECK(f.heed({"export", "p", "z", "--to", "llama"}).err ==
        "heed: error: p/checkpoint.safetensors: LlamaForCausalLM has no heads rotated in part; "
        "--to pytorch exports every model\n");
  REQUIRE(f.heed(Arguments{"train", "in.txt", "--out", "g"} + tiny).code == 0);
  CHECK(
      has(f.heed({"export", "g", "z", "--to", "llama"}).err, "LlamaForCausalLM has no LayerNorm"));
  CHECK_FALSE(f.has_file("z"));
}

TEST_CASE("an export of characters says where nanoGPT looks for meta.pkl", "[commands][weights]") {
  const Sandbox sandbox;
  const std::string advice =
      "nanoGPT's sample.py looks for the meta.pkl that load.py makes in data/heed/\n";
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  CHECK(has(sandbox.heed({"export", "o", "--to", "nanogpt", "x"}).out, advice));
  CHECK(has(content(sandbox / "x/load.py"), "for which nanoGPT looks in data/heed/"));
  CHECK_FALSE(has(sandbox.heed({"export", "o", "--to", "gpt2", "y"}).out, advice));
}

TEST_CASE("load.py makes the same meta.pkl where the locale is not UTF-8", "[commands][weights]") {
  const Sandbox sandbox;
  put(sandbox / "in.txt", Sandbox::story() + "\u00e9\u6f22");
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  REQUIRE(sandbox.heed({"export", "o", "--to", "nanogpt", "x"}).code == 0);
  const auto script = [&](const Arguments& arguments) {
    // The last two variables keep Python from replacing the locale C by UTF-8.
    return run({Arguments{"/usr/bin/python3"} + arguments,
                sandbox.path,
                "",
                {{"LC_ALL", "C"}, {"PYTHONCOERCECLOCALE", "0"}, {"PYTHONUTF8", "0"}}});
  };
  const Finished loaded = script({"x/load.py"});
  if (lacks_torch(loaded)) return;
  INFO(loaded.err);
  CHECK(loaded.code == 0);
  REQUIRE(script({"x/load.py", "x/ckpt.pt", "y", "x/meta.pkl"}).code == 0);
  REQUIRE(sandbox.heed({"import", "y", "--out", "i"}).code == 0);
  CHECK(state(sandbox / "i").at("vocabulary.tokens") ==
        state(sandbox / "o").at("vocabulary.tokens"));
}

TEST_CASE("of two exports into one folder, one is rejected", "[commands][export]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  std::filesystem::create_directory(sandbox / "e");
  const int lock = ::open((sandbox / "e/.heed-lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  REQUIRE(lock >= 0);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  REQUIRE(::write(lock, "7 ", 2) == 2);
  const Finished run = sandbox.heed({"export", "o", "e", "--to", "pytorch"});
  ::close(lock);
  CHECK(run.code == 1);
  CHECK(run.err ==
        "heed: error: e: in use by process 7; wait until it ends, or give another folder\n");
  CHECK_FALSE(sandbox.has_file("e/config.json"));
  CHECK(sandbox.heed({"export", "o", "e", "--to", "pytorch"}).code == 0);
  CHECK_FALSE(sandbox.has_file("e/.heed-lock"));
}
