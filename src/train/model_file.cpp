// model_file.cpp: saves and loads models and training runs as safetensors files.

#include "heed/train/model_file.hpp"

#include <charconv>
#include <cmath>
#include <numeric>

#include "heed/array/reduce.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/nn/save.hpp"

namespace HEED_NAMESPACE {
namespace {

// If all of `text` is a number of type Number, writes the number to `value` and returns true.
template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

const std::string& text_entry(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw_error(file.path, ": not a checkpoint of heed: its metadata has no '", key, "'");
  return found->second;
}

constexpr std::uint64_t any_integer = static_cast<std::uint64_t>(-1);

std::uint64_t integer_entry(const SafetensorsFile& file, const std::string& key,
                            std::uint64_t max_value = 1'000'000'000'000) {
  const std::string& text = text_entry(file, key);
  std::uint64_t value = 0;
  if (!parse(text, value) || value > max_value)
    throw_error(file.path, ": metadata '", key, "' is ", in_quotes(text),
                ", not a whole number up to ", max_value);
  return value;
}

// The number in `text`, which is the value of metadata entry `key` or a part of this value.
double number_in(const SafetensorsFile& file, const std::string& key, std::string_view text) {
  double value = 0;
  if (!parse(text, value) || !std::isfinite(value))
    throw_error(file.path, ": metadata '", key, "' holds ", in_quotes(text),
                ", not a finite number");
  return value;
}

double number_entry(const SafetensorsFile& file, const std::string& key) {
  return number_in(file, key, text_entry(file, key));
}

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::code_point:
      return "code_point";
    case Unit::byte:
      return "byte";
    case Unit::word:
      return "word";
    case Unit::byte_pair:
      return "byte_pair";
    case Unit::byte_level_bpe:
      return "byte_level_bpe";
    case Unit::word_piece:
      return "word_piece";
  }
  throw_error("unit_name: invalid Unit ", static_cast<int>(unit));
}

