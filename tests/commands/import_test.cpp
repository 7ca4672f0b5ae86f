// import_test.cpp: heed import, and other commands on an imported run.

#include <set>

#include "commands/imported_folder.hpp"
#include "page/inflated.hpp"

using namespace heed_test;

TEST_CASE("an imported GPT-2 continues a text greedily as PyTorch does", "[commands][weights]") {
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

TEST_CASE("sample gpt2 reads the run that import gpt2 made of the folder gpt2",
          "[commands][weights]") {
  const Sandbox sandbox;
  fs::copy(weights("gpt2"), sandbox / "gpt2");
  const Finished imported = sandbox.heed({"import", "gpt2"});
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  CHECK(files_in(sandbox / "gpt2") == files_in(weights("gpt2")));
  const auto sample = [&](const std::string& run) {
    const Finished finished = sandbox.heed({"sample", run, "--prompt", "the", "--tokens", "20"});
    INFO(finished.err);
    CHECK(finished.code == 0);
    return finished.out;
  };
  CHECK(sample("gpt2") == sample("runs/gpt2"));
}

TEST_CASE("look shows the predictions at [MASK] of an imported BERT", "[commands][weights]") {
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
  CHECK(sandbox.heed({"look", "b", "--page", "-"}).err ==
        "heed: error: --page -: the page is a file; give its name, such as a.html\n");
  CHECK(sandbox.heed({"look", "b", "--tsne", "--iterations", "20", "--text", text}).code == 0);
  CHECK(
      sandbox.heed({"look", "b", "--page", "p.html", "--iterations", "20", "--text", text}).code ==
      0);
  CHECK(has(inflated(content(sandbox / "p.html"), "data"), "door"));
  CHECK(has(sandbox.heed({"inspect", "b"}).out, "blocks.1.attention.query.weight"));
  const Finished sample = sandbox.heed({"sample", "b"});
  CHECK(has(sample.err, "its model is not causal, so it cannot generate text"));
}

TEST_CASE("import --replace keeps the old run if it fails, and none of it if it succeeds",
          "[commands][weights]") {
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

TEST_CASE("import rejects characters of nanoGPT with an id that is none, or is another's",
          "[commands][weights]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  REQUIRE(sandbox.heed({"export", "o", "--to", "nanogpt", "x"}).code == 0);
  const std::string meta = sandbox.read("x/meta.json");
  const auto quotes = static_cast<std::size_t>(std::count(meta.begin(), meta.end(), '"'));
  const std::size_t last = quotes / 2 - 3;  // ids 0 to last; the other two names are keys
  const std::string entry = "\":" + std::to_string(last) + "}";
  REQUIRE(has(meta, entry));
  const std::string range = "; the ids must be 0 to " + std::to_string(last) + "\n";
  for (const auto& [id, reason] : std::vector<std::pair<std::string, std::string>>{
           {"-1", " is -1" + range},
           {"0.5", " is 0.5" + range},
           {std::to_string(last + 1), " is " + std::to_string(last + 1) + range},
           {"0", "x/meta.json: two characters have the id 0\n"}}) {
    std::string changed = meta;
    changed.replace(changed.find(entry) + 2, entry.size() - 3, id);
    sandbox.write("x/meta.json", changed);
    const Finished run = sandbox.heed({"import", "x", "--out", "i"});
    CHECK(run.code == 1);
    CHECK(has(run.err, reason));
    CHECK(!sandbox.has_file("i"));
  }
}

TEST_CASE("training continues from an imported nanoGPT model", "[commands][weights][train]") {
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

TEST_CASE("import accepts keys of config.json that do not change the arithmetic",
          "[commands][weights]") {
  for (const char* model : {"gpt2", "bert"}) {
    const Folder folder(model);
    REQUIRE(folder.heed({"import", "m", "--out", "plain"}).code == 0);
    folder.config("{", R"({"transformers_version": "9.9", "torch_dtype": "float32",
                          "attn_pdrop": 0.1, "hidden_dropout_prob": 0.1, "use_cache": true,
                          "architectures": ["Other"], "task_specific_params": {"a": [1, null]},
                          "a_key_of_the_future": "any value", )");
    const Finished run = folder.heed({"import", "m", "--out", "more"});
    INFO(model << ": " << run.err);
    CHECK(run.code == 0);
    CHECK(run.err == "");
    CHECK(state(folder / "plain") == state(folder / "more"));
  }
}

TEST_CASE("training starts from the weights of any causal run", "[commands][weights][train]") {
  const Sandbox sandbox;
  const Arguments still = {"--steps",        "1", "--lr",      "1e-30", "--min-lr",       "1e-30",
                           "--weight-decay", "0", "--threads", "1",     "--eval-batches", "1"};
  const std::map<std::string, Arguments> runs = {
      {"plain", {}},
      {"bytes", {"--bytes"}},
      {"bpe", {"--tokenizer", "bpe", "--vocab-size", "300"}},
      {"llama", {"--norm", "rms", "--positions", "rotary", "--mlp", "swiglu", "--kv-heads", "1"}}};
  for (const auto& [name, options] : runs) {
    INFO(name);
    REQUIRE(sandbox.heed(Arguments{"train", "in.txt", "--out", name} + tiny + options).code == 0);
    const std::string more = "after_" + name;
    const Finished run =
        sandbox.heed(Arguments{"train", "in.txt", "--init", name, "--out", more} + still);
    INFO(run.err);
    REQUIRE(run.code == 0);
    const auto before = state(sandbox / name), after = state(sandbox / more);
    for (const auto& [key, value] : before)
      if ((key.rfind("tensor ", 0) == 0 && key.rfind("tensor optimizer.", 0) != 0) ||
          key.rfind("vocabulary", 0) == 0 || key.rfind("model.", 0) == 0) {
        INFO(key);
        CHECK(after.count(key) == 1);
        CHECK(after.at(key) == value);
      }
  }
  REQUIRE(sandbox.heed({"import", weights("bert").string(), "--out", "b"}).code == 0);
  const Finished rejected = sandbox.heed({"train", "in.txt", "--init", "b", "--out", "k"});
  CHECK(rejected.code != 0);
  CHECK_FALSE(sandbox.has_file("k"));
}

TEST_CASE("a model in shards is imported like one in a single file", "[commands][weights]") {
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
