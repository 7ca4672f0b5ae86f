// model_file.cpp: saves and loads models and training runs as safetensors files.

#include "heed/train/model_file.hpp"

#include <charconv>
#include <cmath>

#include "heed/array/reduce.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
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
  if (!parse(text, value))
    throw_error(file.path, ": metadata '", key, "' holds ", in_quotes(text), ", not a number");
  return value;
}

double number_entry(const SafetensorsFile& file, const std::string& key) {
  return number_in(file, key, text_entry(file, key));
}

std::string_view unit_name(Unit unit) {
  return unit == Unit::byte ? "byte" : unit == Unit::word ? "word" : "code_point";
}

Unit unit_in(const SafetensorsFile& file) {
  const std::string& name = text_entry(file, "vocabulary.unit");
  for (const Unit unit : {Unit::code_point, Unit::byte, Unit::word})
    if (name == unit_name(unit)) return unit;
  throw_error(file.path, ": metadata 'vocabulary.unit' is ", in_quotes(name),
              ", none of byte, code_point and word");
}

// The tokens (words as text, code points and bytes as numbers), separated by single spaces.
std::string vocabulary_text(const Vocabulary& vocabulary) {
  std::vector<std::string> parts = vocabulary.words();
  for (const std::uint32_t value : vocabulary.characters()) parts.push_back(std::to_string(value));
  return joined(parts, " ");
}

void put_config(Metadata& metadata, const nn::GptConfig& config) {
  metadata["model.vocab_size"] = std::to_string(config.vocab_size);
  metadata["model.block_size"] = std::to_string(config.block_size);
  metadata["model.layers"] = std::to_string(config.layers);
  metadata["model.heads"] = std::to_string(config.heads);
  metadata["model.embed_dim"] = std::to_string(config.embed_dim);
  metadata["model.bias"] = config.bias ? "1" : "0";
  metadata["model.tied"] = config.tied ? "1" : "0";
  metadata["model.gelu"] = config.gelu == Gelu::erf ? "erf" : "tanh";
  if (!config.causal) metadata["model.causal"] = "0";
}

std::size_t size_entry(const SafetensorsFile& file, const std::string& key) {
  const std::size_t size = integer_entry(file, key);
  if (size == 0) throw_error(file.path, ": metadata '", key, "' is 0, a model needs at least 1");
  return size;
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
    stored += static_cast<double>(tensor.bytes) / sizeof(float);
  if (needed > stored)
    throw_error(file.path, ": its metadata describes a model of ", needed,
                " parameters, its tensors hold ", stored);
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
// of the history increase, and that `pending` agrees with the history's last step.
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
    state.arrays.emplace_back(tensor.name.substr(optimizer_prefix.size()), file.array(tensor.name));
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

void check_same_model(const SafetensorsFile& file, const nn::GptConfig& config) {
  Metadata expected;
  put_config(expected, config);
  for (const auto& [key, value] : expected)
    if (text_entry(file, key) != value)
      throw_error(file.path, ": '", key, "' is ", in_quotes(text_entry(file, key)),
                  ", this model's is '", value, "'");
}

// The metadata and tensors of a file to be written. The tensors point to the memory of the model's
// parameters.
struct Content {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
};

Content content_of(const Parameters& parameters, const nn::GptConfig& config,
                   const Vocabulary& vocabulary) {
  Content content;
  put_config(content.metadata, config);
  content.metadata["vocabulary.unit"] = unit_name(vocabulary.unit());
  content.metadata["vocabulary.tokens"] = vocabulary_text(vocabulary);
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
  const std::string& gelu = text_entry(file_, "model.gelu");
  if (gelu != "erf" && gelu != "tanh")
    throw_error(path(), ": metadata 'model.gelu' is ", in_quotes(gelu), ", neither erf nor tanh");
  config.gelu = gelu == "erf" ? Gelu::erf : Gelu::tanh;
  if (file_.metadata.count("model.causal") != 0)
    config.causal = integer_entry(file_, "model.causal", 1) == 1;
  check_size(file_, config);
  return config;
}

Vocabulary ModelFile::vocabulary() const {
  const Unit unit = unit_in(file_);
  const std::vector<std::string> tokens = split(text_entry(file_, "vocabulary.tokens"), ' ');
  try {
    if (unit == Unit::word) return Vocabulary(tokens);
    std::vector<std::uint32_t> values(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (!parse(tokens[i], values[i])) throw_error("metadata 'vocabulary.tokens' is damaged");
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
    else if (key == "train.seed")
      value = static_cast<Value>(integer_entry(file_, key, any_integer));
    else
      value = static_cast<Value>(integer_entry(file_, key));
  });
  return options;
}

TextFingerprint ModelFile::text() const {
  return {text_entry(file_, "text.path"), integer_entry(file_, "text.bytes", any_integer),
          integer_entry(file_, "text.hash", any_integer)};
}

void ModelFile::restore(Trainer& trainer) const {
  check_same_model(file_, trainer.model().config);
  const TrainerState state = trainer_state_in(file_, options());
  std::vector<Array> values = parameter_values(file_, trainer.parameters());
  try {
    trainer.restore(state);
  } catch (const Error& error) {
    throw_error(path(), ": ", error.what());
  }
  set_values(trainer.parameters(), std::move(values));
}

LoadedModel::LoadedModel(const ModelFile& file, Generator generator)
    : vocabulary(file.vocabulary()),
      model(Scope(parameters, generator), config_for(vocabulary, file)) {
  file.load_parameters(parameters);
}

void save_model(const std::filesystem::path& path, const Parameters& parameters,
                const nn::GptConfig& config, const Vocabulary& vocabulary) {
  Content content = content_of(parameters, config, vocabulary);
  write_safetensors(path, std::move(content.metadata), content.tensors);
}

void save_run(const std::filesystem::path& path, const Trainer& trainer,
              const Vocabulary& vocabulary, const TextFingerprint& text) {
  const TrainerState state = trainer.state();
  auto [metadata, tensors] = content_of(trainer.parameters(), trainer.model().config, vocabulary);
  for (const auto& [name, value] : option_texts(state.options)) metadata["train." + name] = value;
  metadata["train.step"] = std::to_string(state.step);
  metadata["train.generator"] = state.batch_generator;
  metadata["train.dropout_generator"] = state.dropout_generator;
  std::string& history = metadata[history_key];
  for (const LogRow& row : state.history) history += csv(row);
  metadata["train.pending"] = std::to_string(state.pending);
  metadata["train.pending_loss"] = exact(state.pending_loss);
  metadata["train.pending_ms"] = exact(state.pending_ms);
  metadata["train.optimizer_step"] = std::to_string(state.optimizer.step);
  for (const auto& [name, array] : state.optimizer.arrays)
    tensors.push_back(stored_tensor(std::string(optimizer_prefix) + name, array));
  metadata["text.path"] = text.path;
  metadata["text.bytes"] = std::to_string(text.bytes);
  metadata["text.hash"] = std::to_string(text.hash);
  write_safetensors(path, std::move(metadata), tensors);
}

}  // namespace HEED_NAMESPACE
