// measures.cpp: the scores of heads, and the loss without each head.

#include <algorithm>
#include <cmath>
#include <iostream>

#include "commands/look/parts.hpp"
#include "commands/terminal.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/table.hpp"
#include "heed/study/heads.hpp"

namespace heed::app {
namespace {

constexpr std::uint64_t windows_seed = 1337;

std::vector<std::string> numbered(const std::string& noun, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(noun + " " + std::to_string(i));
  return names;
}

}  // namespace

std::string name_of(const nn::GptConfig& config, std::size_t i) {
  return "layer " + std::to_string(i / config.heads) + ", head " + std::to_string(i % config.heads);
}

namespace {

// ---- windows of the validation split

// Draws windows (B, T) of a split at random with a fixed seed, about 1500 tokens in total.
Indices windows_of(const Split& part, const nn::GptConfig& config) {
  const std::size_t block = std::min(config.block_size, part.size - 1);
  const std::size_t count = std::clamp<std::size_t>(1536 / block, 1, 24);
  return Batches(part, count, block, windows_seed).next().inputs;
}

std::string description(const Indices& windows, std::size_t batches, const std::string& text) {
  return counted(batches * windows.shape()[0], "window") + " of " +
         counted(windows.shape()[1], "token") + ", validation split of " + text;
}

}  // namespace

// ---- scores

HeadScores head_scores_on(const nn::Gpt& model, const ScoreText& text) {
  HeadScores scores;
  scores.description = text.description;
  const std::vector<LayerAttention> layers = capture_attention(model, text.tokens);
  std::vector<HeadKind> kinds = head_kinds();
  kinds.push_back(induction_kind());
  for (const HeadKind& kind : kinds) {
    std::vector<double> column;  // one score per head, ordered by layer
    for (const LayerAttention& layer : layers) {
      const Array of_layer = head_scores(kind, layer.weights, text.tokens, model.config.causal);
      column.insert(column.end(), of_layer.begin(), of_layer.end());
    }
    scores.kinds.push_back(kind.name);
    scores.of_kind.push_back(column);
    scores.uniform.push_back(uniform_score(kind, text.tokens, model.config.causal));
  }
  return scores;
}

ScoreText score_text(const LookCommand& command, const nn::Gpt& model, const LookText& text,
                     const ValidationText& training) {
  if (command.text) return {text.tokens, "the text above"};
  const Indices windows = windows_of(training.corpus->validation(), model.config);
  return {windows, description(windows, 1, training.name)};
}

namespace {

std::string score_cell(double score) { return std::isnan(score) ? "-" : decimal(score, 4); }

// Returns the lines of the score table: a header, one line per head, and a last line with the
// scores of uniform attention weights as a baseline.
std::vector<std::string> score_lines(const HeadScores& scores, const nn::GptConfig& config) {
  std::vector<std::string> lines{""};
  for (std::size_t i = 0; i < scores.of_kind[0].size(); ++i) lines.push_back(name_of(config, i));
  lines.push_back("uniform weights");
  for (std::string& line : lines) line = pad_right(line, 18);
  for (std::size_t k = 0; k < scores.kinds.size(); ++k) {
    const std::vector<double>& column = scores.of_kind[k];
    const double largest = *std::max_element(column.begin(), column.end());
    const std::size_t width = std::max<std::size_t>(scores.kinds[k].size(), 6) + 1;
    lines.front() += pad_left(scores.kinds[k], width) + "  ";
    for (std::size_t i = 0; i < column.size(); ++i)
      lines[i + 1] += pad_left(score_cell(column[i]), width) + (column[i] == largest ? " *" : "  ");
    lines.back() += pad_left(score_cell(scores.uniform[k]), width) + "  ";
  }
  return lines;
}

}  // namespace

void print_scores(const HeadScores& scores, const nn::GptConfig& config) {
  std::vector<std::string> lines = score_lines(scores, config);
  std::cout
      << "\nHead scores: the attention weight of each head on the previous token, on the first\n"
         "token, on other positions with the query's token, and on the tokens after these\n"
         "positions (induction), as a mean over queries\n("
      << scores.description << ")\n\n";
  for (std::string& line : lines) std::cout << line.erase(line.find_last_not_of(' ') + 1) << '\n';
  std::cout << "* largest score of the column\n";
}

// ---- ablation

namespace {

AblationLoss causal_loss(const LoadedModel& saved, const LookText& text,
                         const ValidationText& training) {
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
  const std::int64_t mask = mask_token(saved);
  if (mask < 0) return {{}, "the model is bidirectional, and its vocabulary has no [MASK]"};
  if (std::all_of(text.tokens.begin(), text.tokens.end(), [=](auto id) { return id == mask; }))
    return {{}, "every token of the text is [MASK]"};
  return {[&model, &text, mask] { return masked_token_loss(model, text.tokens, mask); },
          "each token of the text above in turn replaced by [MASK]"};
}

}  // namespace

AblationLoss ablation_loss(const LoadedModel& saved, const LookText& text,
                           const ValidationText& training) {
  return saved.model.config.causal ? causal_loss(saved, text, training) : masked_loss(saved, text);
}

Ablation measured_ablation(const nn::Gpt& model, const std::function<double()>& loss) {
  LiveLine line;
  std::size_t done = 0;
  const std::string of_all = " of " + std::to_string(model.config.layers * model.config.heads);
  return ablate(model, [&] {
    line.show("measuring the loss " +
              (done == 0 ? "with all heads" : "without head " + std::to_string(done) + of_all));
    ++done;
    const double measured = loss();
    if (!std::isfinite(measured))
      throw_error("the loss is not finite; the weights of the model are too large or damaged");
    return measured;
  });
}

Array loss_increases(const Ablation& ablation) {
  return xt::cast<Real>(xt::cast<double>(ablation.ablated_loss) - ablation.baseline_loss);
}

void print_ablation(const nn::Gpt& model, const AblationLoss& measure) {
  if (!measure.loss) {
    std::cout << "\nNo head ablation: " << measure.description << ".\n";
    return;
  }
  const Ablation ablation = measured_ablation(model, measure.loss);
  const Array increases = loss_increases(ablation);
  const auto largest = std::max_element(increases.begin(), increases.end());
  std::cout << "\nHead ablation: with all heads the loss is " << decimal(ablation.baseline_loss, 4)
            << " nats per token;\nwithout one head it rises by\n(" << measure.description << ")\n\n"
            << table(increases, {"", numbered("layer", model.config.layers),
                                 numbered("head", model.config.heads), 4})
            << "largest without "
            << name_of(model.config, static_cast<std::size_t>(largest - increases.begin())) << '\n';
}

}  // namespace heed::app
