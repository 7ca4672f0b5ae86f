// checkpoint.cpp: a model as named tensors and a few words about its form, and back.

#include "heed/nn/checkpoint.hpp"

#include <charconv>
#include <set>

#include "heed/array/error.hpp"
#include "heed/array/reduce.hpp"

namespace heed::nn {

void put_config(Metadata& metadata, const GptConfig& config) {
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

std::string exact(double value) {
  char text[32];  // any double fits
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

const std::string& entry(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    refuse(file.path, ": not a checkpoint of heed: its metadata has no '", key, "'");
  return found->second;
}

std::uint64_t whole(const SafetensorsFile& file, const std::string& key, std::uint64_t most) {
  const std::string& text = entry(file, key);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most)
    refuse(file.path, ": metadata '", key, "' is ", shown(text), ", not a whole number up to ",
           most);
  return value;
}

static bool yes(const SafetensorsFile& file, const std::string& key) {
  return whole(file, key, 1) == 1;
}

// So that a file of a few bytes cannot ask for a model of many. In double: sizes may overflow.
static void check_size(const SafetensorsFile& file, const GptConfig& config) {
  const auto size = [](std::size_t n) { return static_cast<double>(n); };
  const double C = size(config.embed_dim);
  const double least =
      (size(config.vocab_size) + size(config.block_size)) * C + size(config.layers) * 12 * C * C;
  double have = 0;
  for (const StoredTensor& tensor : file.tensors) have += size(tensor.bytes) / sizeof(float);
  if (least > have)
    refuse(file.path, ": its metadata describes a model of ", least,
           " parameters, its tensors hold ", have);
}

static std::size_t at_least_one(const SafetensorsFile& file, const std::string& key) {
  const std::size_t size = whole(file, key);
  if (size == 0) refuse(file.path, ": metadata '", key, "' is 0, a model needs at least 1");
  return size;
}

GptConfig config_from(const SafetensorsFile& file) {
  GptConfig config;
  config.vocab_size = at_least_one(file, "model.vocab_size");
  config.block_size = at_least_one(file, "model.block_size");
  config.layers = at_least_one(file, "model.layers");
  config.heads = at_least_one(file, "model.heads");
  config.embed_dim = at_least_one(file, "model.embed_dim");
  if (config.embed_dim % config.heads != 0)
    refuse(file.path, ": metadata 'model.heads' is ", config.heads,
           ", which does not divide 'model.embed_dim' ", config.embed_dim);
  config.bias = yes(file, "model.bias");
  config.tied = yes(file, "model.tied");
  const std::string& gelu = entry(file, "model.gelu");
  if (gelu != "erf" && gelu != "tanh")
    refuse(file.path, ": metadata 'model.gelu' is ", shown(gelu), ", neither erf nor tanh");
  config.gelu = gelu == "erf" ? Gelu::erf : Gelu::tanh;
  if (file.metadata.count("model.causal") != 0) config.causal = yes(file, "model.causal");
  check_size(file, config);
  return config;
}

void put_parameters(std::vector<StoredTensor>& tensors, const Parameters& parameters) {
  for (const Tensor& parameter : parameters)
    tensors.push_back(stored_tensor(parameter.name(), parameter.value()));
}

// What an optimizer keeps has names that begin so, and is the trainer's business.
static constexpr std::string_view optimizer_prefix = "optimizer.";

static void refuse_extra_tensors(const Parameters& parameters, const SafetensorsFile& file) {
  std::set<std::string_view> known;
  for (const Tensor& parameter : parameters) known.insert(parameter.name());
  for (const StoredTensor& tensor : file.tensors)
    if (known.count(tensor.name) == 0 &&
        tensor.name.compare(0, optimizer_prefix.size(), optimizer_prefix) != 0)
      refuse(file.path, ": tensor ", shown(tensor.name), " is of no parameter of this model");
}

void load_parameters(const Parameters& parameters, const SafetensorsFile& file) {
  std::vector<Array> values;
  for (const Tensor& parameter : parameters) {
    values.push_back(file.array(parameter.name()));
    if (values.back().shape() != parameter.shape())
      refuse(file.path, ": tensor '", parameter.name(), "' has shape ", str(values.back().shape()),
             ", the model needs ", str(parameter.shape()));
    if (!all_finite(values.back()))
      refuse(file.path, ": tensor '", parameter.name(), "' holds values that are not finite");
  }
  refuse_extra_tensors(parameters, file);
  std::size_t next = 0;
  for (Tensor parameter : parameters) parameter.mutable_value() = std::move(values[next++]);
}

}  // namespace heed::nn
