// run_folder.hpp: the folder of a training run, and the names of the files in it.
#pragma once

#include <filesystem>
#include <string>

#include "heed/train/model_file.hpp"

namespace heed::app {

// The path of the training text that is part of heed.
std::string default_text();

// Creates the folder and its parents if they do not exist. Throws Error
// `DIR: Permission denied; choose another --out` if that fails or the folder is not writable.
void make_folder(const std::filesystem::path& folder);

// The files of a run:
//   checkpoint.safetensors   weights, moments, step, generators, vocabulary, options, history
//   loss.csv                 one row every --log-every steps (see csv_header())
//   loss.svg, loss.gp        the loss curve, and the gnuplot script that draws it
//   sample.txt               text generated at the end
//   .heed-lock               exists while a trainer uses the folder (run_lock.hpp)
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path checkpoint() const { return folder_ / "checkpoint.safetensors"; }
  std::filesystem::path loss_csv() const { return folder_ / "loss.csv"; }
  std::filesystem::path sample() const { return folder_ / "sample.txt"; }

  void create() const;  // throws Error as make_folder() does

 private:
  std::filesystem::path folder_;
};

// The checkpoint in a run's folder if `run` is a folder, otherwise `run` itself.
std::filesystem::path checkpoint_in(const std::string& run);

// Throws Error, which suggests --trust, if the file has no checksum and `trust` is false. Call it
// after all other checks of the file.
void check_trusted(const ModelFile& file, bool trust);

}  // namespace heed::app
