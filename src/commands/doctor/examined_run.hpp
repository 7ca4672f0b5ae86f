// examined_run.hpp: ExaminedRun, all that heed doctor reads of a run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/curve_findings.hpp"
#include "commands/doctor/doctor.hpp"
#include "commands/run_folder.hpp"
#include "commands/train/training_text.hpp"
#include "heed/files/model_file.hpp"

namespace heed::app {

// A run, of which any part may be missing: a run that was killed early has no checkpoint, an
// imported model no losses, and a text may be gone.
struct ExaminedRun {
  // Throws Error if the run has neither losses nor a checkpoint, if one of them is damaged, and if
  // --text is not the text of the run.
  explicit ExaminedRun(const DoctorCommand& command);

  RunFolder folder;
  std::optional<Curve> curve;                      // none without a row in loss.csv
  std::optional<SafetensorsFile> file;             // the checkpoint, and AdamW's moments
  std::optional<LoadedModel> model;                // that of the checkpoint
  std::optional<TrainingText> text;                // encoded; none if it is not available
  std::vector<std::string> missing;                // what is not there, and why
  std::vector<std::int64_t> training, validation;  // tokens; a long text's last and first ones

  std::vector<double> part_losses;  // of a bigram model, see bigram_losses_of_parts()

  // The moment exp_avg_sq of a parameter, AdamW's mean of its squared gradients; null without one.
  const StoredTensor* second_moment(const std::string& parameter) const;
  // The parameters before the first step, drawn again from the seed. They are not those of a run
  // that began with --init.
  Parameters initial_parameters() const;

 private:
  void read_losses();
  void read_checkpoint(const DoctorCommand& command);
  void read_text(const DoctorCommand& command, const ModelFile& checkpoint);
};

}  // namespace heed::app