Unit unit_in(const SafetensorsFile& file) {
  const std::string& name = text_entry(file, "vocabulary.unit");
  for (const Unit unit : {Unit::code_point, Unit::byte, Unit::word, Unit::byte_pair,
                          Unit::byte_level_bpe, Unit::word_piece})
    if (name == unit_name(unit)) return unit;
  throw_error(file.path, ": metadata 'vocabulary.unit' is ", in_quotes(name),
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

void put_config(Metadata& metadata, const nn::GptConfig& config) {
  metadata["model.vocab_size"] = std::to_string(config.vocab_size);
  metadata["model.block_size"] = std::to_string(config.block_size);
  metadata["model.layers"] = std::to_string(config.layers);
  metadata["model.heads"] = std::to_string(config.heads);
  metadata["model.embed_dim"] = std::to_string(config.embed_dim);
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

std::size_t size_entry(const SafetensorsFile& file, const std::string& key) {
  const std::size_t size = integer_entry(file, key);
  if (size == 0) throw_error(file.path, ": metadata '", key, "' is 0, a model needs at least 1");
  return size;
}

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

nn::GptConfig config_for(const Vocabulary& vocabulary, const ModelFile& file) {
  const nn::GptConfig config = file.config();
  if (config.vocab_size != vocabulary.size())
    throw_error(file.path(), ": the model's vocab_size is ", config.vocab_size,
                ", but its vocabulary has ", vocabulary.size(), " tokens");
  return config;
}

// Calls visit(name, option) for every training option.
template <class Options, class Visit>
void each_option(Options& o, const Visit& visit) {
  visit("batch_size", o.batch_size);
  visit("steps", o.steps);
  visit("lr", o.lr);
  visit("min_lr", o.min_lr);
  visit("warmup", o.warmup);
  visit("decay_steps", o.decay_steps);
  visit("weight_decay", o.weight_decay);
  visit("beta1", o.beta1);
  visit("beta2", o.beta2);
  visit("clip", o.clip);
  visit("dropout", o.dropout);
  visit("seed", o.seed);
  visit("eval_every", o.eval_every);
  visit("eval_batches", o.eval_batches);
  visit("log_every", o.log_every);
  visit("shards", o.shards);
}

const std::string history_key = "train.history";

LogRow parse_row(const SafetensorsFile& file, const std::string& line) {
  const std::vector<std::string> cells = split(line, ',');
  if (cells.size() != 6)
    throw_error(file.path, ": metadata '", history_key, "' has a line ", in_quotes(line));
  const auto number = [&](std::size_t i) { return number_in(file, history_key, cells[i]); };
  const double step = number(0);
  if (!(step >= 1 && step <= 1e12 && step == std::floor(step)))
    throw_error(file.path, ": metadata '", history_key, "' has a line for step ",
                in_quotes(cells[0]));
  return {static_cast<std::int64_t>(step),
          number(1),
          cells[2].empty() ? std::nullopt : std::optional(number(2)),
          number(3),
          number(4),
          number(5)};
}

// Checks that the run and its optimizer have done the same number of steps, that the step numbers
// of the loss history increase, and that `pending` is consistent with the last step of the history.
void check_steps(const SafetensorsFile& file, const TrainerState& state) {
  if (state.step != state.optimizer.step || (state.step > 0 && state.history.empty()))
    throw_error(file.path, ": metadata 'train.step' is ", state.step,
                ", but the optimizer has done ", state.optimizer.step,
                " steps and the history has ", state.history.size(), " lines");
  std::int64_t last = 0;
  for (const LogRow& row : state.history) {
    if (row.step <= last || row.step > state.step)
      throw_error(file.path, ": metadata '", history_key, "' has a line for step ", row.step,
                  " after ", last, ", and the run has done ", state.step);
    last = row.step;
  }
  if (state.pending > state.step || (last != state.step && state.pending != state.step - last))
    throw_error(file.path, ": metadata 'train.pending' is ", state.pending,
                ", but the history ends at step ", last, " of ", state.step);
}

optim::State optimizer_in(const SafetensorsFile& file) {
  optim::State state;
  state.step = static_cast<std::int64_t>(integer_entry(file, "train.optimizer_step"));
  for (const StoredTensor& tensor : file.tensors) {
    if (tensor.name.rfind(optimizer_prefix, 0) != 0) continue;
    state.arrays.emplace_back(tensor.name.substr(optimizer_prefix.size()), file.array(tensor));
    if (!all_finite(state.arrays.back().second))
      throw_error(file.path, ": tensor '", tensor.name, "' holds values that are not finite");
  }
  return state;
}

TrainerState trainer_state_in(const SafetensorsFile& file, const TrainOptions& options) {
  TrainerState state;
  state.options = options;
  state.optimizer = optimizer_in(file);
  for (const std::string& line : lines_of(text_entry(file, history_key)))
    state.history.push_back(parse_row(file, line));
  state.step = static_cast<std::int64_t>(integer_entry(file, "train.step"));
  state.pending = static_cast<std::int64_t>(integer_entry(file, "train.pending"));
  state.pending_loss = number_entry(file, "train.pending_loss");
  state.pending_ms = number_entry(file, "train.pending_ms");
  state.batch_generator = text_entry(file, "train.generator");
  state.dropout_generator = text_entry(file, "train.dropout_generator");
  check_steps(file, state);
  return state;
}

constexpr const char* path_key = "text.path";
constexpr const char* path_encoding_key = "text.path_encoding";

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = decode_utf8(text, i).size;
    if (size == 0) return false;
    i += size;
  }
  return true;
}

// Metadata must be UTF-8, but the name of a file may have any bytes. A name that is not UTF-8 is
// percent-encoded as in URLs (RFC 3986): caf%e9.txt.
void put_path(Metadata& metadata, const std::string& path) {
  metadata[path_key] = path;
  if (is_utf8(path)) return;
  metadata[path_encoding_key] = "percent";
  std::string& encoded = metadata[path_key];
  encoded.clear();
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    encoded +=
        byte > 0x20 && byte < 0x7f && c != '%' ? std::string(1, c) : hexadecimal("%%%02llx", byte);
  }
}

std::string path_in(const SafetensorsFile& file) {
  const std::string& stored = text_entry(file, path_key);
  if (file.metadata.count(path_encoding_key) == 0) return stored;
  std::string path;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i] != '%') {
      path += stored[i];
      continue;
    }
    unsigned char byte = 0;
    const char* const digits = stored.data() + i + 1;
    if (stored.size() - i < 3 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      throw_error(file.path, ": metadata '", path_key, "' is ", in_quotes(stored),
                  ", which is not percent-encoded");
    path += static_cast<char>(byte);
    i += 2;
  }
  return path;
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

