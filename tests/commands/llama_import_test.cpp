// llama_import_test.cpp: heed import of Hugging Face's Llama layout, and what it rejects.

#include <cstring>
#include <nlohmann/json.hpp>

#include "commands/imported_folder.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;

namespace {

using Json = nlohmann::json;

// A change of config.json: a key, and its new value as JSON; without a value, the key is removed.
struct Change {
  std::string key, value, error;  // a part of the message
};

void apply(const Change& change, const Folder& f) {
  Json config = Json::parse(content(f / "m/config.json"));
  if (change.value.empty())
    config.erase(change.key);
  else
    config[change.key] = Json::parse(change.value);
  put(f / "m/config.json", config.dump());
}

void check_rejected(const Folder& f, const std::string& error) {
  const Finished run = f.heed({"import", "m", "--out", "o"});
  INFO(error << " in " << run.err);
  CHECK(run.code == 1);
  CHECK(run.err.rfind("heed: error: ", 0) == 0);
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  CHECK(has(run.err, error));
  CHECK_FALSE(f.has_file("o"));
}

void remove_tensor(const Folder& f, const std::string& name) {
  f.tensors([&](Tensors& all) {
    all.erase(std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.name == name; }));
  });
}

}  // namespace

TEST_CASE("models of Llama's family are imported, sampled and shown",
          "[commands][weights][llama]") {
  for (const std::string name : {"llama", "llama_bf16", "qwen2"}) {
    INFO(name);
    const Folder f(name);
    const Finished imported = f.heed({"import", "m"});
    INFO(imported.err);
    REQUIRE(imported.code == 0);
    CHECK(has(imported.out, "model  m: a Llama, 2 layers, 4 heads per layer, width 16: "));
    const Arguments greedy = {"sample",   "runs/m", "--prompt",      "the",
                              "--tokens", "40",     "--temperature", "0"};
    const Finished sample = f.heed(greedy);
    INFO(sample.err);
    CHECK(sample.code == 0);
    CHECK(f.heed(greedy + Arguments{"--no-cache", "--threads", "2"}).out == sample.out);
    CHECK(f.heed(greedy + Arguments{"--weights", "bf16"}).code == 0);
    CHECK(f.heed({"look", "runs/m", "--text", "there on"}).code == 0);
    CHECK(f.heed({"look", "runs/m", "--text", "there on", "--page", "p.html"}).code == 0);
    REQUIRE(f.heed({"export", "runs/m", "e", "--to", "pytorch"}).code == 0);
    REQUIRE(f.heed({"import", "e"}).code == 0);
    CHECK(f.heed({"sample", "e", "--prompt", "the", "--tokens", "40", "--temperature", "0"}).out ==
          sample.out);
  }
}

