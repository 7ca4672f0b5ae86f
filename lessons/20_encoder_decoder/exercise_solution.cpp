// 20 teacher_forcing: the loss of each target token, for pairs of different lengths in one batch.
//
// sources[b] and targets[b] are the tokens of pair b, without start, stop and padding. Their
// lengths may differ; a target may be empty, a source not. The model reads sources[b] and predicts
// the tokens of targets[b], then `stop`.
//
// token_losses returns (B, T), where T is the length of the longest target plus 1, for `stop`. Its
// element (b, t) is -ln p(target token t of pair b | source b, target tokens before t), in nats. At
// padding it is 0. The result of a pair must not depend on the other pairs of the batch.
//
// Call the encoder and the decoder once each, on padded batches: padding comes after the tokens.
// The first token that the decoder reads is `start`. cross_entropy has the options `reduction` and
// `ignore_index`. The tokens and Model are in lessons/20_encoder_decoder/teacher_forcing.hpp.
//
// As handed out, the program has several of the faults that such code often has.

#include <algorithm>

#include "exercise.hpp"
#include "teacher_forcing.hpp"

using namespace heed;

// Your part begins here.
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
  return cross_entropy(model.head(decoded), padded(outputs), options);
}
// Your part ends here.
