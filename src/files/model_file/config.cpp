// config.cpp: the configuration of a model as metadata.

#include <numeric>

#include "files/model_file/parts.hpp"
#include "heed/base/text.hpp"
#include "train/fields.hpp"

namespace HEED_NAMESPACE::model_file {

void put_config(Metadata& metadata, const nn::GptConfig& config) {
  metadata["model.vocab_size"] = std::to_string(config.vocab_size);
  each_size(config, [&](const Field& field, std::size_t size) {
    metadata[std::string("model.") + field.name] = std::to_string(size);
  });
  metadata["model.bias"] = config.bias ? "1" : "0";
  metadata["model.tied"] = config.tied ? "1" : "0";
  // The variants of Llama have an entry only if the model has them: older files have no entries. An
  // earlier heed refuses a file without model.gelu instead of ignoring the variants.
  const nn::GptConfig gpt2;
  const bool grouped = config.kv_width() != config.embed_dim;
  const bool is_variant = grouped || config.norm != gpt2.norm ||
                          config.positions != gpt2.positions || config.mlp != gpt2.mlp ||
                          config.norm_eps != gpt2.norm_eps || config.post_norm ||
                          config.token_types != 0 || config.masked_lm_head;
  metadata[is_variant ? "model.gelu_form" : "model.gelu"] =
      config.gelu == Gelu::erf ? "erf" : "tanh";
  if (!config.causal) metadata["model.causal"] = "0";
  if (grouped) metadata["model.kv_heads"] = std::to_string(config.kv_heads);
  if (config.norm == nn::NormKind::rms) metadata["model.norm"] = "rms";
  if (config.positions == nn::PositionKind::rotary) metadata["model.positions"] = "rotary";
  if (config.mlp == nn::MlpKind::swiglu) metadata["model.mlp"] = "swiglu";
  if (config.norm_eps != gpt2.norm_eps) metadata["model.norm_eps"] = exact(config.norm_eps);
  if (config.post_norm) metadata["model.post_norm"] = "1";
  if (config.token_types != 0) metadata["model.token_types"] = std::to_string(config.token_types);
  if (config.masked_lm_head) metadata["model.masked_lm_head"] = "1";
}

namespace {

// Whether the metadata entry is `variant`; without the entry, it is `standard`. Throws Error for
// any other value.
bool has_variant(const SafetensorsFile& file, const std::string& key, const std::string& standard,
                 const std::string& variant) {
  if (file.metadata.count(key) == 0) return false;
  const std::string& value = text_entry(file, key);
  if (value != standard && value != variant)
    throw_error(file.path, ": metadata '", key, "' is ", in_quotes(value), ", neither ", standard,
                " nor ", variant);
  return value == variant;
}

void read_variants(const SafetensorsFile& file, nn::GptConfig& config) {
  if (file.metadata.count("model.kv_heads") != 0) {
    config.kv_heads = size_entry(file, "model.kv_heads");
    if (config.heads % config.kv_heads != 0)
      throw_error(file.path, ": metadata 'model.kv_heads' is ", config.kv_heads,
                  ", which does not divide 'model.heads' ", config.heads);
  }
  if (has_variant(file, "model.norm", "layer", "rms")) config.norm = nn::NormKind::rms;
  if (has_variant(file, "model.mlp", "gelu", "swiglu")) config.mlp = nn::MlpKind::swiglu;
  config.post_norm = has_variant(file, "model.post_norm", "0", "1");
  config.masked_lm_head = has_variant(file, "model.masked_lm_head", "0", "1");
  if (file.metadata.count("model.token_types") != 0)
    config.token_types = size_entry(file, "model.token_types");
  if (file.metadata.count("model.norm_eps") != 0) {
    config.norm_eps = number_entry(file, "model.norm_eps");
    if (!(config.norm_eps > 0 && config.norm_eps < 1))
      throw_error(file.path, ": metadata 'model.norm_eps' is ", config.norm_eps,
                  ", not between 0 and 1");
  }
  if (has_variant(file, "model.positions", "learned", "rotary"))
    config.positions = nn::PositionKind::rotary;
  // No tensor bounds the block size of rotary positions, and a cache of keys needs memory for it.
  constexpr std::size_t max_rotary_block_size = 131072;
  if (config.positions == nn::PositionKind::rotary && config.block_size > max_rotary_block_size)
    throw_error(file.path, ": metadata 'model.block_size' is ", config.block_size,
                "; with rotary positions give at most ", max_rotary_block_size);
  if (config.positions == nn::PositionKind::rotary && config.embed_dim / config.heads % 2 != 0)
    throw_error(file.path, ": rotary positions need heads of even width, but 'model.embed_dim' is ",
                config.embed_dim, " and 'model.heads' ", config.heads);
}

// Throws Error if the tensors have fewer elements than the model needs, so that a small file cannot
// create a huge model. Computes in double, since the number of elements may overflow.
void check_size(const SafetensorsFile& file, const nn::GptConfig& config) {
  nn::GptConfig smallest = config;
  smallest.bias = false;
  smallest.tied = true;
  const double needed = nn::parameter_count<double>(smallest);
  double stored = 0;
  for (const StoredTensor& tensor : file.tensors)
    stored +=
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), 1.0,
                        [](double n, std::size_t size) { return n * static_cast<double>(size); });
  if (needed > stored)
    throw_error(file.path, ": its metadata describes a model of ", needed,
                " parameters, its tensors hold ", stored);
  constexpr std::size_t tensors_per_layer = 8;  // 2 norms, query, key, value, out, up and down
  if (config.layers > file.tensors.size() / tensors_per_layer)
    throw_error(file.path, ": its metadata describes a model of ", counted(config.layers, "layer"),
                ", each of at least 8 tensors, but it has ",
                counted(file.tensors.size(), "tensor"));
}

