// run_folder.hpp: the folder of a training run: its file names (RunFolder) and its lock (RunLock).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
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

// The files of a run:
//   checkpoint.safetensors   weights, moments, step, random generators, vocabulary, options, losses
//   loss.csv                 one row every --log-every steps (see loss_csv.hpp)
//   loss.svg, loss.gp        the loss curve, and the gnuplot script that plots it
//   sample.txt               text generated at the end
//   history/                 with --keep-history: the model at each validation
//   history/.replaced/       while another run replaces this one: the models of this run
//   .heed-lock               exists while a trainer uses the folder (see RunLock)
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path checkpoint() const { return path / "checkpoint.safetensors"; }
  std::filesystem::path loss_csv() const { return path / "loss.csv"; }
  std::filesystem::path sample() const { return path / "sample.txt"; }
  std::filesystem::path history() const { return path / "history"; }
  std::filesystem::path replaced_models() const { return history() / ".replaced"; }
  std::filesystem::path moving_models() const { return history() / ".moving"; }
  // All files of the run that are no models: the losses, their curve and the sample.
  std::vector<std::filesystem::path> reports() const {
    return {loss_csv(), path / "loss.svg", path / "loss.gp", sample()};
  }

  // history/step-N.safetensors: the model after N steps, kept with --keep-history.
  std::filesystem::path history_file(std::int64_t step) const;
  // The steps of the kept models, in ascending order.
  std::vector<std::int64_t> history_steps() const;
  // Removes the kept models after step `last` (-1: all), which belong to another run.
  void remove_history_after(std::int64_t last) const;

  // A run is replaced in this order: its models are set aside; the models of the new run, then its
  // checkpoint, get their names; the old models are removed. If the new checkpoint is not there,
  // because the program failed or was killed, its temporary file still exists (see AtomicFile):
  // then end_replacing() brings the old models back. It returns whether the new checkpoint failed.
  void set_models_aside() const;
  bool end_replacing() const;
  bool is_being_replaced() const;  // whether history/ may have models of another run

  // Creates the folder with make_folder(), and ends the replacing of a run by a program that was
  // killed. Throws Error if `history` is a symbolic link, or has models and is not writable, or if
  // one of its models is a folder.
  void create() const;
};

// Locks the file `.heed-lock` in a run's folder with flock(), so that only one trainer at a time
// uses the folder. The file contains the process ID and the host name of the trainer. The kernel
// releases the lock when the trainer ends, even if it is killed, and the next trainer reuses the
// file. On file systems that do not support flock(), two trainers can use the same folder.
class RunLock {
 public:
  // Error messages of acquire() end with `advice`.
  explicit RunLock(std::filesystem::path folder, std::string advice = "choose another --out")
      : path_(std::move(folder) / ".heed-lock"), advice_(std::move(advice)) {}
  ~RunLock();  // removes the lock file
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Does nothing if this RunLock already holds the lock. Throws Error `DIR: in use by process 123`
  // if another process holds the lock, and if the file is not a regular file with one name.
  void acquire();
  // Calls acquire() if the folder exists and is writable, otherwise does nothing.
  void acquire_if_possible();

 private:
  bool try_once();

  std::filesystem::path path_;
  std::string advice_;
  int descriptor_ = -1;
};

// Throws Error if the folder has a run, or other files with the names of a run's, that a command
// would replace without --replace. `advice` says what else the user can do with a run.
void check_no_run(const RunFolder& folder, const std::string& advice);

// Throws Error if the training text is a file of the run in the folder, which would be replaced.
void check_not_of_run(const RunFolder& folder, const std::string& text);

// Returns the path of the checkpoint in the folder `run`, or `run` itself if that is not a folder.
// If there is no such file, but a run runs/`run`, returns the path of that run's checkpoint. Throws
// Error if neither exists.
std::filesystem::path checkpoint_in(const std::string& run);

// Throws Error, which suggests --trust, if the file has no checksum and `trust` is false. Call
// check_trusted() before the content is used: a file of another program could be made to take long.
void check_trusted(const ModelFile& file, bool trust);

}  // namespace heed::app
