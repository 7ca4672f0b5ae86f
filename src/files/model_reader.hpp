// model_reader.hpp: ModelReader, a model's file whose weights are read straight into place.
#pragma once

#include <filesystem>

#include "files/safetensors_reader.hpp"
#include "heed/files/model_file.hpp"

namespace HEED_NAMESPACE {

// A file of save_model() or save_run(), of which only the header was read. load() reads the weights
// piece by piece, so that they are in memory once. (ModelFile holds all bytes of the file, those of
// the optimizer too.)
class ModelReader {
 public:
  // Throws the errors of ModelFile::open, except those about the tensors' numbers and checksum.
  explicit ModelReader(const std::filesystem::path& path);

  // The entries of the file. has_checksum() says whether the file claims to have a checksum, which
  // load() checks. load_parameters() and restore() throw Error.
  const ModelFile& file() const { return header_; }

  // Loads every parameter and every matrix, and ignores the optimizer's tensors. Throws the errors
  // of ModelFile::load_parameters, and for a wrong checksum; the values are then undefined.
  void load(const Parameters& parameters, const Bf16Matrices& matrices = {}) const;

 private:
  SafetensorsReader reader_;
  ModelFile header_;
};

}  // namespace HEED_NAMESPACE
