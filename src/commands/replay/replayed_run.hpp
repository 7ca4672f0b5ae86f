// replayed_run.hpp: ReplayedRun, which computes the steps of a finished training run again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "commands/flags.hpp"
#include "commands/run_folder.hpp"
#include "commands/train/training_text.hpp"
#include "heed/files/model_file.hpp"

namespace heed::app {

// The options that heed replay and heed first have in common.
struct ReplayOptions {
  std::string run;             // the run's folder
  std::string text;            // file of the training text; "" means that of the run
  bool trust = false;          // load states even if they have no checksum
  bool near = false;           // go on, with a note, where the result differs from what was saved
  std::optional<int> threads;  // number of threads; the bits do not depend on it
};
void replay_flags(Flags& flags, ReplayOptions& options);

// A run whose steps are computed again, from a state that it has saved: one of record/, the
// checkpoint, or the beginning, which the seed determines. Each step is compared with the rows of
// the loss history and the states that the run has saved: they must have the same bits.
class ReplayedRun {
 public:
  using Hook = std::function<void(const Batch& batch, double loss)>;

  // Opens the run and reads its text. Throws Error if the run has no checkpoint and no record, or
  // if its text is another one than that of the training.
  explicit ReplayedRun(const ReplayOptions& options);

  const RunFolder& folder() const { return folder_; }
  Vocabulary vocabulary() const { return *text_.vocabulary; }
  const TextFingerprint& fingerprint() const { return text_.fingerprint; }
  // The saved states, by step: those of record/, and the checkpoint.
  const std::map<std::int64_t, std::filesystem::path>& states() const { return states_; }
  std::int64_t last_step() const;  // the run's --steps, which it may not have reached

  // Loads the latest saved state of at most `step` steps, or the beginning of the run.
  void start_before(std::int64_t step);
  // Computes the next step. Throws Diverged as in the training, and Error if the result differs
  // from what the run has saved (with `near`, goes on from the saved state).
  void step();
  // Computes steps until `step` are done. Throws the errors of step().
  void go_to(std::int64_t step);
  // Calls the hook in each step, after the backward pass, before the gradients are clipped.
  void set_hook(Hook hook);

  const Trainer& trainer() const { return *trainer_; }
  double grad_norm() const { return grad_norm_; }  // of the latest step, before clipping
  double lr() const { return lr_; }                // of the latest step
  std::size_t compared_rows() const { return compared_rows_; }      // loss history
  std::size_t compared_states() const { return compared_states_; }  // saved states

 private:
  std::unique_ptr<Trainer> trainer_of(const ModelFile& file) const;
  std::unique_ptr<Trainer> restored(const std::filesystem::path& state) const;
  void set_trainer(std::unique_ptr<Trainer> trainer);
  void compare_row(LogRow row);
  void compare_state();
  void report(const std::string& difference);  // throws Error, or prints the first as a note

  RunFolder folder_;
  bool trust_, near_, noted_ = false;
  std::map<std::int64_t, std::filesystem::path> states_;
  std::optional<ModelFile> newest_;  // the state with the most steps
  TrainingText text_;
  std::map<std::int64_t, LogRow> rows_;  // the loss history, by step
  std::unique_ptr<Trainer> trainer_;
  Hook hook_;
  double grad_norm_ = 0, lr_ = 0;
  std::size_t compared_rows_ = 0, compared_states_ = 0;
};

}  // namespace heed::app
