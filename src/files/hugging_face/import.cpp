// import.cpp: reads a model from a folder of Hugging Face's, tensor by tensor.

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <unordered_map>

#include "base/machine.hpp"
#include "files/hugging_face/parts.hpp"
#include "files/safetensors_reader.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/files/hugging_face.hpp"
#include "heed/files/model_file.hpp"

namespace HEED_NAMESPACE {
namespace hugging_face {
namespace {

namespace fs = std::filesystem;

// ---- the files with tensors

// A tensor in one of the files of a model.
struct Location {
  const SafetensorsReader* file;
  std::size_t index;

  const StoredTensor& tensor() const { return file->tensors()[index]; }
  std::string name() const { return file->name(index); }
};

struct WeightFiles {
  std::vector<std::unique_ptr<SafetensorsReader>> files;
  std::unordered_map<std::string, Location> tensors;  // by canonical name

  double elements() const {
    double sum = 0;
    for (const auto& [name, location] : tensors) {
      double count = 1;
      for (const std::size_t size : location.tensor().shape) count *= static_cast<double>(size);
      sum += count;
    }
    return sum;
  }
};

[[noreturn]] void throw_no_weights(const fs::path& folder) {
  for (const char* name : {"pytorch_model.bin", "pytorch_model.bin.index.json", "ckpt.pt"})
    if (file_exists(folder / name))
      throw_error((folder / name).string(),
                  ": is a Python pickle, which heed does not read; convert it with "
                  "tools/weights/pickle_to_safetensors.py");
  throw_error(folder.string(), ": has neither model.safetensors nor model.safetensors.index.json");
}

std::unique_ptr<SafetensorsReader> opened(const fs::path& path) {
  try {
    return std::make_unique<SafetensorsReader>(path);
  } catch (const NotSafetensors& error) {
    const bool is_pickle = error.reason.find("pickle") != std::string::npos ||
                           error.reason.find("a zip archive") != std::string::npos;
    throw_error(path.string(), ": ", error.reason,
                is_pickle ? "; convert it with tools/weights/pickle_to_safetensors.py" : "");
  }
}

void add_tensors(WeightFiles& weights, Source source, const SafetensorsReader& file) {
  for (std::size_t i = 0; i < file.tensors().size(); ++i) {
    const Location location{&file, i};
    const auto [found, is_new] =
        weights.tensors.emplace(canonical_name(source, file.tensors()[i].name), location);
    if (!is_new)
      throw_error(location.name(), ": names the same tensor as ",
                  in_quotes(found->second.tensor().name));
  }
}

// Checks that the tensors of a file are `listed`, those that the index lists for it.
void check_listed(std::set<std::string> listed, const SafetensorsReader& file) {
  for (const StoredTensor& tensor : file.tensors())
    if (listed.erase(tensor.name) == 0)
      throw_error(file.path(), ": tensor ", in_quotes(tensor.name),
                  ": the index does not list it for this file");
  if (!listed.empty())
    throw_error(file.path(), ": no tensor ", in_quotes(*listed.begin()), ", which the index lists");
}

WeightFiles open_weights(const fs::path& folder, Source source) {
  WeightFiles weights;
  const fs::path single = folder / "model.safetensors";
  const fs::path index_path = folder / "model.safetensors.index.json";
  if (file_exists(single)) {
    weights.files.push_back(opened(single));
    add_tensors(weights, source, *weights.files[0]);
    return weights;
  }
  if (!file_exists(index_path)) throw_no_weights(folder);
  std::map<std::string, std::set<std::string>> tensors_of_file;
  for (const auto& [tensor, file] : read_index(index_path)) tensors_of_file[file].insert(tensor);
  for (const auto& [file, tensors] : tensors_of_file) {
    weights.files.push_back(opened(folder / file));
    check_listed(tensors, *weights.files.back());
    add_tensors(weights, source, *weights.files.back());
  }
  return weights;
}

// ---- checks before memory is used

// Throws Error if the tensors hold less than half of what the model needs, so that a small file
// cannot create a huge model. If less is missing, paired() names the tensor. Computes in double,
// since the number of elements may overflow.
void check_size(const fs::path& folder, const nn::GptConfig& config, const WeightFiles& weights) {
  const std::string file = (folder / "config.json").string();
  constexpr std::size_t tensors_per_layer = 6;  // nanoGPT's without biases
  if (config.layers > weights.tensors.size() / tensors_per_layer)
    throw_error(file, ": describes a model of ", counted(config.layers, "layer"),
                ", each of at least 6 tensors, but the files have ",
                counted(weights.tensors.size(), "tensor"));
  const double needed = nn::parameter_count<double>(config), stored = weights.elements();
  if (needed > 2 * stored)
    throw_error(file, ": describes a model of ", grouped(needed), " parameters, the files hold ",
                grouped(stored));
  const double available = static_cast<double>(std::min(usable_memory(), usable_addresses()));
  if (needed * sizeof(Real) > available)
    throw_error(file, ": describes a model of ", grouped(needed * sizeof(Real)),
                " bytes, but only ", grouped(available), " bytes of memory are available");
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

// What is known of a folder before memory for the model is used.
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
    for (const auto& [name, location] : weights.tensors) {
      file.tensors.push_back(location.tensor());
    }
    return ModelFile(std::move(file)).config();
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

}  // namespace HEED_NAMESPACE
