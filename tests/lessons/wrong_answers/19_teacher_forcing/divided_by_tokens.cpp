// Divides the losses by the number of tokens, as a mean would.
#include <algorithm>

#include "19_teacher_forcing.hpp"
#include "exercise.hpp"

using namespace heed;

// The token lists as rows, with padding after them.
Indices padded(const std::vector<Tokens>& lists) {
  std::size_t T = 0;
  for (const Tokens& list : lists) T = std::max(T, list.size());
  Indices rows = indices({lists.size(), T}, padding);
  for (std::size_t b = 0; b < lists.size(); ++b)
    std::copy(lists[b].begin(), lists[b].end(), &rows(b, 0));
  return rows;
}

Tensor token_losses(const Model& model, const std::vector<Tokens>& sources,
                    const std::vector<Tokens>& targets) {
  std::vector<Tokens> inputs, outputs;
  for (const Tokens& words : targets) {
    inputs.push_back({start});
    inputs.back().insert(inputs.back().end(), words.begin(), words.end());
    outputs.push_back(words);
    outputs.back().push_back(stop);
  }
  const Indices source = padded(sources);  // (B, S)
  nn::AttentionMask causal, source_mask;
  causal.causal = true;
  source_mask.key_padding = xt::equal(source, padding);
  const Tensor memory = model.encoder(model.embed(source), source_mask);
  const Tensor decoded = model.decoder(model.embed(padded(inputs)), memory, causal, source_mask);
  CrossEntropyOptions options;
  options.reduction = Reduction::none;
  options.ignore_index = padding;
  double count = 0;
  for (const Tokens& output : outputs) count += double(output.size());
  return cross_entropy(model.head(decoded), padded(outputs), options) / count;
}