TEST_CASE("each key of a Llama's config.json is checked", "[commands][import][llama]") {
  const std::string only_none = "; heed supports only null",
                    only_false = "; heed supports only false";
  const std::vector<Change> changes = {
      {"hidden_size", "", "m/config.json: the key 'hidden_size' is missing"},
      {"intermediate_size", "", "the key 'intermediate_size' is missing"},
      {"num_hidden_layers", "0", "'num_hidden_layers' is 0; it must be a whole number from 1"},
      {"num_hidden_layers", "1000000000", "describes a model of 1,000,000,000 layers"},
      {"num_hidden_layers", "3", "m: no tensor 'layers.2.input_layernorm.weight' (16)"},
      {"num_attention_heads", "3", "'hidden_size' is 16, which is not divisible by 'num_att"},
      {"num_attention_heads", "16", "the width of a head is 1, but rotary positions need an even"},
      {"num_key_value_heads", "3", "'num_key_value_heads' is 3, which does not divide 'num_atten"},
      {"num_key_value_heads", "",
       "layers.0.self_attn.k_proj.weight': has shape (8, 16), the model"},
      {"head_dim", "3", "the width of a head is 3, but rotary positions need an even one"},
      {"head_dim", "6",
       "layers.0.self_attn.q_proj.weight': has shape (16, 16), the model needs (24"},
      {"head_dim", "1000000000", "describes a model of "},
      {"intermediate_size", "21", "layers.0.mlp.gate_proj.weight': has shape (20, 16), the model"},
      {"max_position_embeddings", "131073",
       "'max_position_embeddings' is 131073; heed supports at"},
      {"vocab_size", "264", "config.json has a vocab_size of 264, but the vocabulary has 265"},
      {"rms_norm_eps", "-1", "'rms_norm_eps' is -1; it must be a number between 0 and 1"},
      {"rope_theta", "0", "'rope_theta' is 0; it must be a number above 0"},
      {"rope_theta", "\"x\"", "'rope_theta' is 'x'; it must be a number above 0"},
      {"rope_scaling", R"({"type": "linear", "factor": 2})",
       "'rope_scaling' has the type 'linear'; heed supports only rotary positions without scaling"},
      {"rope_scaling", R"({"rope_type": "llama3", "factor": 8.0})",
       "'rope_scaling' has the rope_type 'llama3'; heed supports only rotary positions"},
      {"rope_scaling", "2", "'rope_scaling' is 2" + only_none},
      {"rope_parameters", R"({"rope_type": "yarn", "rope_theta": 1e6})", "'rope_parameters' is {"},
      {"rope_parameters", "{}", "'rope_parameters' is {}; heed supports only the rope_type"},
      {"sliding_window", "4096", "'sliding_window' is 4096" + only_none},
      {"use_sliding_window", "true", "'use_sliding_window' is true" + only_false},
      {"layer_types", R"(["sliding_attention"])", "'layer_types' has 'sliding_attention'; heed"},
      {"layer_types", "1", "'layer_types' is 1; it must be a list"},
      {"attention_bias", "true", "'attention_bias' is true and 'mlp_bias' is false; heed supports"},
      {"mlp_bias", "true", "'attention_bias' is false and 'mlp_bias' is true; heed supports both"},
      {"attn_logit_softcapping", "50.0", "'attn_logit_softcapping' is 50.0" + only_none},
      {"final_logit_softcapping", "30.0", "'final_logit_softcapping' is 30.0" + only_none},
      {"query_pre_attn_scalar", "256", "'query_pre_attn_scalar' is 256" + only_none},
      {"partial_rotary_factor", "0.5", "'partial_rotary_factor' is 0.5; heed supports only 1"},
      {"rope_interleaved", "true", "'rope_interleaved' is true" + only_false},
      {"use_mrope", "true", "'use_mrope' is true" + only_false},
      {"qk_layernorm", "true", "'qk_layernorm' is true" + only_false},
      {"embedding_multiplier", "12.0", "'embedding_multiplier' is 12.0" + only_none},
      {"logits_scaling", "8.0", "'logits_scaling' is 8.0" + only_none},
      {"num_local_experts", "8", "'num_local_experts' is 8" + only_none},
      {"quantization_config", R"({"bits": 4})", "'quantization_config' is an object" + only_none},
      {"hidden_act", "\"gelu\"", "'hidden_act' is 'gelu'; heed supports only \"silu\""},
      {"tie_word_embeddings", "true", "tensor 'lm_head.weight': differs from the tensor of 'token"},
      {"model_type", "\"qwen2\"", "m: no tensor 'layers.0.self_attn.q_proj.bias' (16)"},
      {"model_type", "\"mistral\"",
       "'model_type' is 'mistral'; heed imports gpt2, bert, llama, qwen2"}};
  for (const Change& change : changes) {
    const Folder f("llama");
    apply(change, f);
    check_rejected(f, change.error);
  }
}

