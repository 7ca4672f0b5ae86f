// run_folder.hpp: where a training run keeps its checkpoint, its numbers and its pictures.
#pragma once

#include <filesystem>
#include <string>

#include "heed/train/model_file.hpp"

namespace heed::app {

// The text that comes with heed.
std::string default_text();

// Makes the folder, with those above it, if it is not there. Throws Error
// `DIR: Permission denied; choose another --out`, also when nothing can be written in it.
void make_folder(const std::filesystem::path& folder);

// The files of a run:
//   checkpoint.safetensors   weights, moments, step, generators, vocabulary, options, history
//   loss.csv                 a line every few steps (see csv_header())
//   loss.svg, loss.gp        the curve, and the gnuplot script that drew it
//   sample.txt               what the model wrote at the end
//   .heed-lock               while a trainer is at work (run_lock.hpp)
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path checkpoint() const { return folder_ / "checkpoint.safetensors"; }
  std::filesystem::path loss_csv() const { return folder_ / "loss.csv"; }
  std::filesystem::path sample() const { return folder_ / "sample.txt"; }

  void create() const;  // throws Error as make_folder does

 private:
  std::filesystem::path folder_;
};

// The checkpoint in a run's folder, or the file itself.
std::filesystem::path checkpoint_in(const std::string& run);

// Call it when all else is known to be right: throws Error that proposes --trust for a file without
// heed's checksum, unless that was given.
void check_trusted(const ModelFile& file, bool trust);

}  // namespace heed::app
