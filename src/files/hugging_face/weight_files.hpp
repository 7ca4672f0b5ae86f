// weight_files.hpp: opens the safetensors files of a folder.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "files/hugging_face/config.hpp"
#include "files/safetensors_reader.hpp"

namespace HEED_NAMESPACE::hugging_face {

// A tensor in one of the files of a model.
struct Location {
  const SafetensorsReader* file;
  std::size_t index;

  const StoredTensor& tensor() const { return file->tensors()[index]; }
  std::string name() const { return file->name(index); }
};

struct WeightFiles {
  std::vector<std::unique_ptr<SafetensorsReader>> files;
  std::unordered_map<std::string, Location> tensors;  // each tensor's location, by canonical name

  double elements() const;  // number of elements of all tensors
};

// Opens model.safetensors, or the files that model.safetensors.index.json names. Throws Error
// "PATH: ..." if there is neither, or if a file has other tensors than the index lists.
WeightFiles open_weights(const std::filesystem::path& folder, Source source);

}  // namespace HEED_NAMESPACE::hugging_face