TEST_CASE("values of a Llama's config.json that change nothing are accepted",
          "[commands][import][llama]") {
  for (const Change& change : std::vector<Change>{{"partial_rotary_factor", "1.0", ""},
                                                  {"layer_types", R"(["full_attention"])", ""},
                                                  {"rope_scaling", "null", ""},
                                                  {"head_dim", "4", ""},
                                                  {"head_dim", "null", ""},
                                                  {"pretraining_tp", "1", ""},
                                                  {"rope_theta", "", ""}}) {
    const Folder f("llama");
    apply(change, f);
    const Finished run = f.heed({"import", "m"});
    INFO(change.key << ": " << run.err);
    CHECK(run.code == 0);
  }
  const Folder f("llama");
  apply({"rope_theta", "", ""}, f);
  apply({"rope_parameters", R"({"rope_type": "default", "rope_theta": 500.0})", ""}, f);
  REQUIRE(f.heed({"import", "m"}).code == 0);
  CHECK(has(f.heed({"inspect", "m"}).out, "'model.rope_theta' = '500'"));
}

TEST_CASE("keys that a Llama's config.json may leave out have the values of transformers",
          "[commands][import][llama]") {
  const Folder f("llama_bf16");  // has the theta 100000 and the epsilon 0.001
  apply({"rope_theta", "", ""}, f);
  apply({"rms_norm_eps", "", ""}, f);
  REQUIRE(f.heed({"import", "m"}).code == 0);
  const auto saved = state(f / "runs/m");
  CHECK(saved.count("model.rope_theta") == 0);  // heed's own value, 10000
  CHECK(saved.at("model.norm_eps") == "1e-06");
}

namespace {

// A part of a Llama's shards that is damaged, and a part of the message.
struct BadShard {
  std::function<void(const Folder&)> damage;
  std::string error;
};

const std::string first_shard = "model-00001-of-00002.safetensors",
                  second_shard = "model-00002-of-00002.safetensors",
                  index_file = "model.safetensors.index.json";

std::vector<BadShard> bad_shards() {
  const auto in_index = [](const std::string& from, const std::string& to) {
    return [=](const Folder& f) { f.replace(index_file, from, to); };
  };
  const std::string norm = "\"model.norm.weight\": \"";
  return {
      {[](const Folder& f) { fs::remove(f / "m" / second_shard); },
       "m/" + second_shard + ": No such file or directory"},
      {[](const Folder& f) { fs::resize_file(f / "m" / second_shard, 2000); },
       "m/" + second_shard + ": truncated"},
      {[](const Folder& f) { fs::resize_file(f / "m" / first_shard, 4); }, "m/" + first_shard},
      {[](const Folder& f) { put(f / "m" / first_shard, "version https://git-lfs.github.com/s"); },
       "m/" + first_shard},
      {[](const Folder& f) { fs::remove(f / "m" / index_file); },
       "m: has neither model.safetensors nor model.safetensors.index.json"},
      {[](const Folder& f) { put(f / "m" / index_file, "{\"weight_map\": {}}"); },
       "m/model.safetensors.index.json: the key 'weight_map' is missing or is no object"},
      {in_index(norm, "\"model.more\": \"model-00003-of-00002.safetensors\", " + norm),
       "m/model-00003-of-00002.safetensors: No such file or directory"},
      {in_index(first_shard, second_shard),
       "m/" + first_shard + ": tensor 'model.embed_tokens.weight': the index does not list it"},
      {in_index(norm, "\"model.norm.bias\": \""),
       "m/" + second_shard + ": tensor 'model.norm.weight': the index does not list it"},
      {in_index(norm, "\"model.extra\": \"" + first_shard + "\", " + norm),
       "no tensor 'model.extra', which the index lists"},
      {in_index(norm, "\"model.norm.gone\": 1, " + norm),
       "tensor 'model.norm.gone': its file is 1; give the name of a file beside the index"}};
}

}  // namespace

TEST_CASE("damaged shards of a Llama are rejected", "[commands][import][llama]") {
  for (const BadShard& bad : bad_shards()) {
    const Folder f("llama_bf16");
    bad.damage(f);
    check_rejected(f, bad.error);
  }
}

