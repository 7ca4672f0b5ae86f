// import_test.cpp: heed import and heed export, and the refusal of damaged folders.

#include <cmath>
#include <cstring>
#include <functional>
#include <iostream>

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "heed/base/error.hpp"

using namespace heed_test;

namespace {

namespace fs = std::filesystem;

fs::path weights(const std::string& name) { return fs::path(HEED_TESTS_DIR) / "weights" / name; }

// A copy of a tiny model, to be damaged.
struct Folder : Sandbox {
  explicit Folder(const std::string& name) { fs::copy(weights(name), path / "m"); }

  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = content(path / "m" / file);
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    put(path / "m" / file, text.replace(at, from.size(), to));
  }
  void config(const std::string& from, const std::string& to) const {
    replace("config.json", from, to);
  }
  // Calls change(tensors) and writes the tensors again, as file `to`.
  void tensors(const std::function<void(std::vector<heed::StoredTensor>&)>& change,
               const std::string& to = "model.safetensors") const {
    heed::SafetensorsFile file = heed::read_safetensors(path / "m" / "model.safetensors");
    change(file.tensors);
    heed::write_safetensors(path / "m" / to, {}, file.tensors);
  }
  heed::StoredTensor& find(std::vector<heed::StoredTensor>& all, const std::string& name) const {
    for (heed::StoredTensor& tensor : all)
      if (tensor.name == name) return tensor;
    throw std::runtime_error("no tensor " + name);
  }
};

struct BadFolder {
  std::string what, model;
  std::function<void(const Folder&)> damage;
  std::string error;  // a part of the message
};

using Tensors = std::vector<heed::StoredTensor>;

void set_number(heed::StoredTensor& tensor, float value) {
  // The bytes belong to the SafetensorsFile, which is not const.
  std::memcpy(const_cast<unsigned char*>(tensor.data) + 8, &value, sizeof value);
}

const char* const conv = "h.0.attn.c_attn.weight";

std::vector<BadFolder> bad_configurations() {
  const auto config = [](const std::string& from, const std::string& to) {
    return [=](const Folder& f) { f.config(from, to); };
  };
  return {
      {"no config", "gpt2", [](const Folder& f) { fs::remove(f / "m/config.json"); },
       "m/config.json: No such file or directory"},
      {"no JSON", "gpt2", config("{", "{{"),
       "m/config.json: is not valid JSON in UTF-8 at its byte"},
      {"a zero byte", "gpt2",
       [](const Folder& f) {
         put(f / "m/config.json", content(f / "m/config.json") + std::string("\0junk", 5));
       },
       "m/config.json: has a zero byte at "},
      {"a list", "gpt2", [](const Folder& f) { put(f / "m/config.json", "[1]"); },
       "must hold a JSON object"},
      {"deep JSON", "gpt2",
       [](const Folder& f) {
         put(f / "m/config.json",
             "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}");
       },
       "has more than 32 levels of nested JSON"},
      {"a large file", "gpt2",
       [](const Folder& f) { put(f / "m/config.json", std::string(2'000'000, ' ')); },
       "has 2000000 bytes"},
      {"another model", "gpt2", config("\"gpt2\"", "\"llama\""), "'model_type' is 'llama'"},
      {"1e9 layers", "gpt2", config("\"n_layer\": 2", "\"n_layer\": 1000000000"),
       "describes a model of 1,000,000,000 layers"},
      {"2e9 layers", "gpt2", config("\"n_layer\": 2", "\"n_layer\": 2000000000"),
       "'n_layer' is 2000000000; it must be a whole number from 1 to 1000000000"},
      {"minus one layer", "gpt2", config("\"n_layer\": 2", "\"n_layer\": -1"), "'n_layer' is -1"},
      {"a layer too many", "gpt2", config("\"n_layer\": 2", "\"n_layer\": 3"),
       "m: no tensor 'h.2.ln_1.weight' (24)"},
      {"a layer too few", "gpt2", config("\"n_layer\": 2", "\"n_layer\": 1"),
       "belongs to no parameter of this model"},
      {"wide", "gpt2", config("\"n_embd\": 24", "\"n_embd\": 999999999"), "describes a model of"},
      {"heads that do not divide", "gpt2", config("\"n_head\": 3", "\"n_head\": 5"),
       "'n_embd' is 24, which is not divisible by 'n_head' 5"},
      {"no heads", "gpt2", config("n_head", "heads"), "the key 'n_head' is missing"},
      {"relu", "gpt2", config("gelu_new", "relu"),
       "'activation_function' is 'relu'; heed has gelu"},
      {"unscaled attention", "gpt2",
       config("\"scale_attn_weights\": true", "\"scale_attn_weights\": false"),
       "'scale_attn_weights' is false; heed supports only true"},
      {"scaled by layer", "gpt2",
       config("\"n_ctx\"", "\"scale_attn_by_inverse_layer_idx\": true, \"n_ctx\""),
       "'scale_attn_by_inverse_layer_idx' is true; heed supports only false"},
      {"a narrow MLP", "gpt2", config("\"n_inner\": null", "\"n_inner\": 48"),
       "'n_inner' is 48; heed supports only 96"},
      {"epsilon as text", "gpt2", config("1e-05", "\"small\""),
       "'layer_norm_epsilon' is 'small'; it must be a number between 0 and 1"},
      {"relative positions", "bert",
       config("\"model_type\"", "\"position_embedding_type\": \"relative_key\", \"model_type\""),
       "'position_embedding_type' is 'relative_key'; heed supports only \"absolute\""},
      {"a decoder", "bert", config("\"model_type\"", "\"is_decoder\": true, \"model_type\""),
       "'is_decoder' is true; heed supports only false"},
      {"a wrong vocab_size", "gpt2", config("\"vocab_size\": 265", "\"vocab_size\": 264"),
       "config.json has a vocab_size of 264, but the vocabulary has 265 tokens"},
  };
}

