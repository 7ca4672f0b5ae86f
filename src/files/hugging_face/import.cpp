// import.cpp: reads a model from a folder of Hugging Face's, tensor by tensor.

#include <algorithm>
#include <set>

#include "base/machine.hpp"
#include "files/hugging_face/tensors.hpp"
#include "files/hugging_face/vocabulary.hpp"
#include "files/hugging_face/weight_files.hpp"
#include "files/llama2_c.hpp"
#include "files/model_entries.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/files/hugging_face.hpp"

namespace HEED_NAMESPACE {
namespace hugging_face {
namespace {

namespace fs = std::filesystem;

// ---- checks before memory is used

// Throws Error if the tensors hold less than half of what the model needs, so that a small file
// cannot create a huge model. If less is missing, paired() names the tensor. Computes in double,
// since the number of elements may overflow.
void check_size(const fs::path& folder, const nn::GptConfig& config, const WeightFiles& weights) {
  const std::string file = (folder / "config.json").string();
  constexpr std::size_t tensors_per_layer = 6;  // nanoGPT's model without biases
  if (config.layers > weights.tensors.size() / tensors_per_layer)
    throw_error(file, ": describes a model of ", counted(config.layers, "layer"),
                ", each of at least 6 tensors, but the files have ",
                counted(weights.tensors.size(), "tensor"));
  const double needed = nn::parameter_count<double>(config), stored = weights.elements();
  if (needed > 2 * stored)
    throw_error(file, ": describes a model of ", grouped(needed), " parameters, the files hold ",
                grouped(stored));
  check_memory(needed * sizeof(Real), file + ": describes a model of");
}

// The shape of the tensor in the file: that of its parameters, concatenated along axis 0.
Shape shape_in_file(const ForeignTensor& tensor, const Parameters& parameters) {
  Shape shape = parameters.at(tensor.parameters[0]).shape();
  shape[0] *= tensor.parameters.size();
  if (tensor.transposed) std::swap(shape[0], shape[1]);
  return shape;
}

void check_tensor(const Location& location, const Shape& expected) {
  const StoredTensor& tensor = location.tensor();
  const Shape shape(tensor.shape.begin(), tensor.shape.end());
  if (shape != expected)
    throw_error(location.name(), ": has shape ", str(shape), ", the model needs ", str(expected));
  location.file->check_dtype(location.index);
}

// Throws Error if a file that heed wrote changed afterwards.
void check_checksums(const WeightFiles& weights) {
  const auto no_tensor = [](std::size_t) { return false; };
  for (const auto& file : weights.files)
    if (file->header().has_checksum) file->read_all(no_tensor, {});
}

// ---- copying

// Copies a matrix (in, out) into parameters (out_i, in), whose sum of out_i is `out`.
void read_transposed(const Location& location, const std::vector<Tensor>& parameters) {
  const std::size_t in = location.tensor().shape[0], out = location.tensor().shape[1];
  const std::size_t out_each = out / parameters.size(), block = 64;
  std::vector<Real> rows(std::min(block, in) * out);
  for (std::size_t first = 0; first < in; first += block) {
    const std::size_t count = std::min(block, in - first);
    location.file->read(location.index, first * out, count * out, rows.data());
    for (std::size_t j = 0; j < out; ++j) {
      Real* const row = parameters[j / out_each].mutable_value().data() + j % out_each * in + first;
      for (std::size_t i = 0; i < count; ++i) row[i] = rows[i * out + j];
    }
  }
}

void read_in_order(const Location& location, const std::vector<Tensor>& parameters) {
  std::size_t first = 0;
  for (const Tensor& parameter : parameters) {
    Array& values = parameter.mutable_value();
    location.file->read(location.index, first, values.size(), values.data());
    first += values.size();
  }
}

// Checks a second copy of a parameter, such as lm_head.weight of a tied model.
void check_copy(const Location& location, const Tensor& parameter) {
  const Array& values = parameter.value();
  std::vector<Real> piece(std::min<std::size_t>(values.size(), 65536));
  for (std::size_t first = 0; first < values.size(); first += piece.size()) {
    const std::size_t count = std::min(piece.size(), values.size() - first);
    location.file->read(location.index, first, count, piece.data());
    if (!std::equal(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count),
                    values.data() + first))
      throw_error(location.name(), ": differs from the tensor of '", parameter.name(),
                  "', to which it is tied");
  }
}

std::vector<ForeignTensor> own_tensors(const Parameters& parameters) {
  std::vector<ForeignTensor> tensors;
  for (const Tensor& parameter : parameters)
    tensors.push_back({parameter.name(), {parameter.name()}});
  return tensors;
}

std::vector<Tensor> find_all(const Parameters& parameters, const std::vector<std::string>& names) {
  std::vector<Tensor> found;
  for (const std::string& name : names) found.push_back(parameters.at(name));
  return found;
}

// A tensor of the folder, and the tensor of the file that holds it.
using Pairs = std::vector<std::pair<ForeignTensor, Location>>;

// Throws Error unless the files hold each parameter in its shape, and nothing else.
Pairs paired(const fs::path& folder, const std::vector<ForeignTensor>& expected, Source source,
             const WeightFiles& weights, const Parameters& parameters) {
  Pairs pairs;
  std::set<std::string> names, filled;
  for (const ForeignTensor& tensor : expected) {
    names.insert(tensor.name);
    const bool is_copy = filled.count(tensor.parameters[0]) != 0;
    const Shape shape = shape_in_file(tensor, parameters);
    const auto found = weights.tensors.find(tensor.name);
    if (found == weights.tensors.end()) {
      if (is_copy && source != Source::nanogpt) continue;
      throw_error(folder.string(), ": no tensor ", in_quotes(tensor.name), " ", str(shape));
    }
    check_tensor(found->second, shape);
    pairs.push_back({tensor, found->second});
    filled.insert(tensor.parameters[0]);
  }
  for (const auto& [name, location] : weights.tensors)
    if (names.count(name) == 0 && !is_ignorable(source, name))
      throw_error(location.name(), ": belongs to no parameter of this model");
  return pairs;
}

void copy(const Pairs& pairs, const Parameters& parameters) {
  std::set<std::string> filled;
  for (const auto& [tensor, location] : pairs) {
    const std::vector<Tensor> targets = find_all(parameters, tensor.parameters);
    if (!filled.insert(tensor.parameters[0]).second)
      check_copy(location, targets[0]);
    else if (tensor.transposed)
      read_transposed(location, targets);
    else
      read_in_order(location, targets);
  }
}

}  // namespace

// What is read from a folder before memory for the model is used.
struct Folder {
  explicit Folder(const fs::path& path)
      : config(read_config(path)), weights(open_weights(path, config.source)) {
    if (config.source == Source::heed) config.model = config_in_metadata(path);
    check_size(path, config.model, weights);
  }

