// look.cpp: heed look: what the heads of a trained model do with a text, and which matter.

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
constexpr std::size_t most_lines = 100;  // of heat maps in the terminal

std::string count_of(std::size_t n, const std::string& what) {
  return grouped(static_cast<double>(n)) + " " + what + (n == 1 ? "" : "s");
}

std::string name_of(std::size_t layer, std::size_t head) {
  return "layer " + std::to_string(layer) + ", head " + std::to_string(head);
}

std::vector<std::string> numbered(const std::string& what, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(what + " " + std::to_string(i));
  return names;
}

// ---- the text and the model

std::string quoted(const LookText& text, const Vocabulary& vocabulary) {
  std::string words;
  for (std::size_t i = 0; i < text.names.size(); ++i)
    words += (i > 0 && vocabulary.unit() == Unit::word ? " " : "") +
             (text.names[i] == " " ? " " : printable(text.names[i]));
  return '"' + words + '"';
}

void print_model(const LookCommand& command, const LoadedModel& saved, const LookText& text,
                 const TrainingText& learned) {
  const nn::GptConfig& c = saved.model.config;
  std::cout << "model  " << printable(command.run) << ": " << count_of(c.layers, "layer") << ", "
            << count_of(c.heads, "head") << " in each, width " << c.embed_dim << "; a symbol sees "
            << (c.causal ? "itself and those before it" : "all others") << '\n'
            << "text   " << count_of(text.names.size(), "symbol")
            << (text.given ? "" : ", where the validation part of " + learned.name + " begins")
            << ": " << quoted(text, saved.vocabulary) << '\n';
}

// ---- windows of a text that the model has not learned

// (B, T): as many as make some 1500 symbols, the same ones every time.
Indices windows_of(const Split& part, const nn::GptConfig& config) {
  const std::size_t block = std::min(config.block_size, part.size - 1);
  const std::size_t count = std::clamp<std::size_t>(1536 / block, 1, 24);
  return Batches(part, count, block, windows_seed).next().inputs;
}

std::string described(const Indices& windows, std::size_t times, const std::string& text) {
  return count_of(times * windows.shape()[0], "window") + " of " +
         count_of(windows.shape()[1], "symbol") + ", validation part of " + text;
}

// ---- scores

std::string share(double value) { return std::isnan(value) ? "-" : decimal(value, 4); }

// (L, H) for each kind.
std::vector<Array> scores_of(const std::vector<LayerAttention>& layers, const Indices& tokens,
                             bool causal) {
  std::vector<Array> scores;
  for (const HeadKind& kind : head_kinds()) {
    Array all = zeros({layers.size(), layers[0].weights.shape()[1]});
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const Array one = head_scores(kind, layers[l].weights, tokens, causal);
      std::copy_n(one.data(), one.size(), &all(l, 0));
    }
    scores.push_back(all);
  }
  return scores;
}

bool is_best(const Array& scores, std::size_t i) {
  return scores.data()[i] == *std::max_element(scores.data(), scores.data() + scores.size());
}

