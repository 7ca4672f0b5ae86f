// config.cpp: reads and writes config.json, and reads the index of a sharded model.

#include "files/hugging_face/config.hpp"

#include "files/hugging_face/config_keys.hpp"
#include "files/hugging_face/llama_config.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

constexpr std::size_t max_index_bytes = 4'000'000;

void require_common(const ConfigKeys& config) {
  for (const char* key : {"is_decoder", "add_cross_attention", "is_encoder_decoder"})
    config.require(key, false);
  for (const char* key : {"pruned_heads", "quantization_config", "rope_scaling"})
    config.require(key, Json::Object());
}

void check_heads(const ConfigKeys& config, const nn::GptConfig& model, const char* width,
                 const char* heads) {
  if (model.embed_dim % model.heads != 0)
    throw_error(config.file(), ": '", width, "' is ", model.embed_dim,
                ", which is not divisible by '", heads, "' ", model.heads);
}

nn::GptConfig gpt2_config(const ConfigKeys& config, bool nanogpt) {
  nn::GptConfig model;
  model.layers = config.size("n_layer");
  model.heads = config.size("n_head");
  model.embed_dim = config.size("n_embd");
  model.vocab_size = config.size("vocab_size");
  model.block_size = config.size(nanogpt ? "block_size" : "n_positions");
  check_heads(config, model, "n_embd", "n_head");
  model.bias = nanogpt ? config.flag("bias", true) : true;
  if (nanogpt) return model;
  model.gelu = config.gelu("activation_function", "gelu_new");
  model.norm_eps = config.epsilon("layer_norm_epsilon", 1e-5);
  model.tied = config.flag("tie_word_embeddings", true);
  config.require("n_inner", 4 * model.embed_dim);
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("reorder_and_upcast_attn", false);
  require_common(config);
  return model;
}

nn::GptConfig bert_config(const ConfigKeys& config) {
  nn::GptConfig model;
  model.layers = config.size("num_hidden_layers");
  model.heads = config.size("num_attention_heads");
  model.embed_dim = config.size("hidden_size");
  model.vocab_size = config.size("vocab_size");
  model.block_size = config.size("max_position_embeddings");
  model.token_types = config.has("type_vocab_size") ? config.size("type_vocab_size") : 2;
  check_heads(config, model, "hidden_size", "num_attention_heads");
  model.bias = model.post_norm = model.masked_lm_head = true;
  model.causal = false;
  model.gelu = config.gelu("hidden_act", "gelu");
  model.norm_eps = config.epsilon("layer_norm_eps", 1e-12);
  model.tied = config.flag("tie_word_embeddings", true);
  config.require("intermediate_size", 4 * model.embed_dim);
  config.require("position_embedding_type", "absolute");
  config.require("embedding_size", model.embed_dim);
  require_common(config);
  return model;
}

// Old files have no model_type; then the names of the sizes tell GPT-2 and BERT apart.
std::string model_type(const ConfigKeys& config) {
  if (config.has("model_type")) return config.text("model_type", "");
  return config.has("n_embd") ? "gpt2" : config.has("hidden_size") ? "bert" : "";
}

Metadata metadata_in(const ConfigKeys& config) {
  if (!config.has("metadata") || !config.at("metadata").is<Json::Object>())
    throw_error(config.file(), ": the key 'metadata' is missing or is no object");
  Metadata metadata;
  for (const auto& [key, value] : config.at("metadata").get<Json::Object>()) {
    if (!value.is<std::string>())
      throw_error(config.file(), ": metadata ", in_quotes(key), " must be a string");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

Json gpt2_json(const nn::GptConfig& c, const Vocabulary& vocabulary) {
  // Without the two keys, transformers takes GPT-2's own 50256, and generate() stops at that token.
  const auto id = vocabulary.end_of_text();
  const Json end = id ? Json(*id) : Json(nullptr);
  return {{"model_type", "gpt2"},
          {"architectures", {"GPT2LMHeadModel"}},
          {"n_layer", c.layers},
          {"n_head", c.heads},
          {"n_embd", c.embed_dim},
          {"n_positions", c.block_size},
          {"n_ctx", c.block_size},
          {"vocab_size", c.vocab_size},
          {"activation_function", c.gelu == Gelu::erf ? "gelu" : "gelu_new"},
          {"layer_norm_epsilon", c.norm_eps},
          {"tie_word_embeddings", c.tied},
          {"resid_pdrop", 0.0},
          {"embd_pdrop", 0.0},
          {"attn_pdrop", 0.0},
          {"bos_token_id", end},
          {"eos_token_id", end}};
}

}  // namespace

ForeignConfig read_config(const std::filesystem::path& folder) {
  const ConfigKeys config(folder / "config.json");
  const std::string type = model_type(config);
  if (type == "gpt2") return {Source::gpt2, gpt2_config(config, false), {}};
  if (type == "nanogpt") return {Source::nanogpt, gpt2_config(config, true), {}};
  if (type == "bert") return {Source::bert, bert_config(config), {}};
  if (type == "llama" || type == "qwen2") return {Source::llama, llama_config(config, type), {}};
  if (type == "heed") return {Source::heed, {}, metadata_in(config)};
  throw_error(config.file(), ": 'model_type' is ", in_quotes(type),
              "; heed imports gpt2, bert, llama, qwen2, nanogpt and heed");
}

std::string config_text(Source source, const nn::GptConfig& c, const Vocabulary& vocabulary) {
  Json json;
  if (source == Source::heed)
    json = {{"model_type", "heed"}, {"metadata", model_metadata(c, vocabulary)}};
  else if (source == Source::nanogpt)
    json = {{"model_type", "nanogpt"},    {"n_layer", c.layers},
            {"n_head", c.heads},          {"n_embd", c.embed_dim},
            {"block_size", c.block_size}, {"bias", c.bias},
            {"vocab_size", c.vocab_size}, {"dropout", 0.0}};
  else
    json = source == Source::llama ? llama_json(c, vocabulary) : gpt2_json(c, vocabulary);
  return json.dump(2) + "\n";
}

std::map<std::string, std::string> read_index(const std::filesystem::path& path) {
  const Json json = parsed_object(path, max_index_bytes);
  const Json* const map = json.find("weight_map");
  if (map == nullptr || !map->is<Json::Object>() || map->get<Json::Object>().empty())
    throw_error(path.string(), ": the key 'weight_map' is missing or is no object");
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : map->get<Json::Object>()) {
    const std::string text = file.is<std::string>() ? file.get<std::string>() : "";
    const bool separated = text.find_first_of(std::string_view("/\0", 2)) != text.npos;
    if (text.empty() || separated || text[0] == '.')
      throw_error(path.string(), ": tensor ", in_quotes(name), ": its file is ", short_text(file),
                  "; give the name of a file beside the index");
    files[name] = text;
  }
  return files;
}

}  // namespace HEED_NAMESPACE::hugging_face
