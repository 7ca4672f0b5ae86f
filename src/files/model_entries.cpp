// model_entries.cpp: a model's configuration as metadata.

#include "files/model_entries.hpp"

#include <numeric>
#include <set>
#include <type_traits>
#include <utility>

#include "files/entries.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "train/fields.hpp"

namespace HEED_NAMESPACE {

namespace {

// Calls visit(key, value, {standard value, its name}, {variant, its name}) for the variants of
// GPT-2 that have an entry only if the model has them: files of older versions have no such
// entries.
template <class Config, class Visit>
void each_variant_entry(Config& config, const Visit& visit) {
  using std::pair;
  each_variant(config, [&](const Variant& variant, auto& value) {
    using Kind = std::decay_t<decltype(value)>;
    visit(std::string("model.") + variant.name, value, pair(Kind(0), variant.values[0]),
          pair(Kind(1), variant.values[1]));
  });
  const pair no(false, std::string("0")), yes(true, std::string("1"));
  visit("model.post_norm", config.post_norm, no, yes);
  visit("model.masked_lm_head", config.masked_lm_head, no, yes);
  visit("model.qkv_bias", config.qkv_bias, no, yes);
}

std::string key_of(const Field& field) { return std::string("model.") + field.name; }

// Throws Error for an entry of the configuration that put_config() never writes: ignoring it could
// compute something else than the program that wrote it.
void check_known_entries(const SafetensorsFile& file) {
  std::set<std::string> known = {"model.vocab_size", "model.bias",       "model.tied",
                                 "model.causal",     "model.gelu",       "model.gelu_form",
                                 "model.norm_eps",   "model.rope_theta", "model.token_types"};
  nn::GptConfig config;
  each_size(config, [&](const Field& field, auto) { known.insert(key_of(field)); });
  each_optional_size(config, [&](const Field& field, auto, auto) { known.insert(key_of(field)); });
  each_variant_entry(config, [&](const std::string& key, auto, auto, auto) { known.insert(key); });
  for (const auto& [key, value] : file.metadata)
    if (key.rfind("model.", 0) == 0 && known.count(key) == 0)
      throw_error(file.path, ": metadata ", in_quotes(key), " is ", in_quotes(value),
                  ", which this version does not know; use the one that wrote the file");
}

}  // namespace

void put_config(Metadata& metadata, const nn::GptConfig& config) {
  metadata["model.vocab_size"] = std::to_string(config.vocab_size);
  each_size(config, [&](const Field& field, std::size_t size) {
    metadata[key_of(field)] = std::to_string(size);
  });
  metadata["model.bias"] = config.bias ? "1" : "0";
  metadata["model.tied"] = config.tied ? "1" : "0";
  if (!config.causal) metadata["model.causal"] = "0";
  const std::size_t entries_of_gpt2 = metadata.size();
  each_variant_entry(config, [&](const std::string& key, auto value, auto, auto variant) {
    if (value == variant.first) metadata[key] = variant.second;
  });
  each_optional_size(config, [&](const Field& field, std::size_t size, std::size_t usual) {
    if (size != 0 && size != usual) metadata[key_of(field)] = std::to_string(size);
  });
  if (config.rope_theta != nn::GptConfig().rope_theta)
    metadata["model.rope_theta"] = exact(config.rope_theta);
  if (config.norm_eps != nn::GptConfig().norm_eps)
    metadata["model.norm_eps"] = exact(config.norm_eps);
  if (config.token_types != 0) metadata["model.token_types"] = std::to_string(config.token_types);
  // Earlier versions of heed reject a file without model.gelu instead of ignoring its variants.
  const bool is_variant = metadata.size() > entries_of_gpt2;
  metadata[is_variant ? "model.gelu_form" : "model.gelu"] =
      config.gelu == Gelu::erf ? "erf" : "tanh";
}

namespace {

// The number of an entry, which must lie within the bounds.
double bounded_entry(const SafetensorsFile& file, const std::string& key, double low, double high,
                     const char* must) {
  const double value = number_entry(file, key);
  if (!(value > low && value < high))
    throw_error(file.path, ": metadata '", key, "' is ", value, ", not ", must);
  return value;
}

void read_optional_numbers(const SafetensorsFile& file, nn::GptConfig& config) {
  each_optional_size(config, [&](const Field& field, std::size_t& size, std::size_t) {
    if (file.metadata.count(key_of(field)) != 0) size = size_entry(file, key_of(field));
  });
  if (file.metadata.count("model.token_types") != 0)
    config.token_types = size_entry(file, "model.token_types");
  if (file.metadata.count("model.norm_eps") != 0)
    config.norm_eps = bounded_entry(file, "model.norm_eps", 0, 1, "between 0 and 1");
  if (file.metadata.count("model.rope_theta") != 0)
    config.rope_theta = bounded_entry(file, "model.rope_theta", 0, infinite, "above 0");
}

void read_variants(const SafetensorsFile& file, nn::GptConfig& config) {
  each_variant_entry(config, [&](const std::string& key, auto& value, auto standard, auto variant) {
    if (file.metadata.count(key) == 0) return;
    const std::string& name = text_entry(file, key);
    if (name != standard.second && name != variant.second)
      throw_error(file.path, ": metadata '", key, "' is ", in_quotes(name), ", neither ",
                  standard.second, " nor ", variant.second);
    value = name == variant.second ? variant.first : standard.first;
  });
}

void check_heads(const SafetensorsFile& file, const nn::GptConfig& config) {
  constexpr std::size_t max_width = 1'000'000'000'000;
  if (config.head_dim > max_width / config.heads)
    throw_error(file.path, ": metadata 'model.head_dim' is ", config.head_dim,
                ", too large for 'model.heads' ", config.heads);
  if (config.head_dim == 0 && config.embed_dim % config.heads != 0)
    throw_error(file.path, ": metadata 'model.heads' is ", config.heads,
                ", which does not divide 'model.embed_dim' ", config.embed_dim);
  if (config.kv_heads != 0 && config.heads % config.kv_heads != 0)
    throw_error(file.path, ": metadata 'model.kv_heads' is ", config.kv_heads,
                ", which does not divide 'model.heads' ", config.heads);
}

void check_rotary(const SafetensorsFile& file, const nn::GptConfig& config) {
  if (config.positions != nn::PositionKind::rotary) return;
  if (config.block_size > max_rotary_block_size)
    throw_error(file.path, ": metadata 'model.block_size' is ", config.block_size,
                "; with rotary positions give at most ", max_rotary_block_size);
  if (config.rotary_dim == 0 && config.head_width() % 2 != 0)
    throw_error(file.path, ": rotary positions need heads of even width, but ",
                config.head_dim == 0 ? "'model.embed_dim' is " : "'model.head_dim' is ",
                config.head_dim == 0 ? config.embed_dim : config.head_dim, " and 'model.heads' ",
                config.heads);
  if (config.rotary_dim % 2 != 0 || config.rotary_dim > config.head_width())
    throw_error(file.path, ": metadata 'model.rotary_dim' is ", config.rotary_dim,
                "; it must be even and at most the width of a head, ", config.head_width());
}

// Throws Error if the tensors have fewer elements than the model needs, so that a small file cannot
// create a huge model. Computes in double, since the number of elements may overflow.
void check_size(const SafetensorsFile& file, const nn::GptConfig& config) {
  nn::GptConfig smallest = config;
  smallest.bias = false;
  smallest.qkv_bias = false;
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

// The metadata of put_config(), with the form of GELU under the same key for all models.
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
  check_known_entries(file);
  nn::GptConfig config;
  config.vocab_size = size_entry(file, "model.vocab_size");
  each_size(config,
            [&](const Field& field, std::size_t& size) { size = size_entry(file, key_of(field)); });
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
  read_optional_numbers(file, config);
  check_heads(file, config);
  check_rotary(file, config);
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

}  // namespace HEED_NAMESPACE
