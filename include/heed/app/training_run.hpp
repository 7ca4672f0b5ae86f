// training_run.hpp: runs a trainer to the end, shows its progress and saves its results.
#pragma once

#include <fstream>
#include <string>

#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/text/vocabulary.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

// On a terminal: a live progress line, and at each validation a line above it that ends with a
// preview of generated text. In a pipe: a line on stdout for each row of loss.csv. Saves the
// checkpoint at each validation, at the end, and after a signal.
class TrainingRun {
 public:
  // All references must outlive the run. The folder must exist. `text_name` is for titles.
  TrainingRun(Trainer& trainer, const Vocabulary& vocabulary, const TextFingerprint& text,
              std::string text_name, const RunFolder& folder);

  // Trains to the end. Returns the exit code: 0, or 128 + the signal that stopped the run after
  // saving. Throws Error when a file cannot be written, or when a loss or gradient is not finite
  // (the last checkpoint stays). If stdout is closed, prints one note and continues.
  int train();

 private:
  int train_and_show();
  void print_header() const;
  void report(const LogRow& row);
  [[noreturn]] void throw_diverged(const std::string& reason) const;
  [[noreturn]] void throw_csv_error(int error) const;
  void show_progress();
  void note_closed_output();
  void save() const { save_run(folder_.checkpoint(), trainer_, vocabulary_, text_); }
  int interrupted(int signal);
  int interrupted_after_training(int signal);
  int finish();
  void print_results(bool plotted, const std::string& text) const;
  std::string generated(std::size_t num_tokens) const;  // by the model in its current state
  std::string preview() const;                          // 40 generated tokens on one line

  Trainer& trainer_;
  const Vocabulary& vocabulary_;
  const TextFingerprint& text_;
  std::string text_name_;
  const RunFolder& folder_;
  std::ofstream csv_;
  LiveLine live_;
  bool noted_closed_ = false;
};

}  // namespace heed::app
