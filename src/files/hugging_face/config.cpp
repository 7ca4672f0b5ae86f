// config.cpp: reads and writes config.json, and reads the index of a sharded model.

#include "files/hugging_face/config.hpp"

#include <cmath>
#include <utility>

#include "files/hugging_face/json.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

constexpr std::size_t max_config_bytes = 1'000'000, max_index_bytes = 4'000'000;

// The keys of config.json, with their checks.
class Config {
 public:
  explicit Config(std::filesystem::path path)
      : path_(std::move(path)), json_(parsed_object(path_, max_config_bytes)) {}

  const std::string file() const { return path_.string(); }
  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }
  const Json& at(const char* key) const { return json_.at(key); }

  std::size_t size(const char* key) const {
    if (!has(key)) throw_error(file(), ": the key '", key, "' is missing");
    const Json& value = json_.at(key);
    if (!value.is<std::uint64_t>() || value.get<std::uint64_t>() == 0 ||
        value.get<std::uint64_t>() > 1'000'000'000)
      throw_error(file(), ": '", key, "' is ", short_text(value),
                  "; it must be a whole number from 1 to 1000000000");
    return value.get<std::uint64_t>();
  }

  // The value of a key, which must have type T; `kind` names the type in the error.
  template <class T>
  T value(const char* key, T otherwise, const char* kind) const {
    if (!has(key)) return otherwise;
    if (!json_.at(key).is<T>())
      throw_error(file(), ": '", key, "' is ", short_text(json_.at(key)), "; it must be ", kind);
    return json_.at(key).get<T>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    return value(key, otherwise, "a string");
  }
  bool flag(const char* key, bool otherwise) const {
    return value(key, otherwise, "true or false");
  }

  double epsilon(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    const Json& value = json_.at(key);
    if (!value.is_number() || !(value.number() > 0 && value.number() < 1))
      throw_error(file(), ": '", key, "' is ", short_text(value),
                  "; it must be a number between 0 and 1");
    return value.number();
  }

  Gelu gelu(const char* key, const std::string& otherwise) const {
    const std::string name = text(key, otherwise);
    if (name == "gelu") return Gelu::erf;
    if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Gelu::tanh;
    throw_error(file(), ": '", key, "' is ", in_quotes(name),
                "; heed has gelu, gelu_new and gelu_pytorch_tanh");
  }

  // Throws Error if config.json sets `key` to a value other than `supported` (such as another
  // activation function).
  void require(const char* key, const Json& supported) const {
    if (!has(key) || json_.at(key) == supported) return;
    throw_error(file(), ": '", key, "' is ", short_text(json_.at(key)), "; heed supports only ",
                supported.dump());
  }

 private:
  std::filesystem::path path_;
  Json json_;
};

void require_common(const Config& config) {
  for (const char* key : {"is_decoder", "add_cross_attention", "is_encoder_decoder"})
    config.require(key, false);
  for (const char* key : {"pruned_heads", "quantization_config", "rope_scaling"})
    config.require(key, Json::Object());
}

void check_heads(const Config& config, const nn::GptConfig& model, const char* width,
                 const char* heads) {
  if (model.embed_dim % model.heads != 0)
    throw_error(config.file(), ": '", width, "' is ", model.embed_dim,
                ", which is not divisible by '", heads, "' ", model.heads);
}

nn::GptConfig gpt2_config(const Config& config, bool nanogpt) {
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

nn::GptConfig bert_config(const Config& config) {
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
std::string model_type(const Config& config) {
  if (config.has("model_type")) return config.text("model_type", "");
  return config.has("n_embd") ? "gpt2" : config.has("hidden_size") ? "bert" : "";
}

Metadata metadata_in(const Config& config) {
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
  const Config config(folder / "config.json");
  const std::string type = model_type(config);
  if (type == "gpt2") return {Source::gpt2, gpt2_config(config, false), {}};
  if (type == "nanogpt") return {Source::nanogpt, gpt2_config(config, true), {}};
  if (type == "bert") return {Source::bert, bert_config(config), {}};
  if (type == "heed") return {Source::heed, {}, metadata_in(config)};
  throw_error(config.file(), ": 'model_type' is ", in_quotes(type),
              "; heed imports gpt2, bert, nanogpt and heed");
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
    json = gpt2_json(c, vocabulary);
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
