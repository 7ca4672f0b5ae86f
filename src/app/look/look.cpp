// look.cpp: heed look, which prints scores, ablation losses and attention weights of all heads.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "app/look/parts.hpp"
#include "app/look/tsne.hpp"
#include "heed/app/commands.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/report/heatmap.hpp"
#include "heed/report/table.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/head_kinds.hpp"
#include "heed/study/heads.hpp"
#include "heed/text/batches.hpp"

namespace heed::app {
namespace {

constexpr std::uint64_t windows_seed = 1337;
constexpr std::size_t max_lines = 100;  // of heat maps in the terminal

std::string name_of(std::size_t layer, std::size_t head) {
  return "layer " + std::to_string(layer) + ", head " + std::to_string(head);
}

std::vector<std::string> numbered(const std::string& noun, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(noun + " " + std::to_string(i));
  return names;
}

// ---- the text and the model

std::string quoted(const LookText& text, const Vocabulary& vocabulary) {
  std::vector<std::string> tokens;
  for (const std::string& name : text.names)  // printable() would replace a lone space
    tokens.push_back(name == " " ? name : printable(name));
  return '"' + joined(tokens, vocabulary.unit() == Unit::word ? " " : "") + '"';
}

void print_model(const LookCommand& command, const LoadedModel& saved, const LookText& text,
                 const TrainingText& training) {
  const nn::GptConfig& c = saved.model.config;
  std::cout << "model  " << printable(command.run) << ": " << counted(c.layers, "layer") << ", "
            << counted(c.heads, "head") << " per layer, width " << c.embed_dim
            << (c.causal ? ", causal" : ", bidirectional") << '\n'
            << "text   " << counted(text.names.size(), "token")
            << (text.given ? "" : ", the beginning of the validation part of " + training.name)
            << ": " << quoted(text, saved.vocabulary) << '\n';
}

// ---- windows of the validation part

// (B, T): windows with about 1500 tokens in total, drawn with a fixed seed.
Indices windows_of(const Split& part, const nn::GptConfig& config) {
  const std::size_t block = std::min(config.block_size, part.size - 1);
  const std::size_t count = std::clamp<std::size_t>(1536 / block, 1, 24);
  return Batches(part, count, block, windows_seed).next().inputs;
}

std::string description(const Indices& windows, std::size_t batches, const std::string& text) {
  return counted(batches * windows.shape()[0], "window") + " of " +
         counted(windows.shape()[1], "token") + ", validation part of " + text;
}

// ---- scores

std::string score_text(double score) { return std::isnan(score) ? "-" : decimal(score, 4); }

// For each kind of head, the scores of all heads (L, H).
std::vector<Array> scores_of(const std::vector<LayerAttention>& layers, const Indices& tokens,
                             bool causal) {
  std::vector<Array> scores;
  for (const HeadKind& kind : head_kinds()) {
    Array model_scores = zeros({layers.size(), layers[0].weights.shape()[1]});
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const Array layer_scores = head_scores(kind, layers[l].weights, tokens, causal);
      std::copy_n(layer_scores.data(), layer_scores.size(), &model_scores(l, 0));
    }
    scores.push_back(model_scores);
  }
  return scores;
}

bool is_largest(const Array& scores, std::size_t i) {
  return scores.data()[i] == *std::max_element(scores.data(), scores.data() + scores.size());
}

std::string without_trailing_spaces(std::string line) {
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

void print_scores(const nn::Gpt& model, const Indices& tokens, const std::string& input) {
  const bool causal = model.config.causal;
  const std::vector<Array> scores = scores_of(capture_attention(model, tokens), tokens, causal);
  std::cout
      << "\nHead scores: the attention weight of each head on the previous token, on the first\n"
         "token and on other positions with the query's token, as a mean over queries\n("
      << input << ")\n\n";
  std::string header(18, ' '), uniform = pad_right("uniform weights", 18);
  for (const HeadKind& kind : head_kinds()) {
    header += pad_left(kind.name, 15) + "  ";
    uniform += pad_left(score_text(uniform_score(kind, tokens, causal)), 15) + "  ";
  }
  std::cout << without_trailing_spaces(header);
  for (std::size_t i = 0; i < scores[0].size(); ++i) {
    std::string line = pad_right(name_of(i / model.config.heads, i % model.config.heads), 18);
    for (const Array& kind : scores)
      line += pad_left(score_text(static_cast<double>(kind.data()[i])), 15) +
              (is_largest(kind, i) ? " *" : "  ");
    std::cout << without_trailing_spaces(line);
  }
  std::cout << without_trailing_spaces(uniform) << "* largest score of the column\n";
}

// ---- ablation

// The loss to compare with and without each head.
struct AblationLoss {
  std::function<double()> loss;  // empty if the loss is undefined
  std::string description;       // the data of the loss, or the reason why it is undefined
};

AblationLoss causal_loss(const LoadedModel& saved, const LookText& text,
                         const TrainingText& training) {
  const nn::Gpt& model = saved.model;
  if (training.corpus) {
    const Split part = training.corpus->validation();
    const Indices windows = windows_of(part, model.config);
    const std::size_t count = windows.shape()[0];
    return {[&model, part, count] { return next_token_loss(model, part, 2, count, windows_seed); },
            description(windows, 2, training.name)};
  }
  if (text.names.size() < 2) return {{}, "a text of one token has no next token to predict"};
  return {[&model, &text] { return next_token_loss(model, text.tokens); }, "the text above"};
}

AblationLoss masked_loss(const LoadedModel& saved, const LookText& text) {
  const nn::Gpt& model = saved.model;
  const std::int64_t mask = saved.vocabulary.find(std::string_view("[MASK]"));
  if (saved.vocabulary.unit() != Unit::word || mask < 0)
    return {{}, "the model is bidirectional, and its vocabulary has no [MASK]"};
  if (std::all_of(text.tokens.begin(), text.tokens.end(), [=](auto id) { return id == mask; }))
    return {{}, "every token of the text is [MASK]"};
  return {[&model, &text, mask] { return masked_token_loss(model, text.tokens, mask); },
          "each token of the text above in turn replaced by [MASK]"};
}

Ablation measured_ablation(const nn::Gpt& model, const std::function<double()>& loss) {
  LiveLine line;
  std::size_t done = 0;
  const std::size_t num_heads = model.config.layers * model.config.heads;
  return ablate(model, [&] {
    line.show(done == 0 ? "measuring the loss with all heads"
                        : "measuring the loss without head " + std::to_string(done) + " of " +
                              std::to_string(num_heads));
    ++done;
    return loss();
  });
}

void print_ablation(const nn::Gpt& model, const AblationLoss& measure) {
  if (!measure.loss) {
    std::cout << "\nNo head ablation: " << measure.description << ".\n";
    return;
  }
  const Ablation ablation = measured_ablation(model, measure.loss);
  Array increases = ablation.ablated_loss;
  for (Real& loss : increases)
    loss = static_cast<Real>(static_cast<double>(loss) - ablation.baseline_loss);
  const Real* const max = std::max_element(increases.data(), increases.data() + increases.size());
  const auto i = static_cast<std::size_t>(max - increases.data());
  std::cout << "\nHead ablation: with all heads the loss is " << decimal(ablation.baseline_loss, 4)
            << " nats per token;\nwithout one head it rises by\n(" << measure.description << ")\n\n"
            << table(increases, {"", numbered("layer", model.config.layers),
                                 numbered("head", model.config.heads), 4})
            << "largest without " << name_of(i / model.config.heads, i % model.config.heads)
            << '\n';
}

// ---- heat maps

struct SelectedHeads {
  std::vector<Array> weights;  // (T, T) each; minus infinity where masked
  std::vector<std::string> titles;
  std::size_t columns;
};

Array weights_of(const LayerAttention& layer, std::size_t head, bool causal) {
  const std::size_t T = layer.weights.shape()[2];
  Array weights = uninitialized({T, T});
  std::copy_n(layer.weights.data() + head * T * T, T * T, weights.data());
  for (std::size_t t = 0; causal && t < T; ++t)
    std::fill_n(weights.data() + t * T + t + 1, T - t - 1, -std::numeric_limits<Real>::infinity());
  return weights;
}

SelectedHeads selected_heads(const LookCommand& command, const nn::Gpt& model,
                             const LookText& text) {
  SelectedHeads selected{{}, {}, command.head ? 1 : model.config.heads};
  const std::vector<LayerAttention> layers = capture_attention(model, text.tokens);
  for (std::size_t layer = 0; layer < model.config.layers; ++layer)
    for (std::size_t head = 0; head < model.config.heads; ++head) {
      if (command.layer.value_or(layer) != layer || command.head.value_or(head) != head) continue;
      selected.weights.push_back(weights_of(layers[layer], head, model.config.causal));
      selected.titles.push_back(name_of(layer, head));
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

// The number of maps side by side: the heads of a layer, halved until the maps fit at full
// resolution in the width and in max_lines.
std::size_t maps_per_row(const SelectedHeads& heads, std::size_t width) {
  const std::size_t T = heads.weights[0].shape()[0], frame_and_gap = 5;
  for (std::size_t columns = heads.columns; columns > 0; columns = columns / 2) {
    const std::size_t rows = (heads.weights.size() + columns - 1) / columns;
    if (rows * (T + 1) <= max_lines && columns * (T + frame_and_gap) <= width) return columns;
  }
  return heads.columns;
}

// Prints large maps one by one if --layer is given, otherwise small maps side by side.
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

void draw_maps(const std::string& folder, const SelectedHeads& heads, HeatmapOptions options,
               const std::string& text) {
  options.title = truncated("attention weights in " + text, 90);
  const Plot plot =
      draw_heatmap_sheet(folder, "look", heads.weights, heads.titles, options, heads.columns);
  if (plot.ok)
    std::cout << "sheet  " << printable(plot.message) << '\n';
  else
    note(plot.message);
}

}  // namespace

int look(const LookCommand& command) {
  if (command.threads) set_num_threads(*command.threads);
  const ModelFile file = ModelFile::open(checkpoint_in(command.run));
  const LoadedModel saved(file);
  const nn::Gpt& model = saved.model;
  check_trusted(file, command.trust);
  check_layer_and_head(command, model.config);
  TrainingText training;
  if (!command.tsne || !command.text) training = training_text(file, saved.vocabulary);
  const LookText text = look_text(command, saved, training);
  if (command.tsne) return look_tsne(command, model, text);
  const std::string folder = plot_folder(command);

  exit_at_interrupt();
  print_model(command, saved, text, training);
  if (text.given) {
    print_scores(model, text.tokens, "the text above");
  } else {
    const Indices windows = windows_of(training.corpus->validation(), model.config);
    print_scores(model, windows, description(windows, 1, training.name));
  }
  print_ablation(
      model, model.config.causal ? causal_loss(saved, text, training) : masked_loss(saved, text));
  const SelectedHeads heads = selected_heads(command, model, text);
  print_maps(command, heads, heatmap_options(text));
  draw_maps(folder, heads, heatmap_options(text), quoted(text, saved.vocabulary));
  return 0;
}

}  // namespace heed::app