TEST_CASE("a Llama's tensors are checked", "[commands][import][llama]") {
  const Folder missing("llama"), extra("llama"), untied("llama"), prefix("llama");
  remove_tensor(missing, "model.layers.1.mlp.up_proj.weight");
  check_rejected(missing, "m: no tensor 'layers.1.mlp.up_proj.weight' (20, 16)");
  extra.tensors([&](Tensors& all) {
    all.push_back(extra.find(all, "model.norm.weight"));
    all.back().name = "model.layers.0.self_attn.q_norm.weight";
  });
  check_rejected(extra,
                 "'model.layers.0.self_attn.q_norm.weight': belongs to no parameter of this");
  const Folder half("llama"), turned("llama"), numbers("llama"), whole("llama");
  half.tensors(
      [&](Tensors& all) { half.find(all, "model.embed_tokens.weight").shape = {265 * 16}; });
  check_rejected(half,
                 "tensor 'model.embed_tokens.weight': has shape (4240), the model needs (265");
  turned.tensors([&](Tensors& all) {
    turned.find(all, "model.layers.0.mlp.down_proj.weight").shape = {20, 16};
  });
  check_rejected(turned, "down_proj.weight': has shape (20, 16), the model needs (16, 20)");
  numbers.tensors([&](Tensors& all) { numbers.find(all, "lm_head.weight").dtype = "I32"; });
  check_rejected(numbers, "'lm_head.weight': its dtype is I32, not F32, F16, BF16 or F64");
  whole.tensors([&](Tensors& all) {
    heed::StoredTensor& tensor = whole.find(all, "model.layers.1.self_attn.k_proj.weight");
    std::memset(const_cast<unsigned char*>(tensor.data), 0xff, 4);  // the file is not const
  });
  check_rejected(whole,
                 "'model.layers.1.self_attn.k_proj.weight': element 0 is -nan, which is not");
  remove_tensor(untied, "lm_head.weight");
  check_rejected(untied, "m: no tensor 'lm_head.weight' (265, 16)");
  prefix.tensors([&](Tensors& all) {  // as LlamaModel saves them, and a buffer of old files
    for (heed::StoredTensor& tensor : all)
      if (tensor.name.rfind("model.", 0) == 0) tensor.name = tensor.name.substr(6);
    all.push_back(prefix.find(all, "norm.weight"));
    all.back().name = "layers.0.self_attn.rotary_emb.inv_freq";
  });
  CHECK(prefix.heed({"import", "m"}).code == 0);
}

namespace {

// The tokenizer.json with the tokens of the folder's vocab.json and merges.txt.
Json tokenizer_json(const Folder& f) {
  Json merges = Json::array();
  for (const std::string& line : heed::lines_of(content(f / "m/merges.txt")))
    if (line.rfind("#version", 0) != 0) merges.push_back(line);
  return {
      {"normalizer", nullptr},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
      {"added_tokens", Json::array()},
      {"model",
       {{"type", "BPE"}, {"vocab", Json::parse(content(f / "m/vocab.json"))}, {"merges", merges}}}};
}

// A value in tokenizer.json, and a part of the message.
struct BadToken {
  std::string pointer, value, error;
};

}  // namespace