// The entries of put_config(), with the form of GELU under one key for all models.
Metadata comparable(const nn::GptConfig& config) {
  Metadata metadata;
  put_config(metadata, config);
  if (auto form = metadata.extract("model.gelu_form")) {
    form.key() = "model.gelu";
    metadata.insert(std::move(form));
  }
  return metadata;
}

}  // namespace

nn::GptConfig config_in(const SafetensorsFile& file) {
  nn::GptConfig config;
  config.vocab_size = size_entry(file, "model.vocab_size");
  each_size(config, [&](const Field& field, std::size_t& size) {
    size = size_entry(file, std::string("model.") + field.name);
  });
  if (config.embed_dim % config.heads != 0)
    throw_error(file.path, ": metadata 'model.heads' is ", config.heads,
                ", which does not divide 'model.embed_dim' ", config.embed_dim);
  config.bias = integer_entry(file, "model.bias", 1) == 1;
  config.tied = integer_entry(file, "model.tied", 1) == 1;
  const bool is_variant = file.metadata.count("model.gelu_form") != 0;
  const char* gelu_key = is_variant ? "model.gelu_form" : "model.gelu";
  const std::string& gelu = text_entry(file, gelu_key);
  if (gelu != "erf" && gelu != "tanh")
    throw_error(file.path, ": metadata '", gelu_key, "' is ", in_quotes(gelu),
                ", neither erf nor tanh");
  config.gelu = gelu == "erf" ? Gelu::erf : Gelu::tanh;
  if (file.metadata.count("model.causal") != 0)
    config.causal = integer_entry(file, "model.causal", 1) == 1;
  read_variants(file, config);
  check_size(file, config);
  return config;
}

void check_same_model(const std::string& path, const nn::GptConfig& saved,
                      const nn::GptConfig& config) {
  Metadata found = comparable(saved), expected = comparable(config);
  for (const auto& [key, value] : found) expected.try_emplace(key, "not given");
  for (const auto& [key, value] : expected)
    if (const std::string& other = found.try_emplace(key, "not given").first->second;
        other != value)
      throw_error(path, ": '", key, "' is ", in_quotes(other), ", this model's is '", value, "'");
}

}  // namespace HEED_NAMESPACE::model_file
