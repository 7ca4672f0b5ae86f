// A loop over the pairs calls the encoder and the decoder once for each, without padding.
#include <algorithm>

#include "19_teacher_forcing.hpp"
#include "exercise.hpp"

using namespace heed;

Indices row(const Tokens& tokens) {  // (1, T)
  Indices rows = indices({1, tokens.size()});
  std::copy(tokens.begin(), tokens.end(), rows.begin());
  return rows;
}

Tensor token_losses(const Model& model, const std::vector<Tokens>& sources,
                    const std::vector<Tokens>& targets) {
  std::size_t T = 0;
  for (const Tokens& target : targets) T = std::max(T, target.size() + 1);
  nn::AttentionMask causal;
  causal.causal = true;
  CrossEntropyOptions options;
  options.reduction = Reduction::none;
  std::vector<Tensor> rows;
  for (std::size_t b = 0; b < sources.size(); ++b) {
    Tokens input = {start}, output = targets[b];
    input.insert(input.end(), targets[b].begin(), targets[b].end());
    output.push_back(stop);
    const Tensor memory = model.encoder(model.embed(row(sources[b])));
    const Tensor decoded = model.decoder(model.embed(row(input)), memory, causal);
    const Tensor losses = cross_entropy(model.head(decoded), row(output), options);
    rows.push_back(concat({losses, Tensor(zeros({1, T - output.size()}))}, 1));
  }
  return concat(rows, 0);
}