std::vector<BadFolder> bad_tensors() {
  return {
      {"no weights", "gpt2", [](const Folder& f) { fs::remove(f / "m/model.safetensors"); },
       "m: has neither model.safetensors nor model.safetensors.index.json"},
      {"a pickle beside", "gpt2",
       [](const Folder& f) { fs::rename(f / "m/model.safetensors", f / "m/pytorch_model.bin"); },
       "is a Python pickle, which heed does not read; convert it with tools/weights/"},
      {"a pickle inside", "gpt2",
       [](const Folder& f) { put(f / "m/model.safetensors", "PK\3\4" + std::string(200, 'x')); },
       "a zip archive, such as torch.save writes; convert it with tools/weights/"},
      {"truncated", "gpt2",
       [](const Folder& f) { fs::resize_file(f / "m/model.safetensors", 90000); }, "truncated"},
      {"a missing tensor", "gpt2",
       [](const Folder& f) {
         f.tensors([](Tensors& all) {
           all.erase(std::find_if(all.begin(), all.end(), [](const auto& t) {
             return t.name == "h.0.attn.c_proj.weight";
           }));
         });
       },
       "m: no tensor 'h.0.attn.c_proj.weight' (24, 24)"},
      {"a renamed tensor", "gpt2",
       [](const Folder& f) {
         f.tensors([&](Tensors& all) { f.find(all, conv).name = "h.0.attn.c_atn.weight"; });
       },
       "m: no tensor 'h.0.attn.c_attn.weight' (24, 72)"},
      {"an extra tensor", "gpt2",
       [](const Folder& f) {
         f.tensors([&](Tensors& all) {
           all.push_back(f.find(all, "ln_f.bias"));
           all.back().name = "ln_g.bias";
         });
       },
       "tensor 'ln_g.bias': belongs to no parameter of this model"},
      {"a wrong shape", "gpt2",
       [](const Folder& f) {
         f.tensors([&](Tensors& all) { f.find(all, conv).shape = {72, 24}; });
       },
       "tensor 'h.0.attn.c_attn.weight': has shape (72, 24), the model needs (24, 72)"},
      {"a wrong dtype", "gpt2",
       [](const Folder& f) { f.tensors([&](Tensors& all) { f.find(all, conv).dtype = "I32"; }); },
       "its dtype is I32, heed imports F32, F16, BF16 and F64"},
      {"NaN", "gpt2",
       [](const Folder& f) {
         f.tensors([&](Tensors& all) { set_number(f.find(all, conv), std::nanf("")); });
       },
       "tensor 'h.0.attn.c_attn.weight': element 2 is nan, which is not finite"},
      {"two names of one tensor", "gpt2",
       [](const Folder& f) {
         f.tensors([&](Tensors& all) {
           all.push_back(f.find(all, "ln_f.bias"));
           all.back().name = "transformer.ln_f.bias";
         });
       },
       "is also there as"},
      {"a head that is not tied", "gpt2",
       [](const Folder& f) {
         f.tensors([&](Tensors& all) {
           all.push_back(f.find(all, "wte.weight"));
           all.back().name = "lm_head.weight";
           all.back().data += 4;  // other numbers
         });
       },
       "tensor 'lm_head.weight': differs from the tensor of 'token.weight', to which it is tied"},
      {"a shard that is missing", "gpt2",
       [](const Folder& f) {
         fs::remove(f / "m/model.safetensors");
         put(f / "m/model.safetensors.index.json", R"({"weight_map": {"a": "b.safetensors"}})");
       },
       "m/b.safetensors: No such file or directory"},
      {"a shard elsewhere", "gpt2",
       [](const Folder& f) {
         fs::remove(f / "m/model.safetensors");
         put(f / "m/model.safetensors.index.json", R"({"weight_map": {"a": "../b"}})");
       },
       "tensor 'a': its file is '../b'; give the name of a file beside the index"},
      {"a shard without a tensor", "gpt2",
       [](const Folder& f) {
         fs::rename(f / "m/model.safetensors", f / "m/b.safetensors");
         put(f / "m/model.safetensors.index.json", R"({"weight_map": {"a": "b.safetensors"}})");
       },
       "the index does not list it for this file"},
  };
}

