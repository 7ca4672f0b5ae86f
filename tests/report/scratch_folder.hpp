// scratch_folder.hpp: a folder of its own for a test, gone when the test ends.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

struct ScratchFolder {
  explicit ScratchFolder(const std::string& name = "plain")
      : path((std::filesystem::temp_directory_path() /
              ("heed report " + std::to_string(getpid()) + " " + name))
                 .string()) {
    std::filesystem::create_directories(path);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string operator/(const std::string& name) const { return path + "/" + name; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
  }

  std::string read(const std::string& name) const {
    std::ifstream file(*this / name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::string path;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
