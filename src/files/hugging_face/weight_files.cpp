// weight_files.cpp: opens the safetensors files of a folder.

#include "files/hugging_face/weight_files.hpp"

#include <map>
#include <set>

#include "files/hugging_face/json.hpp"
#include "files/hugging_face/tensors.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE::hugging_face {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

double WeightFiles::elements() const {
  double sum = 0;
  for (const auto& [name, location] : tensors) {
    double count = 1;
    for (const std::size_t size : location.tensor().shape) count *= static_cast<double>(size);
    sum += count;
  }
  return sum;
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

}  // namespace HEED_NAMESPACE::hugging_face