std::vector<BadFolder> bad_vocabularies() {
  return {
      {"no vocabulary", "gpt2", [](const Folder& f) { fs::remove(f / "m/vocab.json"); },
       "m/vocab.json: No such file or directory"},
      {"no merges", "gpt2", [](const Folder& f) { fs::remove(f / "m/merges.txt"); },
       "m/merges.txt: No such file or directory"},
      {"a hole", "gpt2", [](const Folder& f) { f.replace("vocab.json", "\"!\": 0", "\"!\": 999"); },
       "m/vocab.json: "},
      {"merges out of order", "gpt2",
       [](const Folder& f) { f.replace("merges.txt", "\u0120 t\nh e", "h e\n\u0120 t"); },
       "m/merges.txt: "},
      {"no [UNK]", "bert", [](const Folder& f) { f.replace("vocab.txt", "[UNK]", "unk"); },
       "m/vocab.txt: "},
      {"a cased model", "bert",
       [](const Folder& f) { put(f / "m/tokenizer_config.json", R"({"do_lower_case": false})"); },
       "'do_lower_case' is false; heed imports uncased models of BERT"},
      {"accents that stay", "bert",
       [](const Folder& f) { put(f / "m/tokenizer_config.json", R"({"strip_accents": false})"); },
       "'strip_accents' is false; heed imports uncased models of BERT"},
      {"a version that is not UTF-8", "gpt2",
       [](const Folder& f) {
         put(f / "m/merges.txt", "#version: \xff\n" + content(f / "m/merges.txt"));
       },
       "m/merges.txt: line 1: "},
  };
}

void check_refused(const std::vector<BadFolder>& folders) {
  for (const BadFolder& bad : folders) {
    INFO(bad.what);
    const Folder folder(bad.model);
    bad.damage(folder);
    const Finished run = folder.heed({"import", "m", "--out", "o"});
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.out.empty());
    CHECK(run.err.rfind("heed: error: ", 0) == 0);
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
    CHECK(has(run.err, bad.error));
    CHECK(!folder.has_file("o"));
  }
}

