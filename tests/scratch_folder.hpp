// scratch_folder.hpp: a temporary folder that is removed at the end of a test, and its files.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "message_of.hpp"

namespace heed_test {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Writes a file without write_file_atomically, which some of the tests check.
inline void put(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

struct ScratchFolder {
  // If a name is given, the folder's path contains the name between spaces.
  explicit ScratchFolder(const std::string& name = "") {
    const std::string pattern = name.empty() ? "heed_test_XXXXXX" : "heed " + name + " XXXXXX";
    std::string folder = (std::filesystem::temp_directory_path() / pattern).string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path = std::filesystem::canonical(folder);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path / name; }

  void write(const std::string& name, const std::string& text) const { put(path / name, text); }
  std::string read(const std::string& name) const { return content(path / name); }

  std::size_t files() const {
    const std::filesystem::directory_iterator begin(path), end;
    return static_cast<std::size_t>(std::distance(begin, end));
  }

  std::filesystem::path path;
};

}  // namespace heed_test