void check_same_model(const std::string& path, const nn::GptConfig& saved,
                      const nn::GptConfig& config) {
  Metadata found = comparable(saved), expected = comparable(config);
  for (const auto& [key, value] : found) expected.try_emplace(key, "not given");
  for (const auto& [key, value] : expected)
    if (const std::string& other = found.try_emplace(key, "not given").first->second;
        other != value)
      throw_error(path, ": '", key, "' is ", in_quotes(other), ", this model's is '", value, "'");
}

// The metadata and tensors of a file to be written. The tensors point to the memory of the model's
// parameters.
struct Content {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
};

Content content_of(const Parameters& parameters, const nn::GptConfig& config,
                   const Vocabulary& vocabulary) {
  Content content{model_metadata(config, vocabulary), {}};
  for (const Tensor& parameter : parameters)
    content.tensors.push_back(stored_tensor(parameter.name(), parameter.value()));
  return content;
}

}  // namespace

std::map<std::string, std::string> option_texts(const TrainOptions& options) {
  std::map<std::string, std::string> texts;
  each_option(options, [&](const char* name, const auto& value) {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
      texts[name] = exact(value);
    else
      texts[name] = std::to_string(value);
  });
  return texts;
}

TextFingerprint fingerprint_of(const std::string& path, std::string_view text) {
  return {path, text.size(), hash64(text)};
}

ModelFile ModelFile::open(const std::filesystem::path& path) {
  try {
    return ModelFile(read_safetensors(path));
  } catch (const NotSafetensors& error) {
    throw_error(path.string(), ": not a checkpoint: ", error.reason);
  }
}

nn::GptConfig ModelFile::config() const {
  nn::GptConfig config;
  config.vocab_size = size_entry(file_, "model.vocab_size");
  config.block_size = size_entry(file_, "model.block_size");
  config.layers = size_entry(file_, "model.layers");
  config.heads = size_entry(file_, "model.heads");
  config.embed_dim = size_entry(file_, "model.embed_dim");
  if (config.embed_dim % config.heads != 0)
    throw_error(path(), ": metadata 'model.heads' is ", config.heads,
                ", which does not divide 'model.embed_dim' ", config.embed_dim);
  config.bias = integer_entry(file_, "model.bias", 1) == 1;
  config.tied = integer_entry(file_, "model.tied", 1) == 1;
  const bool is_variant = file_.metadata.count("model.gelu_form") != 0;
  const char* gelu_key = is_variant ? "model.gelu_form" : "model.gelu";
  const std::string& gelu = text_entry(file_, gelu_key);
  if (gelu != "erf" && gelu != "tanh")
    throw_error(path(), ": metadata '", gelu_key, "' is ", in_quotes(gelu),
                ", neither erf nor tanh");
  config.gelu = gelu == "erf" ? Gelu::erf : Gelu::tanh;
  if (file_.metadata.count("model.causal") != 0)
    config.causal = integer_entry(file_, "model.causal", 1) == 1;
  read_variants(file_, config);
  check_size(file_, config);
  return config;
}

Vocabulary ModelFile::vocabulary() const {
  const Unit unit = unit_in(file_);
  if (const std::vector<std::string> keys = file_keys(unit); !keys.empty()) {
    std::vector<std::string> texts, names;
    for (const std::string& key : keys) {
      texts.push_back(text_entry(file_, key));
      names.push_back(path() + ": " + key.substr(key.find('.') + 1));
    }
    return Vocabulary::from_files(unit, std::move(texts), names);
  }
  const std::string& text = text_entry(file_, "vocabulary.tokens");
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
    throw_error(path(), ": ", error.what());
  }
}

void ModelFile::load_parameters(const Parameters& parameters) const { load(file_, parameters); }

TrainOptions ModelFile::options() const {
  TrainOptions options;
  each_option(options, [&](const char* name, auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const std::string key = std::string("train.") + name;
    if constexpr (std::is_floating_point_v<Value>)
      value = number_entry(file_, key);
    else if (key == "train.shards" && file_.metadata.count(key) == 0)
      value = 1;  // a run without --shards
    else if (key == "train.seed")
      value = static_cast<Value>(integer_entry(file_, key, any_integer));
    else
      value = static_cast<Value>(integer_entry(file_, key));
  });
  return options;
}

