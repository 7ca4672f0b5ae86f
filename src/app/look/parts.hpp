// parts.hpp: what the parts of heed look share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/app/options.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {

// The text that the run learned, when it is still there, to take its validation part from.
struct TrainingText {
  std::unique_ptr<Corpus> corpus;  // null when it is not there
  std::string name;                // its path as text for a terminal, "harbour.txt" for heed's own
  std::string why_not;             // "notes.txt: No such file or directory"
};
TrainingText training_text(const ModelFile& file, const Vocabulary& vocabulary);

// What the model reads: --text, or the beginning of the validation part.
struct LookText {
  Indices tokens;                  // (1, T)
  std::vector<std::string> names;  // of its symbols, as they are
  bool given;                      // by --text
};
// Throws UsageError for a text that is empty, longer than the model's block, or has a symbol that
// it does not know; Error when there is none.
LookText look_text(const LookCommand& command, const LoadedModel& saved,
                   const TrainingText& learned);

// Throws UsageError for a layer or a head that the model does not have.
void check_choice(const LookCommand& command, const nn::GptConfig& config);

// Where pictures go: --out, made when it is not there, or the folder of the checkpoint. Throws
// Error when nothing can be written there.
std::string picture_folder(const LookCommand& command);

}  // namespace heed::app