  // The configuration in the metadata of config.json, checked against the tensors.
  nn::GptConfig config_in_metadata(const fs::path& path) const {
    SafetensorsFile file;
    file.path = (path / "config.json").string();
    file.metadata = config.metadata;
    for (const auto& [name, location] : weights.tensors) file.tensors.push_back(location.tensor());
    return config_in(file);
  }

  ForeignConfig config;
  WeightFiles weights;
};

}  // namespace hugging_face

namespace {

Vocabulary checked_vocabulary(const std::filesystem::path& folder,
                              const hugging_face::ForeignConfig& config) {
  Vocabulary vocabulary = hugging_face::read_vocabulary(folder, config);
  if (vocabulary.size() != config.model.vocab_size)
    throw_error(folder.string(), ": config.json has a vocab_size of ", config.model.vocab_size,
                ", but the vocabulary has ", vocabulary.size(), " tokens");
  return vocabulary;
}

}  // namespace

ImportedModel::ImportedModel(const std::filesystem::path& folder)
    : ImportedModel(folder, hugging_face::Folder(folder)) {}

ImportedModel::ImportedModel(const std::filesystem::path& folder, const hugging_face::Folder& files)
    : vocabulary(checked_vocabulary(folder, files.config)),
      model(nn::without_values(parameters, files.config.model)) {
  using namespace hugging_face;
  const Source source = files.config.source;
  const auto expected =
      source == Source::heed ? own_tensors(parameters) : tensors_of(source, model.config);
  const Pairs pairs = paired(folder, expected, source, files.weights, parameters);
  check_checksums(files.weights);
  copy(pairs, parameters);
}

ImportedModel::ImportedModel(const std::filesystem::path& checkpoint,
                             const std::filesystem::path& tokenizer)
    : ImportedModel(Llama2CFile(checkpoint), tokenizer) {}

ImportedModel::ImportedModel(const Llama2CFile& checkpoint, const std::filesystem::path& tokenizer)
    : vocabulary(Vocabulary::from_files(
          Unit::sentence_piece, {llama2_c_vocabulary(tokenizer, checkpoint.config().vocab_size)},
          {tokenizer.string()})),
      model(nn::without_values(parameters, checkpoint.config())) {
  checkpoint.load(parameters);
}

}  // namespace HEED_NAMESPACE