GemmChoice ModelFile::gemm() const {
  if (file_.metadata.count("train.gemm") == 0) return GemmChoice();  // an older file
  try {
    return GemmChoice::parse(text_entry(file_, "train.gemm"));
  } catch (const Error& error) {
    throw_error(path(), ": metadata 'train.gemm': ", error.what());
  }
}

TextFingerprint ModelFile::text() const {
  return {path_in(file_), integer_entry(file_, "text.bytes", any_integer),
          integer_entry(file_, "text.hash", any_integer)};
}

void ModelFile::restore(Trainer& trainer) const {
  check_same_model(path(), config(), trainer.model().config);
  const TrainerState state = trainer_state_in(file_, options());
  std::vector<Array> values = parameter_values(file_, trainer.parameters());
  try {
    trainer.restore(state);
  } catch (const Error& error) {
    throw_error(path(), ": ", error.what());
  }
  set_values(trainer.parameters(), std::move(values));
}

LoadedModel::LoadedModel(const ModelFile& file)
    : vocabulary(file.vocabulary()),
      model(nn::without_values(parameters, config_for(vocabulary, file))) {
  file.load_parameters(parameters);
}

Metadata model_metadata(const nn::GptConfig& config, const Vocabulary& vocabulary) {
  Metadata metadata;
  put_config(metadata, config);
  metadata["vocabulary.unit"] = unit_name(vocabulary.unit());
  const std::vector<std::string> keys = file_keys(vocabulary.unit());
  for (std::size_t i = 0; i < keys.size(); ++i) metadata[keys[i]] = vocabulary.files()[i];
  if (keys.empty()) metadata["vocabulary.tokens"] = vocabulary_text(vocabulary);
  return metadata;
}

void save_model(const std::filesystem::path& path, const Parameters& parameters,
                const nn::GptConfig& config, const Vocabulary& vocabulary) {
  Content content = content_of(parameters, config, vocabulary);
  write_safetensors(path, std::move(content.metadata), content.tensors);
}

// The content of a run's checkpoint. Its tensors point to the memory of the trainer and of `state`.
static Content content_of(const Trainer& trainer, const TrainerState& state,
                          const Vocabulary& vocabulary, const TextFingerprint& text) {
  Content content = content_of(trainer.parameters(), trainer.model().config, vocabulary);
  Metadata& metadata = content.metadata;
  for (const auto& [name, value] : option_texts(state.options)) metadata["train." + name] = value;
  if (state.options.shards == 1) metadata.erase("train.shards");  // as in a run without --shards
  metadata["train.step"] = std::to_string(state.step);
  metadata["train.gemm"] = gemm_choice().text();
  metadata["train.generator"] = state.batch_generator;
  metadata["train.dropout_generator"] = state.dropout_generator;
  std::string& history = metadata[history_key];
  for (const LogRow& row : state.history) history += csv(row);
  metadata["train.pending"] = std::to_string(state.pending);
  metadata["train.pending_loss"] = exact(state.pending_loss);
  metadata["train.pending_ms"] = exact(state.pending_ms);
  metadata["train.optimizer_step"] = std::to_string(state.optimizer.step);
  for (const auto& [name, array] : state.optimizer.arrays)
    content.tensors.push_back(stored_tensor(std::string(optimizer_prefix) + name, array));
  put_path(metadata, text.path);
  metadata["text.bytes"] = std::to_string(text.bytes);
  metadata["text.hash"] = std::to_string(text.hash);
  return content;
}

void save_run(const std::filesystem::path& path, const Trainer& trainer,
              const Vocabulary& vocabulary, const TextFingerprint& text) {
  const TrainerState state = trainer.state();
  Content content = content_of(trainer, state, vocabulary, text);
  write_safetensors(path, std::move(content.metadata), content.tensors);
}

void check_run(const std::filesystem::path& path, const Trainer& trainer,
               const Vocabulary& vocabulary, const TextFingerprint& text) {
  const TrainerState state = trainer.state();
  Content content = content_of(trainer, state, vocabulary, text);
  check_safetensors(path, std::move(content.metadata), content.tensors);
}

}  // namespace HEED_NAMESPACE
