// masked.cpp: the predictions of a masked language model at [MASK], and the heads that attend from
// [MASK] to a word.

#include <algorithm>
#include <iostream>
#include <numeric>

#include "commands/look/parts.hpp"
#include "heed/base/text.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/study/heads.hpp"

namespace heed::app {
namespace {

constexpr std::size_t top_predictions = 5, top_heads = 10;

// The indices of the `count` largest numbers, the largest first.
std::vector<std::size_t> largest(const std::vector<Real>& numbers, std::size_t count) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return numbers[a] != numbers[b] ? numbers[a] > numbers[b] : a < b;
                    });
  order.resize(count);
  return order;
}

std::string position_name(const LookText& text, std::size_t t) {
  return printable(text.names[t]) + " at position " + std::to_string(t);
}

}  // namespace

std::int64_t mask_token(const LoadedModel& saved) {
  const Unit unit = saved.vocabulary.unit();
  if (saved.model.config.causal || (unit != Unit::word && unit != Unit::word_piece)) return -1;
  return saved.vocabulary.find(std::string_view("[MASK]"));
}

void print_predictions(const LoadedModel& saved, const LookText& text) {
  const std::int64_t mask = mask_token(saved);
  if (mask < 0 || std::count(text.tokens.begin(), text.tokens.end(), mask) == 0) return;
  const NoGrad no_grad;
  const Tensor probabilities = softmax(saved.model(text.tokens), -1);  // (1, T, V)
  const std::size_t V = saved.vocabulary.size();
  std::cout << "\nThe most probable tokens, with their probabilities:\n";
  for (std::size_t t = 0; t < text.names.size(); ++t) {
    if (text.tokens(0, t) != mask) continue;
    const Real* const row = probabilities.value().data() + t * V;
    const std::vector<Real> numbers(row, row + V);
    std::cout << position_name(text, t) << ':';
    for (const std::size_t id : largest(numbers, top_predictions))
      std::cout << "  " << printable(saved.vocabulary.decode(static_cast<std::int64_t>(id))) << ' '
                << decimal(static_cast<double>(numbers[id]), 4);
    std::cout << '\n';
  }
}

void check_attends_to(const LookCommand& command, const LookText& text) {
  const auto& names = text.names;
  if (!command.attends_to.empty() &&
      std::find(names.begin(), names.end(), command.attends_to) == names.end())
    throw UsageError("--attends-to " + in_quotes(command.attends_to) +
                     ": the text has no such token; give one of its tokens, such as " +
                     in_quotes(names.at(0)));
}

void print_attending_heads(const LookCommand& command, const LoadedModel& saved,
                           const LookText& text) {
  const auto found = std::find(text.names.begin(), text.names.end(), command.attends_to);
  const auto key = static_cast<std::size_t>(found - text.names.begin());
  const std::int64_t mask = mask_token(saved);
  const auto masked = std::find(text.tokens.begin(), text.tokens.end(), mask);
  const std::size_t query = mask < 0 || masked == text.tokens.end()
                                ? text.names.size() - 1
                                : static_cast<std::size_t>(masked - text.tokens.begin());
  const nn::GptConfig& config = saved.model.config;
  std::vector<Real> weights;  // one weight for each head
  for (const LayerAttention& layer : capture_attention(saved.model, text.tokens))
    for (std::size_t head = 0; head < config.heads; ++head)
      weights.push_back(layer.weights(0, head, query, key));
  std::cout << "\nThe largest attention weights from " << position_name(text, query) << " to "
            << position_name(text, key) << " (uniform: "
            << decimal(1 / static_cast<double>(config.causal ? query + 1 : text.names.size()), 4)
            << "):\n";
  for (const std::size_t i : largest(weights, top_heads))
    std::cout << pad_right(name_of(config, i), 18) << ' '
              << decimal(static_cast<double>(weights[i]), 4) << '\n';
}

}  // namespace heed::app
