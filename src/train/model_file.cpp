// model_file.cpp: saves and loads a model's configuration, vocabulary and parameters.

#include "heed/train/model_file.hpp"

#include <charconv>
#include <set>
#include <utility>

#include "heed/array/reduce.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "train/metadata.hpp"

namespace HEED_NAMESPACE {
namespace {

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

// Words, or code points or bytes as numbers, separated by single spaces.
std::string vocabulary_text(const Vocabulary& vocabulary) {
  std::vector<std::string> parts = vocabulary.words();
  for (const std::uint32_t value : vocabulary.characters()) parts.push_back(std::to_string(value));
  return joined(parts, " ");
}

std::vector<std::uint32_t> parse_values(const SafetensorsFile& file, const std::string& text) {
  std::vector<std::uint32_t> values;
  for (const std::string& part : split(text, ' ')) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size())
      throw_error(file.path, ": metadata 'vocabulary.tokens' is damaged");
    values.push_back(value);
  }
  return values;
}

void put_vocabulary(Metadata& metadata, const Vocabulary& vocabulary) {
  metadata["vocabulary.unit"] = unit_name(vocabulary.unit());
  metadata["vocabulary.tokens"] = vocabulary_text(vocabulary);
}

void put_parameters(std::vector<StoredTensor>& tensors, const Parameters& parameters) {
  for (const Tensor& parameter : parameters)
    tensors.push_back(stored_tensor(parameter.name(), parameter.value()));
}

std::size_t size_entry(const SafetensorsFile& file, const std::string& key) {
  const std::size_t size = integer_entry(file, key);
  if (size == 0) throw_error(file.path, ": metadata '", key, "' is 0, a model needs at least 1");
  return size;
}

// Prevents a small file from creating a huge model. Computes in double, since sizes may overflow.
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

void check_no_extra_tensors(const SafetensorsFile& file, const Parameters& parameters) {
  std::set<std::string_view> known;
  for (const Tensor& parameter : parameters) known.insert(parameter.name());
  for (const StoredTensor& tensor : file.tensors)
    if (known.count(tensor.name) == 0 &&
        tensor.name.compare(0, optimizer_prefix.size(), optimizer_prefix) != 0)
      throw_error(file.path, ": tensor ", in_quotes(tensor.name),
                  " belongs to no parameter of this model");
}

nn::GptConfig config_for(const Vocabulary& vocabulary, const ModelFile& file) {
  const nn::GptConfig config = file.config();
  if (config.vocab_size != vocabulary.size())
    throw_error(file.path(), ": the model's vocab_size is ", config.vocab_size,
                ", but its vocabulary has ", vocabulary.size(), " tokens");
  return config;
}

}  // namespace

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
  config.bias = flag_entry(file_, "model.bias");
  config.tied = flag_entry(file_, "model.tied");
  const std::string& gelu = text_entry(file_, "model.gelu");
  if (gelu != "erf" && gelu != "tanh")
    throw_error(path(), ": metadata 'model.gelu' is ", in_quotes(gelu), ", neither erf nor tanh");
  config.gelu = gelu == "erf" ? Gelu::erf : Gelu::tanh;
  if (file_.metadata.count("model.causal") != 0) config.causal = flag_entry(file_, "model.causal");
  check_size(file_, config);
  return config;
}

Vocabulary ModelFile::vocabulary() const {
  const Unit unit = unit_in(file_);
  const std::string& text = text_entry(file_, "vocabulary.tokens");
  std::vector<std::uint32_t> values;
  if (unit != Unit::word) values = parse_values(file_, text);
  try {
    return unit == Unit::word ? Vocabulary(split(text, ' ')) : Vocabulary(unit, std::move(values));
  } catch (const Error& error) {
    throw_error(path(), ": ", error.what());
  }
}

std::vector<Array> ModelFile::parameter_values(const Parameters& parameters) const {
  std::vector<Array> values;
  for (const Tensor& parameter : parameters) {
    values.push_back(file_.array(parameter.name()));
    if (values.back().shape() != parameter.shape())
      throw_error(path(), ": tensor '", parameter.name(), "' has shape ",
                  str(values.back().shape()), ", the model needs ", str(parameter.shape()));
    if (!all_finite(values.back()))
      throw_error(path(), ": tensor '", parameter.name(), "' holds values that are not finite");
  }
  check_no_extra_tensors(file_, parameters);
  return values;
}

void ModelFile::load_parameters(const Parameters& parameters) const {
  std::vector<Array> values = parameter_values(parameters);
  std::size_t next = 0;
  for (Tensor parameter : parameters) parameter.mutable_value() = std::move(values[next++]);
}

LoadedModel::LoadedModel(const ModelFile& file) : LoadedModel(file, Generator(0)) {}

// The file's weights replace the initial weights that the generator draws.
LoadedModel::LoadedModel(const ModelFile& file, Generator generator)
    : vocabulary(file.vocabulary()),
      model(Scope(parameters, generator), config_for(vocabulary, file)) {
  file.load_parameters(parameters);
}

void save_model(const std::filesystem::path& path, const Parameters& parameters,
                const nn::GptConfig& config, const Vocabulary& vocabulary) {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  put_config(metadata, config);
  put_vocabulary(metadata, vocabulary);
  put_parameters(tensors, parameters);
  write_safetensors(path, std::move(metadata), tensors);
}

void save_run(const std::filesystem::path& path, const Trainer& trainer,
              const Vocabulary& vocabulary, const TextFingerprint& text) {
  Metadata metadata;
  std::vector<StoredTensor> tensors;
  const TrainerState state = trainer.state();
  put_config(metadata, trainer.model().config);
  put_vocabulary(metadata, vocabulary);
  put_parameters(tensors, trainer.parameters());
  put_run(metadata, tensors, state);
  metadata["text.path"] = text.path;
  metadata["text.bytes"] = std::to_string(text.bytes);
  metadata["text.hash"] = std::to_string(text.hash);
  write_safetensors(path, std::move(metadata), tensors);
}

}  // namespace HEED_NAMESPACE
