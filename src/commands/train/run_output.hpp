// run_output.hpp: RunOutput, what heed train prints while a run is trained.
#pragma once

#include <string>

#include "commands/run_folder.hpp"
#include "commands/terminal.hpp"
#include "commands/train/training_text.hpp"
#include "heed/draw/curve.hpp"

namespace heed::app {

// Prints the progress of a run. On a terminal: a live line and, each time the validation loss is
// measured, the losses and a preview of generated text. In a pipe: a line for each row of loss.csv.
// All arguments of the constructor must outlive the RunOutput.
class RunOutput {
 public:
  RunOutput(const Trainer& trainer, const TrainingText& text, const RunFolder& folder)
      : trainer_(trainer), text_(text), folder_(folder) {}

  // `record`: the number of steps between recorded states, or 0.
  void print_header(std::size_t processes, bool replaces, std::int64_t record) const;
  void print_watch(const std::filesystem::path& page) const;
  // Returns the text that it generated for this row, or "".
  std::string print_row(const LogRow& row);
  // Redraws the live line. Prints one note if stdout cannot be written any more, for example on a
  // full disk: training continues, because its results are written to files. (If the reader of a
  // pipe has ended, as in `heed train | head -1`, SIGPIPE stops the run instead.)
  void show_progress();
  // Prints that a signal stopped the run, and returns the exit code. `advice` ends with a command,
  // to which this function appends the run's folder as an argument.
  int print_interrupted(int signal, const std::string& advice);
  // Prints the end of a run: its curve, the sample, and where the files are.
  void print_result(const Plot& plot, const CurveOptions& curve, const std::string& sample);

  // Text that the model generates with its current weights.
  std::string generated(std::size_t num_tokens) const;

 private:
  std::string folder() const { return folder_.path.string(); }
  std::string steps_done() const { return std::to_string(trainer_.steps_done()); }
  std::string preview() const;
  std::string best_step() const;
  std::string diagnosis() const;

  const Trainer& trainer_;
  const TrainingText& text_;
  const RunFolder& folder_;
  LiveLine live_;
  bool noted_closed_ = false;
};

}  // namespace heed::app
