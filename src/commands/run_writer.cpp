// run_writer.cpp: RunWriter, which lets one command at a time write a run into a folder.

#include "commands/run_writer.hpp"

namespace heed::app {

void RunWriter::check_old_run() const {
  if (old_run_ == OldRun::reject) check_no_run(folder_, advice_);
}

void RunWriter::open() {
  restore_replaced_run(folder_);
  lock_.acquire_if_possible();
  check_old_run();
}

void RunWriter::create() {
  folder_.create();
  lock_.acquire();
  check_old_run();
  end_replacing(folder_);
  if (old_run_ == OldRun::replace && folder_.has_files()) replacement_.emplace(folder_);
}

void RunWriter::commit() {
  if (is_beside()) replacement_->commit(lock_);
  committed_ = true;
}

void RunWriter::finish() const {
  if (replacement_) replacement_->give_permissions();
}

}  // namespace heed::app
