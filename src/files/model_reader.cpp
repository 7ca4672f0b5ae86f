// model_reader.cpp: loads the weights of a model's file piece by piece.

#include "files/model_reader.hpp"

#include <algorithm>

#include "base/machine.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/files/save.hpp"

namespace HEED_NAMESPACE {
namespace {

SafetensorsReader opened(const std::filesystem::path& path) {
  try {
    return SafetensorsReader(path);
  } catch (const NotSafetensors& error) {
    throw_error(path.string(), ": not a checkpoint: ", error.reason);
  }
}

ModelFile header_of(const SafetensorsReader& reader) {
  SafetensorsFile file;
  file.path = reader.path();
  file.metadata = reader.metadata();
  file.tensors = reader.tensors();
  file.has_checksum = reader.header().has_checksum;
  return ModelFile(std::move(file));
}

// Refuses a model for which the memory does not suffice.
nn::GptConfig checked_config(const ModelReader& reader, WeightType weights,
                             const Vocabulary& vocabulary) {
  const nn::GptConfig config = reader.file().config_for(vocabulary);
  const double bytes_each = weights == WeightType::bf16 ? 2 : sizeof(Real);
  const double bytes = nn::parameter_count<double>(config) * bytes_each;
  const auto available = static_cast<double>(std::min(usable_memory(), usable_addresses()));
  if (bytes > available)
    throw_error(reader.file().path(), ": its model needs ", grouped(bytes), " bytes, but only ",
                grouped(available), " bytes of memory are available");
  return config;
}

}  // namespace

ModelReader::ModelReader(const std::filesystem::path& path)
    : reader_(opened(path)), header_(header_of(reader_)) {}

void ModelReader::load(const Parameters& parameters, const Bf16Matrices& matrices) const {
  heed::load(reader_, parameters, matrices);
}

LoadedModel::LoadedModel(const ModelReader& reader, WeightType weights)
    : vocabulary(reader.file().vocabulary()),
      model(weights == WeightType::bf16
                ? nn::without_values(parameters, bf16_matrices,
                                     checked_config(reader, weights, vocabulary))
                : nn::without_values(parameters, checked_config(reader, weights, vocabulary))) {
  reader.load(parameters, bf16_matrices);
}

}  // namespace HEED_NAMESPACE
