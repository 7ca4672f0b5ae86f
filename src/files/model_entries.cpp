// model_entries.cpp: a model's configuration and its vocabulary as metadata.

#include "files/model_entries.hpp"

#include <numeric>
#include <type_traits>
#include <utility>

#include "files/entries.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "train/fields.hpp"

namespace HEED_NAMESPACE {

// ---- the configuration

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
}

}  // namespace

void put_config(Metadata& metadata, const nn::GptConfig& config) {
  metadata["model.vocab_size"] = std::to_string(config.vocab_size);
  each_size(config, [&](const Field& field, std::size_t size) {
    metadata[std::string("model.") + field.name] = std::to_string(size);
  });
  metadata["model.bias"] = config.bias ? "1" : "0";
  metadata["model.tied"] = config.tied ? "1" : "0";
  if (!config.causal) metadata["model.causal"] = "0";
  const std::size_t entries_of_gpt2 = metadata.size();
  each_variant_entry(config, [&](const std::string& key, auto value, auto, auto variant) {
    if (value == variant.first) metadata[key] = variant.second;
  });
  if (config.kv_width() != config.embed_dim)
    metadata["model.kv_heads"] = std::to_string(config.kv_heads);
  if (config.norm_eps != nn::GptConfig().norm_eps)
    metadata["model.norm_eps"] = exact(config.norm_eps);
  if (config.token_types != 0) metadata["model.token_types"] = std::to_string(config.token_types);
  // Earlier versions of heed reject a file without model.gelu instead of ignoring its variants.
  const bool is_variant = metadata.size() > entries_of_gpt2;
  metadata[is_variant ? "model.gelu_form" : "model.gelu"] =
      config.gelu == Gelu::erf ? "erf" : "tanh";
}

namespace {

void read_variants(const SafetensorsFile& file, nn::GptConfig& config) {
  if (file.metadata.count("model.kv_heads") != 0) {
    config.kv_heads = size_entry(file, "model.kv_heads");
    if (config.heads % config.kv_heads != 0)
      throw_error(file.path, ": metadata 'model.kv_heads' is ", config.kv_heads,
                  ", which does not divide 'model.heads' ", config.heads);
  }
  each_variant_entry(config, [&](const std::string& key, auto& value, auto standard, auto variant) {
    if (file.metadata.count(key) == 0) return;
    const std::string& name = text_entry(file, key);
    if (name != standard.second && name != variant.second)
      throw_error(file.path, ": metadata '", key, "' is ", in_quotes(name), ", neither ",
                  standard.second, " nor ", variant.second);
    value = name == variant.second ? variant.first : standard.first;
  });
  if (file.metadata.count("model.token_types") != 0)
    config.token_types = size_entry(file, "model.token_types");
  if (file.metadata.count("model.norm_eps") != 0) {
    config.norm_eps = number_entry(file, "model.norm_eps");
    if (!(config.norm_eps > 0 && config.norm_eps < 1))
      throw_error(file.path, ": metadata 'model.norm_eps' is ", config.norm_eps,
                  ", not between 0 and 1");
  }
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

// ---- the vocabulary

namespace {

constexpr std::pair<Unit, std::string_view> unit_names[] = {
    {Unit::code_point, "code_point"},
    {Unit::byte, "byte"},
    {Unit::word, "word"},
    {Unit::byte_pair, "byte_pair"},
    {Unit::byte_level_bpe, "byte_level_bpe"},
    {Unit::word_piece, "word_piece"}};

Unit unit_in(const SafetensorsFile& file) {
  const std::string& text = text_entry(file, "vocabulary.unit");
  for (const auto& [unit, name] : unit_names)
    if (name == text) return unit;
  throw_error(file.path, ": metadata 'vocabulary.unit' is ", in_quotes(text),
              ", none of byte, byte_level_bpe, byte_pair, code_point, word and word_piece");
}

// The metadata entries for the files of a pretrained model's vocabulary.
std::vector<std::string> file_keys(Unit unit) {
  if (unit == Unit::byte_level_bpe) return {"vocabulary.vocab.json", "vocabulary.merges.txt"};
  if (unit == Unit::word_piece) return {"vocabulary.vocab.txt"};
  return {};
}

// The tokens of a vocabulary, separated by single spaces: words as text, characters as numbers, and
// of byte pairs the two ids of each merge.
std::string vocabulary_text(const Vocabulary& vocabulary) {
  std::vector<std::string> parts = vocabulary.words();
  for (const std::uint32_t value : vocabulary.characters()) parts.push_back(std::to_string(value));
  if (vocabulary.byte_pairs())
    for (const auto& [left, right] : vocabulary.byte_pairs()->merges()) {
      parts.push_back(std::to_string(left));
      parts.push_back(std::to_string(right));
    }
  return joined(parts, " ");
}

// The byte pairs that vocabulary_text() has written as `numbers`.
BytePairs byte_pairs_of(const std::vector<std::uint32_t>& numbers) {
  constexpr std::size_t max_merges = 65536;
  if (numbers.size() > 2 * max_merges)
    throw_error("metadata 'vocabulary.tokens' has ", numbers.size() / 2,
                " merges of byte pairs; give at most ", max_merges);
  if (numbers.size() % 2 != 0)
    throw_error("metadata 'vocabulary.tokens' has ", numbers.size(),
                " numbers; byte pairs need two for each merge");
  std::vector<BytePairs::Merge> merges;
  for (std::size_t i = 0; i < numbers.size(); i += 2)
    merges.push_back({numbers[i], numbers[i + 1]});
  return BytePairs(std::move(merges));
}

}  // namespace

void put_vocabulary(Metadata& metadata, const Vocabulary& vocabulary) {
  for (const auto& [unit, name] : unit_names)
    if (unit == vocabulary.unit()) metadata["vocabulary.unit"] = name;
  const std::vector<std::string> keys = file_keys(vocabulary.unit());
  for (std::size_t i = 0; i < keys.size(); ++i) metadata[keys[i]] = vocabulary.files()[i];
  if (keys.empty()) metadata["vocabulary.tokens"] = vocabulary_text(vocabulary);
}

Vocabulary vocabulary_in(const SafetensorsFile& file) {
  const Unit unit = unit_in(file);
  if (const std::vector<std::string> keys = file_keys(unit); !keys.empty()) {
    std::vector<std::string> texts, names;
    for (const std::string& key : keys) {
      texts.push_back(text_entry(file, key));
      names.push_back(file.path + ": " + key.substr(key.find('.') + 1));
    }
    return Vocabulary::from_files(unit, std::move(texts), names);
  }
  const std::string& text = text_entry(file, "vocabulary.tokens");
  if (unit == Unit::byte_pair && text.empty()) return Vocabulary(BytePairs({}));
  const std::vector<std::string> tokens = split(text, ' ');
  try {
    if (unit == Unit::word) return Vocabulary(tokens);
    std::vector<std::uint32_t> values(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (!parse(tokens[i], values[i])) throw_error("metadata 'vocabulary.tokens' is damaged");
    if (unit == Unit::byte_pair) return Vocabulary(byte_pairs_of(values));
    return Vocabulary(unit, std::move(values));
  } catch (const Error& error) {
    throw_error(file.path, ": ", error.what());
  }
}

}  // namespace HEED_NAMESPACE