std::string without_end_blanks(std::string line) {
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

void print_scores(const nn::Gpt& model, const Indices& tokens, const std::string& where) {
  const bool causal = model.config.causal;
  const std::vector<Array> scores = scores_of(capture_attention(model, tokens), tokens, causal);
  std::cout << "\nWhat heads are known for: the share of its attention that a head gives to the\n"
               "previous token, to the first, and to other places with its own symbol\n("
            << where << ")\n\n";
  std::string names(18, ' '), even = pad_right("evenly to all", 18);
  for (const HeadKind& kind : head_kinds()) {
    names += pad_left(kind.name, 15) + "  ";
    even += pad_left(share(uniform_score(kind, tokens, causal)), 15) + "  ";
  }
  std::cout << without_end_blanks(names);
  for (std::size_t i = 0; i < scores[0].size(); ++i) {
    std::string line = pad_right(name_of(i / model.config.heads, i % model.config.heads), 18);
    for (const Array& kind : scores)
      line += pad_left(share(static_cast<double>(kind.data()[i])), 15) +
              (is_best(kind, i) ? " *" : "  ");
    std::cout << without_end_blanks(line);
  }
  std::cout << without_end_blanks(even) << "* the most of all heads\n";
}

// ---- ablation

struct Question {
  std::function<double()> loss;  // none: nothing can be asked
  std::string about;             // what it is measured on, or why not
};

Question question_about(const LoadedModel& saved, const LookText& text,
                        const TrainingText& learned) {
  const nn::Gpt& model = saved.model;
  const std::size_t size = text.names.size();
  if (model.config.causal && learned.corpus) {
    const Split part = learned.corpus->validation();
    const Indices windows = windows_of(part, model.config);
    const std::size_t count = windows.shape()[0];
    return {[&model, part, count] { return next_token_loss(model, part, 2, count, windows_seed); },
            described(windows, 2, learned.name)};
  }
  if (model.config.causal) {
    if (size < 2) return {{}, "a text of one symbol leaves none to predict"};
    return {[&model, &text] { return next_token_loss(model, text.tokens); }, "the text above"};
  }
  const std::int64_t mask = saved.vocabulary.find(std::string_view("[MASK]"));
  if (saved.vocabulary.unit() != Unit::word || mask < 0)
    return {{}, "the model sees every symbol, and has no [MASK] to hide one behind"};
  if (std::all_of(text.tokens.begin(), text.tokens.end(), [=](auto id) { return id == mask; }))
    return {{}, "every symbol of the text is hidden already"};
  return {[&model, &text, mask] { return masked_token_loss(model, text.tokens, mask); },
          "each symbol of the text above in turn hidden behind [MASK]"};
}

Ablation measured(const nn::Gpt& model, const std::function<double()>& loss) {
  LiveLine line;
  std::size_t done = 0;
  const std::size_t all = model.config.layers * model.config.heads;
  return ablate(model, [&] {
    line.show(done == 0 ? "measuring with all heads"
                        : "measuring without head " + std::to_string(done) + " of " +
                              std::to_string(all));
    ++done;
    return loss();
  });
}

void print_ablation(const nn::Gpt& model, const Question& question) {
  if (!question.loss) {
    std::cout << "\nNo loss without heads: " << question.about << ".\n";
    return;
  }
  const Ablation ablation = measured(model, question.loss);
  Array costs = ablation.without;
  for (Real& cost : costs) cost = static_cast<Real>(static_cast<double>(cost) - ablation.whole);
  const Real* const most = std::max_element(costs.data(), costs.data() + costs.size());
  const auto at = static_cast<std::size_t>(most - costs.data());
  std::cout << "\nWhich heads matter: with all of them the loss is " << decimal(ablation.whole, 4)
            << " nats per symbol;\nwithout one it rises by\n(" << question.about << ")\n\n"
            << table(costs, {"", numbered("layer", model.config.layers),
                             numbered("head", model.config.heads), 4})
            << "the most without " << name_of(at / model.config.heads, at % model.config.heads)
            << '\n';
}

// ---- heat maps

struct Chosen {
  std::vector<Array> weights;  // (T, T) each; minus infinity where the row does not see
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

Chosen chosen_heads(const LookCommand& command, const nn::Gpt& model, const LookText& text) {
  Chosen chosen{{}, {}, command.head ? 1 : model.config.heads};
  const std::vector<LayerAttention> layers = capture_attention(model, text.tokens);
  for (std::size_t layer = 0; layer < model.config.layers; ++layer)
    for (std::size_t head = 0; head < model.config.heads; ++head) {
      if (command.layer.value_or(layer) != layer || command.head.value_or(head) != head) continue;
      chosen.weights.push_back(weights_of(layers[layer], head, model.config.causal));
      chosen.titles.push_back(name_of(layer, head));
    }
  return chosen;
}

HeatmapOptions map_options(const LookText& text) {
  HeatmapOptions options;
  options.row_title = "asks", options.column_title = "answers";
  options.low = 0, options.high = 1;
  options.width = terminal_width();
  options.shades = stdout_is_terminal() ? Shades::ansi : Shades::blocks;
  options.row_names = options.column_names = text.names;
  return options;
}

// How many maps stand side by side: the heads of a layer; or half as many, and so on, if they are
// shown whole then, and not on too many lines.
std::size_t abreast(const Chosen& chosen, std::size_t width) {
  const std::size_t T = chosen.weights[0].shape()[0], around = 5;  // frame and gap
  for (std::size_t columns = chosen.columns; columns > 0; columns = columns / 2) {
    const std::size_t rows = (chosen.weights.size() + columns - 1) / columns;
    if (rows * (T + 1) <= most_lines && columns * (T + around) <= width) return columns;
  }
  return chosen.columns;
}

// One by one and large when a layer was chosen, else small, if they fit.
void print_maps(const LookCommand& command, const Chosen& chosen, HeatmapOptions options) {
  std::cout << '\n';
  if (command.layer) {
    for (std::size_t i = 0; i < chosen.weights.size(); ++i) {
      options.title = chosen.titles[i];
      std::cout << heatmap_text(chosen.weights[i], options) << '\n';
    }
    return;
  }
  options.row_names.clear(), options.column_names.clear();
  const std::string text =
      heatmap_sheet_text(chosen.weights, chosen.titles, options, abreast(chosen, options.width));
  if (std::count(text.begin(), text.end(), '\n') > std::ptrdiff_t{most_lines})
    std::cout << "The heat maps of " << chosen.weights.size()
              << " heads would fill many screens; choose some with --layer and --head.\n\n";
  else
    std::cout << text << '\n';
}

void draw_maps(const std::string& folder, const Chosen& chosen, HeatmapOptions options,
               const std::string& words) {
  options.title = truncated("attention in " + words, 90);
  const Plot plot =
      draw_heatmap_sheet(folder, "look", chosen.weights, chosen.titles, options, chosen.columns);
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
  check_trusted(file, command.trust);
  check_choice(command, saved.model.config);
  TrainingText learned;
  if (!command.tsne || !command.text) learned = training_text(file, saved.vocabulary);
  const LookText text = look_text(command, saved, learned);
  if (command.tsne) return look_tsne(command, saved.model, text);
  const std::string folder = picture_folder(command);

  exit_at_interrupt();
  print_model(command, saved, text, learned);
  if (text.given) {
    print_scores(saved.model, text.tokens, "the text above");
  } else {
    const Indices windows = windows_of(learned.corpus->validation(), saved.model.config);
    print_scores(saved.model, windows, described(windows, 1, learned.name));
  }
  print_ablation(saved.model, question_about(saved, text, learned));
  const Chosen chosen = chosen_heads(command, saved.model, text);
  print_maps(command, chosen, map_options(text));
  draw_maps(folder, chosen, map_options(text), quoted(text, saved.vocabulary));
  return 0;
}

}  // namespace heed::app
