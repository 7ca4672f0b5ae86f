// plot_programs.hpp: tests of gnuplot and dot on machines with and without these programs.
#pragma once

#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "scratch_folder.hpp"

namespace heed_test {

// While an object of this type exists, no program is found, as if none was installed.
struct EmptyPath {
  EmptyPath() : before(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "") {
    setenv("PATH", "/nonexistent", 1);
  }
  ~EmptyPath() { setenv("PATH", before.c_str(), 1); }
  std::string before;
};

// Whether a plot's message says that the program is not installed. The test then warns and passes.
inline bool not_installed(const std::string& message) {
  if (has(message, "not installed")) WARN(message);
  return has(message, "not installed");
}

}  // namespace heed_test
