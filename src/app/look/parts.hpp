// parts.hpp: the text that heed look reads, and checks of its options.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/app/options.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {

// The training text of the run, for its validation part.
struct TrainingText {
  std::unique_ptr<Corpus> corpus;  // null if the text is not available
  std::string name;                // its printable path; "harbour.txt" for default_text()
  std::string reason;              // if not available: "notes.txt: No such file or directory"
};
TrainingText training_text(const ModelFile& file, const Vocabulary& vocabulary);

// The model's input: --text, or the beginning of the validation part.
struct LookText {
  Indices tokens;                  // (1, T)
  std::vector<std::string> names;  // the text of each token
  bool given;                      // whether it is --text
};
// Throws UsageError if --text is empty, longer than the model's block or outside the vocabulary,
// and Error if neither text is available.
LookText look_text(const LookCommand& command, const LoadedModel& saved,
                   const TrainingText& training);

// Throws UsageError for a layer or a head that the model does not have.
void check_layer_and_head(const LookCommand& command, const nn::GptConfig& config);

// The folder for plots: --out, which it creates, or the checkpoint's folder. Throws Error if the
// folder is not writable.
std::string plot_folder(const LookCommand& command);

}  // namespace heed::app
