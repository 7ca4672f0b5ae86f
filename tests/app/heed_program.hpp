// heed_program.hpp: the program itself, on a small text with a tiny model.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "app/child.hpp"
#include "heed/io/safetensors.hpp"
#include "io/file_tests.hpp"

namespace heed_test {

// A folder to work in, with in.txt to learn. There is no gnuplot, which takes longer than the rest.
struct Desk : TemporaryFolder {
  Desk() { put(*this / "in.txt", story()); }

  static std::string story() {
    std::string text;
    for (int day = 0; text.size() < 3000; day = (day * 7 + 3) % 101)
      text += "On day " + std::to_string(day) + " the sea gave, and the quay took: rope.\n";
    return text;
  }

  Call call(const Words& words, const std::string& input = "") const {
    return {Words{HEED_BINARY_DIR "/heed"} + words, path, input, {{"PATH", "/nothing"}}};
  }
  Finished heed(const Words& words, const std::string& input = "") const {
    return run(call(words, input));
  }
  bool has_file(const std::string& name) const { return std::filesystem::exists(path / name); }
};

inline const Words tiny = {"--layers",     "1",  "--embed-dim", "16", "--heads",        "2",
                           "--block-size", "16", "--steps",     "20", "--eval-batches", "1",
                           "--threads",    "1"};

inline const Words train_tiny = Words{"train", "in.txt", "--out", "o"} + tiny;

// loss.csv without the times in its last column.
inline std::string losses(const std::filesystem::path& run) {
  std::string result;
  const std::string csv = content(run / "loss.csv");
  for (std::size_t begin = 0; begin < csv.size(); begin = csv.find('\n', begin) + 1) {
    const std::string line = csv.substr(begin, csv.find('\n', begin) - begin);
    result += line.substr(0, line.rfind(',')) + "\n";
  }
  return result;
}

// Everything in a checkpoint that does not tell how long it took.
inline std::map<std::string, std::string> state(const std::filesystem::path& run) {
  const heed::SafetensorsFile file = heed::read_safetensors(run / "checkpoint.safetensors");
  std::map<std::string, std::string> result = file.metadata;
  for (const char* timed : {"heed.checksum", "train.history", "train.pending_ms"})
    result.erase(timed);
  for (const heed::StoredTensor& tensor : file.tensors)
    result["tensor " + tensor.name].assign(reinterpret_cast<const char*>(tensor.data),
                                           tensor.bytes);
  return result;
}

// The names of what two checkpoints hold differently.
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
