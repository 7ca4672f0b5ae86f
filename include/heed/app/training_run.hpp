// training_run.hpp: a trainer at work, with what is shown of it and what is kept.
#pragma once

#include <fstream>
#include <string>

#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/text/vocabulary.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

// On a terminal: one live line, and above it a line at each validation with a glimpse of what the
// model writes. In a pipe: a plain line on stdout for each row of loss.csv. The checkpoint is saved
// at each validation, at the end, and when a signal asks to stop.
class TrainingRun {
 public:
  // All of these must outlive the run, whose folder must exist. `text_name` is for titles.
  TrainingRun(Trainer& trainer, const Vocabulary& vocabulary, const TextFingerprint& text,
              std::string text_name, const RunFolder& folder);

  // Trains to the end. Returns the exit code: 0, or 128 + the signal after which everything was
  // saved. Throws Error when a file cannot be written, or a number is not finite any more (the last
  // checkpoint stays). Goes on when standard output is closed, and says so once.
  int train();

 private:
  int train_and_show();
  void introduce() const;
  void report(const LogRow& row);
  [[noreturn]] void throw_diverged_run(const std::string& what) const;
  [[noreturn]] void throw_without_losses(int error) const;
  void show_live();
  void note_closed_output();
  void save() const { save_run(folder_.checkpoint(), trainer_, vocabulary_, text_); }
  int interrupted(int signal);
  int finish();
  int stopped_at_end(int signal);
  std::string written(std::size_t symbols) const;  // by the model, as it is now
  std::string glimpse() const;                     // the beginning of that, on one line

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
