// parts.hpp: declarations shared by the source files of heed look.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/app/options.hpp"
#include "heed/report/plot_program.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {

// The text that the run was trained on. heed look uses the validation split of the text.
struct TrainingText {
  std::unique_ptr<Corpus> corpus;  // null if the text is not available
  std::string name;                // printable path of the text; "harbour.txt" for default_text()
  std::string reason;              // why the text is not available: "notes.txt: No such file ..."
};
TrainingText training_text(const ModelFile& file, const Vocabulary& vocabulary);

// The model's input: --text, or the beginning of the validation split.
struct LookText {
  Indices tokens;                  // (1, T)
  std::vector<std::string> names;  // the text of each token
};
// Throws UsageError if --text is empty, longer than the block size or not in the vocabulary. Throws
// Error if there is no --text and the training text is not available.
LookText look_text(const LookCommand& command, const LoadedModel& saved,
                   const TrainingText& training);

// Throws UsageError for a layer or a head that the model does not have.
void check_layer_and_head(const LookCommand& command, const nn::GptConfig& config);

// The folder for plots: --out, which is created if necessary, or the checkpoint's folder. Throws
// Error if the folder is not writable.
std::string plot_folder(const LookCommand& command);

// Prints the label and the path of the plot, or a note that explains why there is no plot.
void print_plot(const std::string& label, const Plot& plot);

// Runs heed look --tsne: embeds the queries and keys of one head (default: layer 0, head 0) with
// t-SNE, prints the plot and the nearest key of each query, and writes tsne.svg. Returns the exit
// code. Throws UsageError if the text is too short for the perplexity.
int look_tsne(const LookCommand& command, const nn::Gpt& model, const LookText& text);

}  // namespace heed::app
