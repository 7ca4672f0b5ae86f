// parts.hpp: declarations shared by the source files of heed look.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/look/look.hpp"
#include "heed/draw/plot_program.hpp"
#include "heed/files/model_file.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/tsne.hpp"
#include "heed/text/corpus.hpp"

namespace heed::app {

// The text that the run was trained on. heed look uses the validation split of the text.
struct ValidationText {
  std::unique_ptr<Corpus> corpus;  // null if the text is not available
  std::string name;                // the text's path as printed; "harbour.txt" for heed's own text
  std::string reason;              // why the text is not available: "notes.txt: No such file ..."
};
ValidationText validation_text(const ModelFile& file, const Vocabulary& vocabulary);

// The model's input: --text, or the beginning of the validation split.
struct LookText {
  Indices tokens;                  // (1, T)
  std::vector<std::string> names;  // the text of each token
};
// Throws UsageError if --text is empty, is longer than the block size or has tokens outside the
// vocabulary. Throws Error if there is no --text and the training text is not available.
LookText look_text(const LookCommand& command, const LoadedModel& saved,
                   const ValidationText& training);

// The token [MASK], or -1 if the model is causal or its vocabulary has no such token.
std::int64_t mask_token(const LoadedModel& saved);

// Prints the most probable tokens at each [MASK] of the text. Prints nothing without [MASK].
void print_predictions(const LoadedModel& saved, const LookText& text);

// Throws UsageError if --attends-to is given and is no token of the text.
void check_attends_to(const LookCommand& command, const LookText& text);

// Prints the heads with the largest attention weights from the first [MASK] (of a text without
// [MASK]: from the last token) to the token --attends-to.
void print_attending_heads(const LookCommand& command, const LoadedModel& saved,
                           const LookText& text);

// Returns "layer L, head H" for head i. All heads of a model are numbered from 0, layer by layer.
std::string name_of(const nn::GptConfig& config, std::size_t i);

// Prints the lines "model ..." and "text ...".
void print_model(const LookCommand& command, const LoadedModel& saved, const LookText& text,
                 const ValidationText& training);

// The tokens (B, T) on which heads are scored: --text, or windows of the validation split.
struct ScoreText {
  Indices tokens;
  std::string description;
};
ScoreText score_text(const LookCommand& command, const nn::Gpt& model, const LookText& text,
                     const ValidationText& training);

// The scores of all heads for each kind of head (see head_kinds()) and for induction.
struct HeadScores {
  std::vector<std::string> kinds;
  std::vector<std::vector<double>> of_kind;  // scores[kind][head]; NaN if undefined
  std::vector<double> uniform;               // for each kind, the score of uniform attention
  std::string description;                   // describes the text, such as "4 windows of 64 tokens"
};
HeadScores head_scores_on(const nn::Gpt& model, const ScoreText& text);
void print_scores(const HeadScores& scores, const nn::GptConfig& config);

// The loss function that head ablation evaluates with all heads, then without each head in turn.
struct AblationLoss {
  std::function<double()> loss;  // empty if the loss is undefined
  std::string description;       // describes its text, or why it is undefined
};
AblationLoss ablation_loss(const LoadedModel& saved, const LookText& text,
                           const ValidationText& training);
Ablation measured_ablation(const nn::Gpt& model, const std::function<double()>& loss);
Array loss_increases(const Ablation& ablation);  // (L, H): loss without the head - loss
void print_ablation(const nn::Gpt& model, const AblationLoss& measure);

// Throws UsageError for a layer or a head that the model does not have.
void check_layer_and_head(const LookCommand& command, const nn::GptConfig& config);

// The folder for the plot NAME: --out, which is created if necessary, or the checkpoint's folder.
// Throws Error if the plot's files NAME.csv, .gp and .svg cannot be written there, or exist and are
// not of a plot. `columns` is the first line of NAME.csv.
std::string plot_folder(const LookCommand& command, const std::string& name,
                        const std::string& columns);

// Prints the label and the path of the plot, or a note that explains why there is no plot. Throws
// Error if the reason is a file that could not be written.
void print_plot(const std::string& label, const Plot& plot);

// Runs heed look --tsne: embeds the queries and keys of one head (default: layer 0, head 0) with
// t-SNE, prints the plot and the nearest key of each query, and writes tsne.svg. Returns the exit
// code. Throws UsageError if the text is too short for the perplexity.
int look_tsne(const LookCommand& command, const nn::Gpt& model, const LookText& text);

// The t-SNE embedding (2T, 2) of T queries and T keys, (T, D) each, with the options of
// heed look --tsne. Empty if a query or key is all zeros, which has no cosine similarity.
std::optional<Tsne> query_key_map(const LookCommand& command, const Array& queries,
                                  const Array& keys);

// Creates the folder of a page. Throws Error if the page cannot be written there, or if the file
// exists and is not a page of heed look. The error names the flag.
void check_writable(const std::filesystem::path& file, const std::string& flag);

// Runs heed look --film: writes the film of a training step, or of a parameter over steps. Returns
// the exit code.
int look_film(const LookCommand& command);

// Runs heed look --page: writes the page with all views. Returns the exit code.
int look_page(const LookCommand& command, const LoadedModel& saved, const LookText& text,
              const ValidationText& training);

}  // namespace heed::app
