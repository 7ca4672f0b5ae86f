// folder.hpp: the folder of suites by others, HEED_FOREIGN.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace heed_test {

// The file or folder of this name in HEED_FOREIGN. If it is not there, prints that the suite is
// skipped, and returns an empty path.
inline std::filesystem::path foreign(const std::string& suite, const std::string& name) {
  const char* const folder = std::getenv("HEED_FOREIGN");
  const std::filesystem::path path = std::filesystem::path(folder == nullptr ? "" : folder) / name;
  if (folder != nullptr && std::filesystem::exists(path)) return path;
  std::cout << "skipped: " << suite << ", because HEED_FOREIGN has no " << name << '\n';
  return {};
}

}  // namespace heed_test
