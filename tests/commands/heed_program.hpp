// heed_program.hpp: runs the program heed in a temporary folder, with a tiny model.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "commands/child.hpp"
#include "heed/files/safetensors.hpp"
#include "scratch_folder.hpp"

namespace heed_test {

// A temporary folder with the training text in.txt. PATH hides gnuplot, which is slow.
struct Sandbox : ScratchFolder {
  Sandbox() { put(*this / "in.txt", story()); }

  static std::string story() {
    std::string text;
    for (int day = 0; text.size() < 3000; day = (day * 7 + 3) % 101)
      text += "On day " + std::to_string(day) + " the sea gave, and the quay took: rope.\n";
    return text;
  }

  Call call(const Arguments& arguments, const std::string& input = "") const {
    return {Arguments{HEED_BINARY_DIR "/heed"} + arguments, path, input, {{"PATH", "/nothing"}}};
  }
  Finished heed(const Arguments& arguments, const std::string& input = "") const {
    return run(call(arguments, input));
  }
  bool has_file(const std::string& name) const { return std::filesystem::exists(path / name); }
};

inline const Arguments tiny = {"--layers",     "1",  "--embed-dim", "16", "--heads",        "2",
                               "--block-size", "16", "--steps",     "20", "--eval-batches", "1",
                               "--threads",    "1"};

inline const Arguments train_tiny = Arguments{"train", "in.txt", "--out", "o"} + tiny;

// The content of loss.csv without its last column, which has the times.
inline std::string losses(const std::filesystem::path& run) {
  std::string result;
  const std::string csv = content(run / "loss.csv");
  for (std::size_t begin = 0; begin < csv.size(); begin = csv.find('\n', begin) + 1) {
    const std::string line = csv.substr(begin, csv.find('\n', begin) - begin);
    result += line.substr(0, line.rfind(',')) + "\n";
  }
  return result;
}

// The metadata and tensors of a checkpoint, except the checksum and entries with times.
inline std::map<std::string, std::string> state(const std::filesystem::path& run) {
  const heed::SafetensorsFile file = heed::read_safetensors(run / "checkpoint.safetensors");
  std::map<std::string, std::string> result = file.metadata;
  for (const char* name : {"heed.checksum", "train.history", "train.pending_ms"})
    result.erase(name);
  for (const heed::StoredTensor& tensor : file.tensors)
    result["tensor " + tensor.name].assign(reinterpret_cast<const char*>(tensor.data),
                                           tensor.bytes);
  return result;
}

// The names of the entries that differ between two checkpoints.
inline std::string difference(const std::filesystem::path& a, const std::filesystem::path& b) {
  auto left = state(a), right = state(b);
  std::string names;
  for (const auto& [name, value] : left)
    if (right.count(name) == 0 || right[name] != value) names += name + "\n";
  for (const auto& entry : right)
    if (left.count(entry.first) == 0) names += entry.first + "\n";
  return names;
}

}  // namespace heed_test