TEST_CASE("a damaged tokenizer.json of a Llama is rejected", "[commands][import][llama]") {
  const Folder f("llama");
  const Json good = tokenizer_json(f);
  for (const BadToken& bad : std::vector<BadToken>{
           {"/model/vocab/!", "265", ": no token has the id 0; the ids must have no holes"},
           {"/model/vocab/!", "1", ": id 1 has the tokens "},
           {"/model/vocab/!", "\"0\"", ": token '!': its id is \"0\", not a whole number"},
           {"/model/vocab", "{}", ": a merge makes or joins "},
           {"/model/merges/0", "\"! !\"", ": a merge makes or joins '!!', which is no token"},
           {"/model/merges", "null", ": 'model.merges' is missing or has the wrong type"},
           {"/model/type", "\"Unigram\"", ": 'model' is of the type 'Unigram'; heed reads"},
           {"/model/byte_fallback", "true", ": 'model.byte_fallback' is true; heed reads"},
           {"/normalizer", R"({"type": "NFKC"})", ": 'normalizer' is of the type 'NFKC'"},
           {"/pre_tokenizer", R"({"type": "Metaspace"})", "'pre_tokenizer' is of the type 'Meta"},
           {"/post_processor", R"({"type": "BertProcessing"})", "'post_processor' is of the type"},
           {"/added_tokens/0", R"({"id": 265, "content": "<more>"})",
            "config.json has a vocab_size of 265, but the vocabulary has 266 tokens"}}) {
    Json json = good;
    json[Json::json_pointer(bad.pointer)] = Json::parse(bad.value);
    put(f / "m/tokenizer.json", json.dump());
    check_rejected(f, bad.error);
  }
  put(f / "m/tokenizer.json", good.dump().substr(0, 2000));
  check_rejected(f, "m/tokenizer.json: is not valid JSON in UTF-8 at its byte 2001; download");
  put(f / "m/tokenizer.json", "");
  check_rejected(f, "m/tokenizer.json: is not valid JSON in UTF-8 at its byte 1; download");
}

TEST_CASE("a tokenizer.json with fewer tokens than the embedding has rows, as of Qwen2",
          "[commands][import][llama]") {
  const Folder f("qwen2");
  Json json = tokenizer_json(f);
  json["normalizer"] = {{"type", "NFC"}};
  for (const char* token : {"<|endoftext|>", "her"}) json["model"]["vocab"].erase(token);
  const std::size_t tokens = json["model"]["vocab"].size();
  REQUIRE(tokens < 265);
  INFO(json.dump());
  put(f / "m/tokenizer.json", json.dump());
  const Finished run = f.heed({"import", "m"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(has(run.out, "vocab  265 tokens\n"));
  CHECK(f.heed({"sample", "m", "--prompt", "on", "--tokens", "30"}).code == 0);
  const Finished special = f.heed({"sample", "m", "--tokens", "1", "--special", "--prompt",
                                   "<|unused " + std::to_string(tokens) + "|>"});
  CHECK(special.code == 0);
  REQUIRE(f.heed({"export", "m", "e", "--to", "llama"}).code == 0);
  REQUIRE(f.heed({"import", "e"}).code == 0);
  CHECK(state(f / "runs/m") == state(f / "runs/e"));
}

TEST_CASE("a Llama needs a tokenizer that heed reads", "[commands][import][llama]") {
  const Folder none("llama"), other("llama"), pieces("llama");
  fs::remove(none / "m/merges.txt");
  check_rejected(none, "m: has neither tokenizer.vocab nor tokenizer.json\n");
  put(none / "m/tokenizer.model", "x");
  check_rejected(none,
                 "; spm_export_vocab --model=tokenizer.model --output=tokenizer.vocab writes");
  put(other / "m/tokenizer_config.json", R"({"tokenizer_class": "Qwen2Tokenizer"})");
  check_rejected(other, "m/tokenizer_config.json: 'tokenizer_class' is 'Qwen2Tokenizer'; heed");
  std::string vocab = "<unk>\t0\n<s>\t0\n</s>\t0\n";
  for (std::size_t byte = 0; byte < 256; ++byte)
    vocab += heed::hexadecimal("<0x%02llX>", byte) + "\t0\n";
  put(pieces / "m/tokenizer.vocab", vocab + "\u2581\t-1\n");
  check_rejected(pieces, "config.json has a vocab_size of 265, but the vocabulary has 260 tokens");
  put(pieces / "m/tokenizer.vocab", vocab + "a\t-1\nb\t-2\nc\t-3\nd\t-4\ne\t-5\n\u2581\t-6\n");
  REQUIRE(pieces.heed({"import", "m"}).code == 0);
  CHECK(pieces.heed({"sample", "m", "--prompt", "abc"}).code == 0);
}
