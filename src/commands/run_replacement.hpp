// run_replacement.hpp: RunReplacement, which puts a new run in the place of an old one in one step.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "commands/run_folder.hpp"
#include "commands/run_lock.hpp"

namespace heed::app {

// The folder of a new run beside that of an old one: `.NAME.new`. commit() exchanges the two
// folders, so at every moment the complete old run or the complete new one has the name. Only the
// process that holds the lock of the old run may have a RunReplacement of it.
//
// A program that is killed may leave a folder `.NAME.new`, or `.NAME.old` where the file system
// cannot exchange folders. end_replacing() and restore_replaced_run() clear them up.
class RunReplacement {
 public:
  // Creates the new folder, which other users cannot read before commit(). Throws Error if the old
  // folder cannot be replaced: it is the current one or a mounted disk, its parent folder is not
  // writable, or `.NAME.new` exists and has files that are not a run's.
  explicit RunReplacement(const RunFolder& old);
  ~RunReplacement();  // removes the new folder, if commit() was not called
  RunReplacement(const RunReplacement&) = delete;
  RunReplacement& operator=(const RunReplacement&) = delete;

  const RunFolder& folder() const { return new_; }  // where the files are until commit()

  // Gives the new folder the name and the permissions of the old one, whose lock is `lock`. Then
  // removes the files of the old run and the plots of its model, and moves all others, those of the
  // user, into the new folder. Throws Error if the folders cannot be exchanged; then the old run is
  // unchanged and the new one stays beside it.
  void commit(RunLock& lock);
  // Gives the reports that the new run has written since commit() the permissions of the old ones.
  void give_permissions() const;

 private:
  void remember_permissions();

  RunFolder old_, new_;
  RunLock lock_;         // of the new folder: no other process may use it after the exchange
  bool failed_ = false;  // whether commit() could not exchange the folders
  std::vector<std::pair<std::filesystem::path, struct stat>> permissions_;  // of old reports
};

// Ends what a RunReplacement of this folder began before its program was killed: removes the run
// that has not got the name or has lost it, and keeps the files of the user. Call it with the lock.
void end_replacing(const RunFolder& folder);

// If a program was killed while the folder had no name (see exchange_by_renames()), gives the old
// run its name again. Throws the errors of RunLock::acquire().
void restore_replaced_run(const RunFolder& folder);

}  // namespace heed::app
