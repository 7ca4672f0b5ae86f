// speeds.hpp: made-up speeds of libraries for matrix products, for tests of the measured choice.
#pragma once

#include <filesystem>
#include <vector>

#include "catch.hpp"
#include "gemm/measured_choice.hpp"

namespace heed_test {

// Speeds in which each library in turn is the fastest, or OpenBLAS nearly.
inline std::vector<heed::GemmSpeed> speeds() {
  using heed::GemmForm;
  return {{GemmForm::nn, 64, 64, 32, {50, 55, 40}},
          {GemmForm::nt, 768, 128, 128, {50, 40, 60}},
          {GemmForm::tn, 768, 128, 128, {50, 51, 0}}};
}

// The path of the only file in a folder.
inline std::filesystem::path only_file_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  return files[0];
}

}  // namespace heed_test
