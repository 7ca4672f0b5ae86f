// run_writer.hpp: RunWriter, which lets one command at a time write a run into a folder.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "commands/run_folder.hpp"
#include "commands/run_lock.hpp"
#include "commands/run_replacement.hpp"

namespace heed::app {

// What a command does if its folder already has a run.
enum class OldRun { reject, replace, resume };

// Writes a run into a folder, with the folder's lock. Call open(), create() and, after each save,
// commit(). A run that is replaced keeps its folder until the first commit().
class RunWriter {
 public:
  // `advice` says what else the user can do if the folder has a run: see check_no_run().
  RunWriter(const RunFolder& folder, OldRun old_run, std::string advice)
      : folder_(folder), old_run_(old_run), advice_(std::move(advice)), lock_(folder.path) {}

  // Locks the folder if it exists, before the command reads from it: others may be writing. Throws
  // the errors of RunLock::acquire() and, if an old run is rejected, of check_no_run().
  void open();
  // Creates and locks the folder. Looks again for an old run, because another program may have made
  // one since open(), and removes what a killed program has left beside it. Throws the errors of
  // RunFolder::create(), RunReplacement and open().
  void create();
  // The folder for the files of the new run: the run's folder or, before commit(), the folder that
  // replaces it.
  const RunFolder& files() const { return is_beside() ? replacement_->folder() : folder_; }
  bool replaces_run() const { return is_beside() && folder_.has_checkpoint(); }
  // Puts the saved run in the place of the old one. Throws the errors of RunReplacement::commit().
  void commit();
  // Ends the run, when all its files are written.
  void finish() const;

 private:
  bool is_beside() const { return replacement_ && !committed_; }
  void check_old_run() const;

  RunFolder folder_;
  OldRun old_run_;
  std::string advice_;
  RunLock lock_;
  std::optional<RunReplacement> replacement_;
  bool committed_ = false;
};

}  // namespace heed::app
