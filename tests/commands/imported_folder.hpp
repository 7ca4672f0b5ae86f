// imported_folder.hpp: the folders of tiny models, which tests import and damage.
#pragma once

#include <functional>
#include <set>

#include "catch.hpp"
#include "commands/heed_program.hpp"

namespace heed_test {

namespace fs = std::filesystem;

using Tensors = std::vector<heed::StoredTensor>;

inline fs::path weights(const std::string& name) {
  return fs::path(HEED_TESTS_DIR) / "weights" / name;
}

inline std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

// A copy of a tiny model, to be damaged.
struct Folder : Sandbox {
  explicit Folder(const std::string& name) { fs::copy(weights(name), path / "m"); }

  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = content(path / "m" / file);
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    put(path / "m" / file, text.replace(at, from.size(), to));
  }
  void config(const std::string& from, const std::string& to) const {
    replace("config.json", from, to);
  }
  // Calls change(tensors) and writes the tensors again, as file `to`.
  void tensors(const std::function<void(Tensors&)>& change,
               const std::string& to = "model.safetensors") const {
    heed::SafetensorsFile file = heed::read_safetensors(path / "m" / "model.safetensors");
    change(file.tensors);
    heed::write_safetensors(path / "m" / to, {}, file.tensors);
  }
  heed::StoredTensor& find(Tensors& all, const std::string& name) const {
    for (heed::StoredTensor& tensor : all)
      if (tensor.name == name) return tensor;
    throw std::runtime_error("no tensor " + name);
  }
};

}  // namespace heed_test