// Exports and imports a run, and compares the bytes of all parameters.
void check_round_trip(const Sandbox& sandbox, const std::string& run, const std::string& format) {
  INFO(run << " to " << format);
  const std::string folder = "to_" + format, again = "again_" + format;
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
    REQUIRE(before.count(key) == 1);
    CHECK(before.at(key) == value);
  }
  for (const auto& [key, value] : before)
    if (key.rfind("tensor ", 0) == 0 && key.rfind("tensor optimizer.", 0) != 0)
      CHECK(after.count(key) == 1);
}

}  // namespace

TEST_CASE("import refuses a damaged configuration in one line and writes nothing",
          "[app][weights]") {
  check_refused(bad_configurations());
}

TEST_CASE("import refuses damaged tensors in one line and writes nothing", "[app][weights]") {
  check_refused(bad_tensors());
}

TEST_CASE("import refuses a damaged vocabulary in one line and writes nothing", "[app][weights]") {
  check_refused(bad_vocabularies());
}

TEST_CASE("an imported GPT-2 continues a text greedily as PyTorch does", "[app][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed({"import", weights("gpt2").string()}).code == 0);
  CHECK(sandbox.has_file("runs/gpt2/checkpoint.safetensors"));
  const Finished again = sandbox.heed({"import", weights("gpt2").string()});
  CHECK(again.code == 1);
  CHECK(has(again.err, "runs/gpt2: has a run already; another --out keeps both, and --replace"));
  CHECK(sandbox.heed({"import", weights("gpt2").string(), "--replace"}).code == 0);
  const Finished sample =
      sandbox.heed({"sample", "gpt2", "--prompt", "the", "--tokens", "20", "--temperature", "0"});
  INFO(sample.err);
  CHECK(sample.code == 0);
  CHECK(sandbox
            .heed({"sample", "gpt2", "--prompt", "the", "--tokens", "20", "--temperature", "0",
                   "--no-cache"})
            .out == sample.out);
  const Finished look = sandbox.heed({"look", "gpt2", "--text", "there on", "--attends-to", "on"});
  INFO(look.err);
  CHECK(look.code == 0);
  CHECK(has(look.out, "The largest attention weights from on at position"));
}

TEST_CASE("look shows the predictions at [MASK] of an imported BERT", "[app][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed({"import", weights("bert").string(), "--out", "b"}).code == 0);
  const std::string text = "i was watching the door when [MASK] opened .";
  const Finished look = sandbox.heed({"look", "b", "--text", text, "--attends-to", "door"});
  INFO(look.err);
  REQUIRE(look.code == 0);
  // PyTorch's probabilities, which make_models.py prints.
  CHECK(has(look.out, "[MASK] at position 7:  heard 0.6995  g 0.2332  [unused4] 0.0106"));
  CHECK(has(look.out, "largest attention weights from [MASK] at position 7 to door at position 5"));
  CHECK(has(look.out, "each token of the text above in turn replaced by [MASK]"));
  const Finished masked = sandbox.heed(
      {"look", "b", "--mask", "it", "--text", "I was watching the door when it opened."});
  CHECK(has(masked.out, "[MASK] at position 7:  heard 0.6995"));
  CHECK(sandbox.heed({"look", "b", "--mask", "sea", "--text", text}).code == 2);
  CHECK(sandbox.heed({"look", "b", "--attends-to", "sea", "--text", text}).code == 2);
  CHECK(sandbox.heed({"look", "b", "--mask", "it"}).code == 2);
  CHECK(sandbox.heed({"look", "b", "--attends-to", "door", "--page", "p.html"}).err ==
        "heed: error: --attends-to applies to neither --tsne nor --page; leave out one of them\n");
  CHECK(sandbox.heed({"look", "b", "--tsne", "--iterations", "20", "--text", text}).code == 0);
  const Finished sample = sandbox.heed({"sample", "b"});
  CHECK(has(sample.err, "its model is not causal, so it cannot generate text"));
}

