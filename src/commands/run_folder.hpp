// run_folder.hpp: RunFolder, the folder of a training run and the names of its files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/files/model_file.hpp"

namespace heed::app {

// The path of the training text that comes with heed.
std::string default_text();

// Creates the folder and its parents if they do not exist. Throws Error, which ends with `advice`,
// if the folder cannot be created or is not writable.
void make_folder(const std::filesystem::path& folder,
                 const std::string& advice = "choose another --out");

// Removes the file, if there is one. Throws Error if it cannot be removed.
void remove_file(const std::filesystem::path& file);

// A folder of the files step-N.safetensors: the state of a run after N steps.
struct StepFolder {
  std::filesystem::path path;

  std::filesystem::path file(std::int64_t step) const;
  std::vector<std::int64_t> steps() const;     // of the files, in ascending order
  void remove_after(std::int64_t last) const;  // removes the files of later steps; -1: all
};

// The files of a run:
//   checkpoint.safetensors   weights, moments, step, random generators, vocabulary, options, losses
//   loss.csv                 one row every --log-every steps (see loss_csv.hpp)
//   loss.svg, loss.gp        the loss curve, and the gnuplot script that plots it
//   sample.txt               text generated at the end
//   watch.html               with --watch: the page that follows the training
//   history/                 with --keep-history: the model at each validation
//   record/                  with --record: states from which heed replay computes any step again
//   .heed-lock               exists while a trainer uses the folder (see RunLock)
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path checkpoint() const { return path / "checkpoint.safetensors"; }
  std::filesystem::path loss_csv() const { return path / "loss.csv"; }
  std::filesystem::path sample() const { return path / "sample.txt"; }
  StepFolder history() const { return {path / "history"}; }
  StepFolder record() const { return {path / "record"}; }
  std::filesystem::path watch() const { return path / "watch.html"; }
  std::filesystem::path lock() const { return path / ".heed-lock"; }
  // All files of the run that are no models: the losses, their curve and the sample.
  std::vector<std::filesystem::path> reports() const {
    return {loss_csv(), path / "loss.svg", path / "loss.gp", sample(), watch()};
  }
  // All files of the run: the checkpoint and the reports, which may not exist, and the kept states.
  std::vector<std::filesystem::path> files() const;

  bool has_checkpoint() const;
  // Whether there is a file with the name of a run's, which --replace would replace.
  bool has_files() const;

  // Removes the temporary files of programs that were killed.
  void remove_temporaries() const;

  // Creates the folder with make_folder(), and calls remove_temporaries(). Throws Error if
  // `history` or `record` is a symbolic link, or has files and is not writable, or if one of its
  // files is a folder.
  void create() const;
};

// Throws Error if the folder has a run, or other files with the names of a run's, that a command
// would replace without --replace. `advice` says what else the user can do with a run.
void check_no_run(const RunFolder& folder, const std::string& advice);

// Throws Error if the training text is a file of the run in the folder, which would be replaced.
void check_not_of_run(const RunFolder& folder, const std::string& text);

// Returns the folder `run`, or the one with the checkpoint `run`, or runs/`run` if neither exists.
// It may lack a checkpoint. Throws Error if there is no such folder, or if `run` is another file.
RunFolder run_folder(const std::string& run);

// Returns the path of the checkpoint in the folder `run`, or `run` itself if that is not a folder.
// If there is no such file, but a run runs/`run`, returns the path of that run's checkpoint. Throws
// Error if neither exists.
std::filesystem::path checkpoint_in(const std::string& run);

// Throws Error, which suggests --trust, if the file has no checksum and `trust` is false. Call
// check_trusted() before the content is used: a file of another program could be made to take long.
void check_trusted(const ModelFile& file, bool trust);

}  // namespace heed::app
