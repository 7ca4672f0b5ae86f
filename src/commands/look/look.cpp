// look.cpp: heed look, which prints the model, its scores and losses, and its attention weights.

#include "commands/look/look.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

#include "array/reduce.hpp"
#include "commands/common_flags.hpp"
#include "commands/gemm_setting.hpp"
#include "commands/look/parts.hpp"
#include "commands/run_folder.hpp"
#include "commands/terminal.hpp"
#include "commands/thread_check.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/heatmap.hpp"
#include "heed/ops/mask.hpp"
#include "heed/study/heads.hpp"

namespace heed::app {
namespace {

constexpr std::size_t max_lines = 100;  // maximum total height of all heat maps, in terminal lines

// ---- the text and the model

std::string quoted(const LookText& text, const Vocabulary& vocabulary) {
  std::vector<std::string> tokens;
  for (const std::string& name : text.names)  // printable() would change " " to "␣"
    tokens.push_back(name == " " ? name : printable(name));
  const bool words = vocabulary.unit() == Unit::word || vocabulary.unit() == Unit::word_piece;
  return '"' + joined(tokens, words ? " " : "") + '"';
}

}  // namespace

void print_model(const LookCommand& command, const LoadedModel& saved, const LookText& text,
                 const ValidationText& training) {
  const nn::GptConfig& c = saved.model.config;
  std::cout << "model  " << printable(command.run) << ": " << counted(c.layers, "layer") << ", "
            << counted(c.heads, "head") << " per layer, width " << c.embed_dim
            << (c.causal ? ", causal" : ", bidirectional") << '\n'
            << "text   " << counted(text.names.size(), "token")
            << (command.text ? "" : ", the beginning of the validation split of " + training.name)
            << ": " << quoted(text, saved.vocabulary) << '\n';
}

namespace {

// Throws Error if the model's output is not finite, as after weights of 1e38.
void check_logits(const ModelFile& file, const nn::Gpt& model, const Indices& tokens) {
  const NoGrad no_grad;
  if (!all_finite(model(tokens).value()))
    throw_error(file.path(), ": the logits are not finite; the weights are too large or damaged");
}

// ---- heat maps

struct SelectedHeads {
  std::vector<Array> weights;  // (T, T) per head; -infinity marks masked cells of a heat map
  std::vector<std::string> titles;
  std::size_t columns;
};

SelectedHeads selected_heads(const LookCommand& command, const nn::GptConfig& config,
                             const std::vector<LayerAttention>& layers) {
  SelectedHeads selected{{}, {}, command.head ? 1 : config.heads};
  for (std::size_t i = 0; i < config.layers * config.heads; ++i) {
    const std::size_t layer = i / config.heads, head = i % config.heads;
    if (command.layer.value_or(layer) != layer || command.head.value_or(head) != head) continue;
    Array weights = xt::view(layers[layer].weights, 0, head);
    if (config.causal)
      weights = xt::where(future_mask(weights.shape()[0]), -std::numeric_limits<Real>::infinity(),
                          weights);
    selected.weights.push_back(weights);
    selected.titles.push_back(name_of(config, i));
  }
  return selected;
}

HeatmapOptions heatmap_options(const LookText& text) {
  HeatmapOptions options;
  options.row_title = "query", options.column_title = "key";
  options.low = 0, options.high = 1;
  options.width = terminal_width();
  options.shades = stdout_is_terminal() ? Shades::ansi : Shades::blocks;
  options.row_names = options.column_names = text.names;
  return options;
}

// Returns the number of heat maps per row: the number of heads of a layer, halved until all maps
// fit into `width` columns and max_lines lines at full resolution (not halved if they never fit).
std::size_t maps_per_row(const SelectedHeads& heads, std::size_t width) {
  const std::size_t T = heads.weights[0].shape()[0], frame_and_gap = 5;
  for (std::size_t columns = heads.columns; columns > 0; columns /= 2) {
    const std::size_t rows = (heads.weights.size() + columns - 1) / columns;
    if (rows * (T + 1) <= max_lines && columns * (T + frame_and_gap) <= width) return columns;
  }
  return heads.columns;
}

// Prints large heat maps one by one if --layer is given, otherwise small heat maps side by side.
void print_maps(const LookCommand& command, const SelectedHeads& heads, HeatmapOptions options) {
  std::cout << '\n';
  if (command.layer) {
    for (std::size_t i = 0; i < heads.weights.size(); ++i) {
      options.title = heads.titles[i];
      std::cout << heatmap_text(heads.weights[i], options) << '\n';
    }
    return;
  }
  options.row_names.clear(), options.column_names.clear();
  const std::string text =
      heatmap_sheet_text(heads.weights, heads.titles, options, maps_per_row(heads, options.width));
  if (std::count(text.begin(), text.end(), '\n') > std::ptrdiff_t{max_lines})
    std::cout << "The heat maps of " << heads.weights.size() << " heads need more than "
              << max_lines << " lines; select some with --layer and --head.\n\n";
  else
    std::cout << text << '\n';
}

}  // namespace

void declare_flags(Flags& flags, LookCommand& c) {
  run_argument(flags, c.run, c.trust);
  flags.text("--text", "TEXT", "input of the model [start of the validation text]", c.text);
  flags.text("--mask", "WORD", "replace this word of the text by [MASK]", c.mask);
  flags.text(
      "--attends-to", "WORD",
      "list the heads in which [MASK], or without it the last token, attends to this token; the "
      "largest weights first",
      c.attends_to);
  flags.integer("--layer", c.layer, {0, max_size}, "one layer, from 0 [all]");
  flags.integer("--head", c.head, {0, max_size}, "one head of that layer, from 0 [all]");
  flags.path("--out", "DIR", "folder of the plots [the run's folder]", "folder", c.out);
  flags.path("--page", "FILE",
             "write an interactive page, one HTML file, instead of text and plots", "file", c.page);
  threads_flag(flags, c.threads);
  flags.group("Film of a training step, computed again");
  flags.path("--film", "FILE", "write the step node by node, forward and backward, as an HTML file",
             "file", c.film);
  flags.integer("--step", c.step, {1, 1e12}, "the step [the last one that the run has saved]");
  flags.text("--parameter", "NAME", "instead of one step, show this parameter over steps",
             c.parameter);
  flags.integer("--from", c.from, {1, 1e12}, "the first of those steps [--step - 49]", "STEP");
  flags.flag("--near", c.near,
             "go on where a result differs from what the run has saved, as on another machine");
  flags.group("Map of queries and keys");
  flags.flag("--tsne", c.tsne, "map a head's queries and keys by t-SNE [layer 0, head 0]");
  flags.number("--perplexity", c.perplexity, {1, max_size},
               "t-SNE's perplexity (number of neighbours) [10, or less for a short text]");
  flags.integer("--iterations", c.iterations, {1, max_size}, "gradient descent steps of t-SNE");
  flags.integer("--seed", c.seed, seeds, "seed of t-SNE's initial positions");
  flags.example("./heed look runs/harbour --text 'the ship is at sea'");
  flags.example("./heed look runs/harbour --page heads.html");
  flags.example("./heed look runs/harbour --film step.html --step 300");
  flags.example("./heed look runs/bert --text 'a ship at sea' --mask sea --attends-to ship");
}

void check_flags(const LookCommand& c, const std::set<std::string>& given) {
  if (!c.mask.empty() && !c.text)
    throw UsageError("--mask " + in_quotes(c.mask) + ": give --text too");
  if (!c.page.empty() && !c.out.empty())
    throw UsageError("--out applies to plots, and --page writes none; leave out one of them");
  if (c.page == "-")
    throw UsageError("--page -: the page is a file; give its name, such as a.html");
  if (!c.page.empty() && c.tsne)
    throw UsageError("--tsne: the page has the maps of the heads already; leave out --tsne");
  if (c.attends_to.empty() && given.count("--attends-to") != 0)
    throw_usage_error("--attends-to", "", "is empty; give a token of the text");
  if (!c.attends_to.empty() && (c.tsne || !c.page.empty()))
    throw UsageError("--attends-to applies to neither --tsne nor --page; leave out one of them");
  for (const char* flag : {"--step", "--parameter", "--from", "--near"})
    if (c.film.empty() && given.count(flag) != 0)
      throw UsageError(std::string(flag) + " applies to --film; give --film too");
  for (const char* flag : {"--text", "--mask", "--attends-to", "--layer", "--head", "--out",
                           "--page", "--tsne", "--perplexity", "--iterations", "--seed"})
    if (!c.film.empty() && given.count(flag) != 0)
      throw UsageError(std::string(flag) + " does not apply to --film; leave out one of them");
  if (c.from && c.parameter.empty())
    throw UsageError("--from applies to --parameter; give --parameter too");
  if (c.film == "-")
    throw UsageError("--film -: the film is a file; give its name, such as a.html");
  for (const char* flag : {"--perplexity", "--iterations", "--seed"})
    if (!c.tsne && c.page.empty() && given.count(flag) != 0)
      throw UsageError(std::string(flag) + " applies to --tsne; give --tsne too");
}

int run(const LookCommand& command) {
  if (!command.film.empty()) return look_film(command);
  if (command.threads) set_num_threads(*command.threads);
  const ModelFile file = ModelFile::open(checkpoint_in(command.run));
  check_trusted(file, command.trust);
  check_blas_buffers();
  check_threads();
  set_gemm_of_run(file.gemm());
  const LoadedModel saved(file);
  const nn::Gpt& model = saved.model;
  check_layer_and_head(command, model.config);
  ValidationText training;
  if (!command.tsne || !command.text) training = validation_text(file, saved.vocabulary);
  const LookText text = look_text(command, saved, training);
  check_attends_to(command, text);
  check_logits(file, model, text.tokens);
  check_logits(file, model, score_text(command, model, text, training).tokens);
  if (command.tsne) return look_tsne(command, model, text);
  if (!command.page.empty()) return look_page(command, saved, text, training);
  const std::string folder = plot_folder(command, "look", "panel,row,column,value");

  exit_at_interrupt();
  print_model(command, saved, text, training);
  print_predictions(saved, text);
  if (!command.attends_to.empty()) print_attending_heads(command, saved, text);
  print_scores(head_scores_on(model, score_text(command, model, text, training)), model.config);
  print_ablation(model, ablation_loss(saved, text, training));
  const SelectedHeads heads =
      selected_heads(command, model.config, capture_attention(model, text.tokens));
  HeatmapOptions options = heatmap_options(text);
  print_maps(command, heads, options);
  options.title = truncated("attention weights in " + quoted(text, saved.vocabulary), 90);
  print_plot("sheet  ", draw_heatmap_sheet(folder, "look", heads.weights, heads.titles, options,
                                           heads.columns));
  return 0;
}

}  // namespace heed::app