TEST_CASE("exported models are imported with the same bytes", "[app][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed({"import", weights("gpt2_prefix").string(), "--out", "g"}).code == 0);
  REQUIRE(sandbox.heed({"import", weights("bert").string(), "--out", "b"}).code == 0);
  check_round_trip(sandbox, "g", "gpt2");
  const Finished finished = sandbox.heed(train_tiny);
  REQUIRE(finished.code == 0);
  check_round_trip(sandbox, "o", "nanogpt");
  check_round_trip(sandbox, "b", "pytorch");
  const Finished refused = sandbox.heed({"export", "b", "--to", "nanogpt", "x"});
  CHECK(refused.code == 1);
  CHECK(has(refused.err, "nanoGPT has no bidirectional attention; --to pytorch exports every"));
  CHECK(!sandbox.has_file("x"));
  fs::create_directory(sandbox / "mine");
  put(sandbox / "mine/load.py", "my own");
  CHECK(sandbox.heed({"export", "b", "--to", "pytorch", "mine"}).err ==
        "heed: error: mine/load.py: exists already; give another folder\n");
  CHECK(content(sandbox / "mine/load.py") == "my own");
  CHECK(sandbox.heed({"export", "b", "x"}).code == 2);
  CHECK(sandbox.heed({"export", "b", "--to", "pytorch"}).code == 2);
}

TEST_CASE("import --replace keeps the old run if it fails, and none of it if it succeeds",
          "[app][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history"}).code == 0);
  REQUIRE(sandbox.has_file("o/history"));
  Call call = sandbox.call({});
  const std::string import = " import " + weights("gpt2").string() + " --out o --replace";
  call.arguments = {"/bin/sh", "-c", "ulimit -f 4; exec " HEED_BINARY_DIR "/heed" + import};
  CHECK(run(call).code == 1);
  CHECK(sandbox.has_file("o/history"));
  CHECK(sandbox.has_file("o/loss.csv"));
  CHECK(sandbox.heed({"import", weights("gpt2").string(), "--out", "o", "--replace"}).code == 0);
  CHECK(!sandbox.has_file("o/history/step-20.safetensors"));
  CHECK(!sandbox.has_file("o/loss.csv"));
  CHECK(!sandbox.has_file("o/sample.txt"));
}

TEST_CASE("training continues from an imported nanoGPT model", "[app][weights][train]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--warmup", "0", "--lr", "0.01"}).code == 0);
  REQUIRE(sandbox.heed({"export", "o", "--to", "nanogpt", "x"}).code == 0);
  REQUIRE(sandbox.heed({"import", "x", "--out", "i"}).code == 0);
  const Arguments few = {"--steps", "5", "--eval-batches", "1", "--warmup", "0"};
  const Finished run =
      sandbox.heed(Arguments{"train", "in.txt", "--init", "i", "--out", "n"} + few);
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto loss_after = [](const std::string& csv) {
    return std::stod(csv.substr(csv.find("\n1,") + 3));
  };
  CHECK(loss_after(sandbox.read("n/loss.csv")) < loss_after(sandbox.read("o/loss.csv")) - 0.1);
  const Finished resumed =
      sandbox.heed({"train", "in.txt", "--resume", "--out", "n", "--steps", "8"});
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK(sandbox.heed({"train", "in.txt", "--init", "i", "--out", "k", "--layers", "2"}).code == 2);
  sandbox.write("other.txt", Sandbox::story() + "\u00e9");
  const Finished unknown = sandbox.heed({"train", "other.txt", "--init", "i", "--out", "k"});
  CHECK(unknown.code == 1);
  CHECK(has(unknown.err, "is not in the vocabulary"));
  CHECK(!sandbox.has_file("k"));
}

