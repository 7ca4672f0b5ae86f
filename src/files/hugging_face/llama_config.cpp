// llama_config.cpp: the config.json of models of Llama's family.

#include "files/hugging_face/llama_config.hpp"

#include "files/model_entries.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

// Keys of models that are derived from Llama, whose computation heed lacks.
constexpr const char* unsupported_keys[] = {"attention_chunk_size",
                                            "attention_multiplier",
                                            "attn_logit_softcapping",
                                            "clip_qkv",
                                            "embedding_multiplier",
                                            "final_logit_softcapping",
                                            "logits_scaling",
                                            "no_rope_layers",
                                            "num_experts",
                                            "num_local_experts",
                                            "quantization_config",
                                            "query_pre_attn_scalar",
                                            "residual_multiplier"};

void require_supported(const ConfigKeys& config) {
  for (const char* key : unsupported_keys) config.require_none(key);
  for (const char* key :
       {"use_sliding_window", "use_qk_norm", "qk_norm", "qk_layernorm", "rope_interleaved",
        "use_mrope", "add_cross_attention", "is_encoder_decoder"})
    config.require(key, false);
  config.require("hidden_act", "silu");
  config.require("partial_rotary_factor", 1);
}

// Windows that slide in none, some or all layers.
void require_full_attention(const ConfigKeys& config, const std::string& type) {
  if (type != "qwen2") config.require_none("sliding_window");  // Qwen2 has use_sliding_window too
  if (!config.has("layer_types")) return;
  const Json& types = config.at("layer_types");
  if (!types.is<Json::List>())
    throw_error(config.file(), ": 'layer_types' is ", short_text(types), "; it must be a list");
  for (const Json& layer : types.get<Json::List>())
    if (layer != Json("full_attention"))
      throw_error(config.file(), ": 'layer_types' has ", short_text(layer),
                  "; heed supports only \"full_attention\"");
}

// Rejects the scaled angles of longer contexts, such as Llama 3.1's, by the name of their type.
void require_no_scaling(const ConfigKeys& config) {
  if (!config.has("rope_scaling")) return;
  for (const char* key : {"rope_type", "type"})
    if (const Json* const type = config.at("rope_scaling").find(key))
      throw_error(config.file(), ": 'rope_scaling' has the ", key, " ", short_text(*type),
                  "; heed supports only rotary positions without scaling, as of Llama 3");
  config.require_none("rope_scaling");
}

// The base is a key of its own or, since transformers 5, in rope_parameters.
double rope_theta(const ConfigKeys& config) {
  if (!config.has("rope_parameters")) return config.positive("rope_theta", 10000);
  const Json& parameters = config.at("rope_parameters");
  const Json* const theta = parameters.find("rope_theta");
  const Json* const kind = parameters.find("rope_type");
  if ((kind != nullptr && *kind != Json("default")) || theta == nullptr || !theta->is_number() ||
      !(theta->number() > 0))
    throw_error(config.file(), ": 'rope_parameters' is ", parameters.dump(),
                "; heed supports only the rope_type \"default\" with a rope_theta above 0");
  return theta->number();
}

void set_heads(const ConfigKeys& config, nn::GptConfig& model) {
  model.heads = config.size("num_attention_heads");
  if (config.has("num_key_value_heads")) model.kv_heads = config.size("num_key_value_heads");
  if (config.has("head_dim")) model.head_dim = config.size("head_dim");
  if (model.head_dim == 0 && model.embed_dim % model.heads != 0)
    throw_error(config.file(), ": 'hidden_size' is ", model.embed_dim,
                ", which is not divisible by 'num_attention_heads' ", model.heads);
  if (model.kv_heads != 0 && model.heads % model.kv_heads != 0)
    throw_error(config.file(), ": 'num_key_value_heads' is ", model.kv_heads,
                ", which does not divide 'num_attention_heads' ", model.heads);
  if (model.head_width() % 2 != 0)
    throw_error(config.file(), ": the width of a head is ", model.head_width(),
                ", but rotary positions need an even one");
}

// Llama has biases in all linear layers of its attention, of its MLPs, or in none; Qwen2 has those
// of queries, keys and values.
void set_biases(const ConfigKeys& config, const std::string& type, nn::GptConfig& model) {
  const bool attention = config.flag("attention_bias", false), mlp = config.flag("mlp_bias", false);
  if (attention != mlp)
    throw_error(config.file(), ": 'attention_bias' is ", attention ? "true" : "false",
                " and 'mlp_bias' is ", mlp ? "true" : "false", "; heed supports both or neither");
  model.bias = attention;
  model.qkv_bias = type == "qwen2";
}

}  // namespace

nn::GptConfig llama_config(const ConfigKeys& config, const std::string& type) {
  nn::GptConfig model;
  model.norm = nn::NormKind::rms;
  model.positions = nn::PositionKind::rotary;
  model.mlp = nn::MlpKind::swiglu;
  model.rotary_pairs = RotaryPairs::halves;
  model.vocab_size = config.size("vocab_size");
  model.embed_dim = config.size("hidden_size");
  model.intermediate_size = config.size("intermediate_size");
  model.layers = config.size("num_hidden_layers");
  model.block_size = config.size("max_position_embeddings");
  if (model.block_size > max_rotary_block_size)
    throw_error(config.file(), ": 'max_position_embeddings' is ", model.block_size,
                "; heed supports at most ", max_rotary_block_size);
  set_heads(config, model);
  set_biases(config, type, model);
  model.norm_eps = config.epsilon("rms_norm_eps", 1e-6);
  model.rope_theta = rope_theta(config);
  model.tied = config.flag("tie_word_embeddings", false);
  require_supported(config);
  require_no_scaling(config);
  require_full_attention(config, type);
  return model;
}

Json llama_json(const nn::GptConfig& c, const Vocabulary& vocabulary) {
  const bool qwen2 = c.qkv_bias && !c.bias;
  const auto id = vocabulary.end_of_text();
  const Json end = id ? Json(*id) : Json(nullptr);
  return {{"model_type", qwen2 ? "qwen2" : "llama"},
          {"architectures", Json::List{qwen2 ? "Qwen2ForCausalLM" : "LlamaForCausalLM"}},
          {"num_hidden_layers", c.layers},
          {"num_attention_heads", c.heads},
          {"num_key_value_heads", c.kv_heads == 0 ? c.heads : c.kv_heads},
          {"head_dim", c.head_width()},
          {"hidden_size", c.embed_dim},
          {"intermediate_size", c.hidden_width()},
          {"max_position_embeddings", c.block_size},
          {"vocab_size", c.vocab_size},
          {"hidden_act", "silu"},
          {"rms_norm_eps", c.norm_eps},
          {"rope_theta", c.rope_theta},
          {"tie_word_embeddings", c.tied},
          {"attention_bias", c.bias},
          {"mlp_bias", c.bias},
          {"torch_dtype", "float32"},
          {"bos_token_id", Json(nullptr)},
          {"eos_token_id", end}};
}

}  // namespace HEED_NAMESPACE::hugging_face
