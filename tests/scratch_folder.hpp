// scratch_folder.hpp: a folder of its own for a test, gone when the test ends.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.hpp"

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

// While one is alive, no program is found: as where nothing is installed.
struct EmptyPath {
  EmptyPath() : before(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "") {
    setenv("PATH", "/nonexistent", 1);
  }
  ~EmptyPath() { setenv("PATH", before.c_str(), 1); }
  std::string before;
};

// Whether a picture's message says that its program is not there, which no test may mind.
inline bool not_installed(const std::string& message) {
  if (contains(message, "not installed")) WARN(message);
  return contains(message, "not installed");
}