TEST_CASE("a model in shards is imported like one in a single file", "[app][weights]") {
  const Folder folder("gpt2");
  REQUIRE(folder.heed({"import", "m", "--out", "one"}).code == 0);
  std::string index;
  for (const std::size_t part : {0, 1})
    folder.tensors(
        [&](Tensors& all) {
          const auto middle = all.begin() + 7;
          all = part == 0 ? Tensors(all.begin(), middle) : Tensors(middle, all.end());
          for (const heed::StoredTensor& tensor : all)
            index += (index.empty() ? "" : ",") + ("\"" + tensor.name + "\":\"s") +
                     std::to_string(part) + ".safetensors\"";
        },
        "s" + std::to_string(part) + ".safetensors");
  fs::remove(folder / "m/model.safetensors");
  put(folder / "m/model.safetensors.index.json", "{\"weight_map\":{" + index + "}}");
  const Finished run = folder.heed({"import", "m", "--out", "two"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(state(folder / "one") == state(folder / "two"));
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

TEST_CASE("an export for GPT2LMHeadModel has its tensors and keeps its buffers", "[app][weights]") {
  const Sandbox sandbox;
  const auto script = [&](const Arguments& arguments) {
    return run({Arguments{"/usr/bin/python3"} + arguments, sandbox.path, "", {}});
  };
  if (!fs::exists("/usr/bin/python3") || script({"-c", "import torch"}).code != 0) {
    std::cout << "skipped: there is no /usr/bin/python3 with torch\n";
    return;
  }
  REQUIRE(sandbox.heed({"import", weights("gpt2").string(), "--out", "g"}).code == 0);
  REQUIRE(sandbox.heed({"export", "g", "--to", "gpt2", "x"}).code == 0);
  const Finished loaded = script({"-c", strict_gpt2});
  INFO(loaded.err);
  CHECK(loaded.code == 0);
  CHECK(script({"x/load.py"}).code == 0);
  CHECK(sandbox.has_file("x/pytorch_model.bin"));
  REQUIRE(sandbox.heed({"export", "g", "--to", "pytorch", "p"}).code == 0);
  const Finished names = script({"p/load.py"});
  CHECK(has(names.out, "blocks.0.attention.query.weight (24, 24)"));
}

TEST_CASE("nanoGPT's modules load an export strictly and continue a text as heed does",
          "[app][weights]") {
  const std::string python = "/usr/bin/python3";
  const Sandbox sandbox;
  const auto script = [&](const Arguments& arguments) {
    return run({Arguments{python} + arguments, sandbox.path, "", {}});
  };
  if (!fs::exists(python) || script({"-c", "import torch"}).code != 0) {
    std::cout << "skipped: there is no " << python << " with torch\n";
    return;
  }
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--warmup", "0", "--lr", "0.01"}).code == 0);
  REQUIRE(sandbox.heed({"export", "o", "--to", "nanogpt", "x"}).code == 0);
  const Finished loaded = script({"x/load.py"});
  INFO(loaded.err);
  REQUIRE(loaded.code == 0);
  const Finished peer = script({HEED_TESTS_DIR "/weights/nanogpt.py", "x", "On day", "10"});
  INFO(peer.err);
  CHECK(peer.code == 0);
  CHECK(peer.out ==
        sandbox.heed({"sample", "o", "--prompt", "On day", "--tokens", "10", "--temperature", "0"})
            .out);
  // The reverse: nanoGPT's files become a folder for heed import.
  REQUIRE(script({"x/load.py", "x/ckpt.pt", "y", "x/meta.pkl"}).code == 0);
  REQUIRE(script({HEED_SOURCE_DIR "/tools/weights/pickle_to_safetensors.py", "x/ckpt.pt", "z",
                  "x/meta.pkl"})
              .code == 0);
  for (const char* folder : {"x", "y", "z"}) {
    const Finished imported = sandbox.heed({"import", folder, "--out", std::string("i_") + folder});
    INFO(imported.err);
    REQUIRE(imported.code == 0);
    CHECK(state(sandbox / "i_x") == state(sandbox / (std::string("i_") + folder)));
  }
}
