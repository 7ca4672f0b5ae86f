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
  std::vector<Tokens> outputs = targets;
  for (Tokens& output : outputs) output.push_back(stop);
  const Indices source = padded(sources), target = padded(outputs);  // (B, S), (B, T)
  const nn::AttentionMask no_mask;
  const Tensor memory = model.encoder(model.embed(source), no_mask);
  const Tensor decoded = model.decoder(model.embed(target), memory, no_mask, no_mask);
  CrossEntropyOptions options;
  options.reduction = Reduction::none;
  return cross_entropy(model.head(decoded), target, options);
}
// Your part ends here.
