// import_rejections_test.cpp: heed import rejects damaged folders.

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "commands/imported_folder.hpp"

using namespace heed_test;

namespace {

struct BadFolder {
  std::string what, model;
  std::function<void(const Folder&)> damage;
  std::string error;  // a part of the message
};

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
      {"another model", "gpt2", config("\"gpt2\"", "\"mistral\""), "'model_type' is 'mistral'"},
      {"1e9 layers", "gpt2", config("\"n_layer\": 2", "\"n_layer\": 1000000000"),
       "describes a model of 1,000,000,000 layers"},
      {"2e9 layers", "gpt2", config("\"n_layer\": 2", "\"n_layer\": 2000000000"),
       "'n_layer' is 2000000000; it must be a whole number from 1 to 1000000000"},
      {"one layer and a half", "gpt2", config("\"n_layer\": 2", "\"n_layer\": 1.5"),
       "'n_layer' is 1.5; it must be a whole number from 1 to 1000000000"},
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

// Each key of config.json with a value that needs a computation which heed does not have.
std::vector<BadFolder> other_computations() {
  struct Key {
    std::string model, name, value;
  };
  std::vector<Key> keys = {{"gpt2", "activation_function", R"("relu")"},
                           {"gpt2", "n_inner", "48"},
                           {"gpt2", "scale_attn_weights", "false"},
                           {"gpt2", "scale_attn_by_inverse_layer_idx", "true"},
                           {"gpt2", "reorder_and_upcast_attn", "true"},
                           {"bert", "hidden_act", R"("relu")"},
                           {"bert", "intermediate_size", "48"},
                           {"bert", "position_embedding_type", R"("relative_key")"},
                           {"bert", "embedding_size", "12"}};
  for (const std::string model : {"gpt2", "bert"}) {
    for (const char* flag : {"is_decoder", "add_cross_attention", "is_encoder_decoder"})
      keys.push_back({model, flag, "true"});
    keys.push_back({model, "pruned_heads", R"({"0": [1]})"});
    keys.push_back({model, "quantization_config", R"({"bits": 4})"});
    keys.push_back({model, "rope_scaling", R"({"factor": 2})"});
  }
  std::vector<BadFolder> folders;
  for (const Key& key : keys) {
    const auto set = [=](const Folder& f) {
      nlohmann::json config = nlohmann::json::parse(content(f / "m/config.json"));
      config[key.name] = nlohmann::json::parse(key.value);
      put(f / "m/config.json", config.dump());
    };
    folders.push_back({key.model + ": " + key.name, key.model, set,
                       "heed: error: m/config.json: '" + key.name + "' is "});
  }
  return folders;
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
      {"a pickle of an old torch.save inside", "gpt2",
       [](const Folder& f) { put(f / "m/model.safetensors", "\x80\2}q" + std::string(200, 'x')); },
       "convert it with tools/weights/pickle_to_safetensors.py"},
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
       "its dtype is I32, not F32, F16, BF16 or F64"},
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
       "names the same tensor as"},
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
      {"a shard with a zero byte in its name", "gpt2",
       [](const Folder& f) {
         fs::rename(f / "m/model.safetensors", f / "m/b");
         put(f / "m/model.safetensors.index.json", R"({"weight_map": {"a": "b\u0000c"}})");
       },
       "tensor 'a': its file is 'b\\x00c'; give the name of a file beside the index"},
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
      {"empty merges", "gpt2", [](const Folder& f) { put(f / "m/merges.txt", ""); },
       "m/merges.txt: no line makes 8 of the tokens, such as "},
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
      {"capital letters in the vocabulary", "bert",
       [](const Folder& f) { f.replace("vocab.txt", "\nheard\n", "\nHeard\n"); },
       "m/vocab.txt: has the token 'Heard', as the vocabulary of a cased model has; heed imports "
       "uncased models of BERT. If this one is uncased, write {\"do_lower_case\": true} to "
       "m/tokenizer_config.json"},
      {"a space before the text", "gpt2",
       [](const Folder& f) { put(f / "m/tokenizer_config.json", R"({"add_prefix_space": true})"); },
       "'add_prefix_space' is true; heed imports models of GPT-2 whose tokenizer adds no space"},
      {"a version that is not UTF-8", "gpt2",
       [](const Folder& f) {
         put(f / "m/merges.txt", "#version: \xff\n" + content(f / "m/merges.txt"));
       },
       "m/merges.txt: line 1: "},
  };
}

// The settings of tokenizer.json, as Hugging Face ships it.
const nlohmann::json bert_tokenizer = nlohmann::json::parse(R"({
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                 "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {"[PAD]": 0}}})");
const nlohmann::json gpt2_tokenizer = nlohmann::json::parse(R"({
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true},
  "model": {"type": "BPE", "dropout": null, "vocab": {"!": 0}}})");

