// look.cpp: heed look, which prints metrics, ablation losses and attention weights of all heads.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "app/look/parts.hpp"
#include "heed/app/options.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/text.hpp"
#include "heed/ops/mask.hpp"
#include "heed/report/heatmap.hpp"
#include "heed/report/table.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "heed/text/corpus.hpp"

namespace heed::app {
namespace {

constexpr std::uint64_t windows_seed = 1337;
constexpr std::size_t max_lines = 100;  // maximum total height of all heat maps, in terminal lines

// The name of head i, where all heads of the model are numbered from 0, layer by layer.
std::string name_of(const nn::GptConfig& config, std::size_t i) {
  return "layer " + std::to_string(i / config.heads) + ", head " + std::to_string(i % config.heads);
}

std::vector<std::string> numbered(const std::string& noun, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(noun + " " + std::to_string(i));
  return names;
}

// ---- the text and the model

std::string quoted(const LookText& text, const Vocabulary& vocabulary) {
  std::vector<std::string> tokens;
  for (const std::string& name : text.names)  // printable() would change " " to "␣"
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
            << (command.text ? "" : ", the beginning of the validation split of " + training.name)
            << ": " << quoted(text, saved.vocabulary) << '\n';
}

// ---- windows of the validation split

// Windows (B, T) with about 1500 tokens in total, drawn at random with a fixed seed.
Indices windows_of(const Split& part, const nn::GptConfig& config) {
  const std::size_t block = std::min(config.block_size, part.size - 1);
  const std::size_t count = std::clamp<std::size_t>(1536 / block, 1, 24);
  return Batches(part, count, block, windows_seed).next().inputs;
}

std::string description(const Indices& windows, std::size_t batches, const std::string& text) {
  return counted(batches * windows.shape()[0], "window") + " of " +
         counted(windows.shape()[1], "token") + ", validation split of " + text;
}

// ---- scores

std::string score_text(double score) { return std::isnan(score) ? "-" : decimal(score, 4); }

// The score table: a header, a line for each head, and a baseline line for uniform weights.
std::vector<std::string> score_lines(const nn::Gpt& model, const Indices& tokens) {
  const std::vector<LayerAttention> layers = capture_attention(model, tokens);
  std::vector<std::string> lines{""};
  for (std::size_t i = 0; i < layers.size() * model.config.heads; ++i)
    lines.push_back(name_of(model.config, i));
  lines.push_back("uniform weights");
  for (std::string& line : lines) line = pad_right(line, 18);
  for (const HeadKind& kind : head_kinds()) {
    std::vector<double> scores;  // one score per head, ordered by layer
    for (const LayerAttention& layer : layers) {
      const Array layer_scores = head_scores(kind, layer.weights, tokens, model.config.causal);
      scores.insert(scores.end(), layer_scores.begin(), layer_scores.end());
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    const double uniform = uniform_score(kind, tokens, model.config.causal);
    lines.front() += pad_left(kind.name, 15) + "  ";
    for (std::size_t i = 0; i < scores.size(); ++i)
      lines[i + 1] += pad_left(score_text(scores[i]), 15) + (scores[i] == largest ? " *" : "  ");
    lines.back() += pad_left(score_text(uniform), 15) + "  ";
  }
  return lines;
}

void print_scores(const nn::Gpt& model, const Indices& tokens, const std::string& input) {
  std::vector<std::string> lines = score_lines(model, tokens);
  std::cout
      << "\nHead scores: the attention weight of each head on the previous token, on the first\n"
         "token and on other positions with the query's token, as a mean over queries\n("
      << input << ")\n\n";
  for (std::string& line : lines) std::cout << line.erase(line.find_last_not_of(' ') + 1) << '\n';
  std::cout << "* largest score of the column\n";
}

// ---- ablation

// The loss that is measured with all heads, and then with each head ablated in turn.
struct AblationLoss {
  std::function<double()> loss;  // empty if the loss is undefined
  std::string description;       // the text that is evaluated, or why the loss is undefined
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
  const std::string of_all = " of " + std::to_string(model.config.layers * model.config.heads);
  return ablate(model, [&] {
    line.show("measuring the loss " +
              (done == 0 ? "with all heads" : "without head " + std::to_string(done) + of_all));
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
  const Array increases =  // (L, H)
      xt::cast<Real>(xt::cast<double>(ablation.ablated_loss) - ablation.baseline_loss);
  const auto largest = std::max_element(increases.begin(), increases.end());
  std::cout << "\nHead ablation: with all heads the loss is " << decimal(ablation.baseline_loss, 4)
            << " nats per token;\nwithout one head it rises by\n(" << measure.description << ")\n\n"
            << table(increases, {"", numbered("layer", model.config.layers),
                                 numbered("head", model.config.heads), 4})
            << "largest without " << name_of(model.config, largest - increases.begin()) << '\n';
}

// ---- heat maps

struct SelectedHeads {
  std::vector<Array> weights;  // one (T, T) array per head; -infinity where masked
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
      weights = xt::where(causal_mask(weights.shape()[0]), -std::numeric_limits<Real>::infinity(),
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

// The number of heat maps side by side: the number of heads of a layer, halved until all heat maps
// fit into `width` columns and max_lines lines at full resolution.
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

int run(const LookCommand& command) {
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
  if (command.text) {
    print_scores(model, text.tokens, "the text above");
  } else {
    const Indices windows = windows_of(training.corpus->validation(), model.config);
    print_scores(model, windows, description(windows, 1, training.name));
  }
  print_ablation(
      model, model.config.causal ? causal_loss(saved, text, training) : masked_loss(saved, text));
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