// A tokenizer.json, tokenizer_config.json or config.json with one setting that heed lacks.
std::vector<BadFolder> other_tokenizers() {
  std::vector<BadFolder> folders;
  const auto add = [&](const std::string& model, const std::string& pointer,
                       const std::string& value) {
    const auto damage = [=](const Folder& f) {
      nlohmann::json json = model == "bert" ? bert_tokenizer : gpt2_tokenizer;
      json[nlohmann::json::json_pointer(pointer)] = nlohmann::json::parse(value);
      put(f / "m/tokenizer.json", json.dump());
    };
    std::string key = pointer.substr(1);
    std::replace(key.begin(), key.end(), '/', '.');
    folders.push_back({model + pointer, model, damage, "m/tokenizer.json: '" + key + "' is "});
  };
  add("bert", "/normalizer/lowercase", "false");
  add("bert", "/normalizer/strip_accents", "false");
  add("bert", "/normalizer/handle_chinese_chars", "false");
  add("bert", "/normalizer/clean_text", "false");
  add("bert", "/normalizer/type", R"("Sequence")");
  add("bert", "/normalizer", "null");
  add("bert", "/pre_tokenizer/type", R"("Whitespace")");
  add("bert", "/model/type", R"("Unigram")");
  add("bert", "/model/continuing_subword_prefix", R"("@@")");
  add("gpt2", "/normalizer", R"({"type": "NFC"})");
  add("gpt2", "/pre_tokenizer/add_prefix_space", "true");
  add("gpt2", "/pre_tokenizer/type", R"("Sequence")");
  add("gpt2", "/model/type", R"("Unigram")");
  folders.push_back({"Japanese words", "bert",
                     [](const Folder& f) {
                       put(f / "m/tokenizer_config.json",
                           R"({"tokenizer_class": "BertJapaneseTokenizer"})");
                     },
                     "m/tokenizer_config.json: 'tokenizer_class' is 'BertJapaneseTokenizer'; heed "
                     "has the tokenizer of BERT, BertTokenizer\n"});
  folders.push_back(
      {"Japanese words in config.json", "bert",
       [](const Folder& f) { f.config("{", R"({"tokenizer_class": "BertJapaneseTokenizer",)"); },
       "m/config.json: 'tokenizer_class' is 'BertJapaneseTokenizer'; heed has"});
  return folders;
}

// Changes a byte in the middle of the tensors, which are most of the file, so that every number
// stays finite.
void change_byte(const fs::path& file) {
  std::string bytes = content(file);
  bytes[bytes.size() / 2 / 4 * 4] ^= 1;  // the lowest bits of a number
  put(file, bytes);
}

void check_rejected(const std::vector<BadFolder>& folders) {
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

}  // namespace

TEST_CASE("import rejects a damaged configuration in one line and writes nothing",
          "[commands][weights]") {
  check_rejected(bad_configurations());
}

TEST_CASE("import rejects by its name each key of config.json that needs another computation",
          "[commands][weights]") {
  check_rejected(other_computations());
}

TEST_CASE("import rejects damaged tensors in one line and writes nothing", "[commands][weights]") {
  check_rejected(bad_tensors());
}

TEST_CASE("import rejects a damaged vocabulary in one line and writes nothing",
          "[commands][weights]") {
  check_rejected(bad_vocabularies());
}

TEST_CASE("import rejects by its name each setting of a tokenizer that heed lacks",
          "[commands][weights]") {
  check_rejected(other_tokenizers());
}

TEST_CASE("import reads folders with the tokenizer.json of GPT-2 and of uncased BERT",
          "[commands][weights]") {
  for (const std::string model : {"gpt2", "bert"}) {
    const Folder folder(model);
    REQUIRE(folder.heed({"import", "m", "--out", "plain"}).code == 0);
    put(folder / "m/tokenizer.json", (model == "bert" ? bert_tokenizer : gpt2_tokenizer).dump());
    put(folder / "m/tokenizer_config.json",
        model == "bert" ? R"({"do_lower_case": true, "tokenizer_class": "BertTokenizer"})"
                        : R"({"add_prefix_space": false, "tokenizer_class": "GPT2Tokenizer"})");
    const Finished run = folder.heed({"import", "m", "--out", "o"});
    INFO(run.err);
    CHECK(run.code == 0);
    CHECK(state(folder / "plain") == state(folder / "o"));
  }
  // A setting decides before the vocabulary does.
  const Folder folder("bert");
  folder.replace("vocab.txt", "\nheard\n", "\nHeard\n");
  put(folder / "m/tokenizer_config.json", R"({"do_lower_case": true})");
  CHECK(folder.heed({"import", "m", "--out", "o"}).code == 0);
}

TEST_CASE("import rejects a folder whose name gives no name for the run", "[commands][weights]") {
  const Folder folder("gpt2");
  for (const char* name : {".", "..", "/", "m/..", "../"}) {
    const Finished run = folder.heed({"import", name});
    CHECK(run.code == 2);
    CHECK(run.err == "heed: error: FOLDER '" + std::string(name) +
                         "': its name gives no name for the run's folder; give --out\n");
    CHECK(!folder.has_file("runs"));
  }
}

TEST_CASE("import rejects a file that heed wrote and whose tensors changed afterwards",
          "[commands][weights]") {
  for (const char* format : {"gpt2", "pytorch"}) {
    INFO(format);
    const Folder folder("gpt2");
    REQUIRE(folder.heed({"import", "m", "--out", "o"}).code == 0);
    REQUIRE(folder.heed({"export", "o", "--to", format, "e"}).code == 0);
    change_byte(folder / "e/model.safetensors");
    const Finished run = folder.heed({"import", "e", "--out", "copy"});
    CHECK(run.code == 1);
    CHECK(
        run.err ==
        "heed: error: e/model.safetensors: checksum: the tensors changed after they were saved\n");
    CHECK(!folder.has_file("copy"));
  }
}

TEST_CASE("import rejects a changed shard that heed wrote", "[commands][weights]") {
  const Folder folder("gpt2");
  std::string map;
  folder.tensors(
      [&](Tensors& all) {
        for (const heed::StoredTensor& tensor : all)
          map += (map.empty() ? "\"" : ", \"") + tensor.name + "\": \"b.safetensors\"";
      },
      "b.safetensors");
  fs::remove(folder / "m/model.safetensors");
  put(folder / "m/model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
  REQUIRE(folder.heed({"import", "m", "--out", "o"}).code == 0);
  change_byte(folder / "m/b.safetensors");
  CHECK(folder.heed({"import", "m", "--out", "p"}).err ==
        "heed: error: m/b.safetensors: checksum: the tensors changed after they were saved\n");
  CHECK(!folder.has_file("p"));
}
