// train_mine.cpp: `./heed train --mine` trains a GPT with your heads and your block, beside heed's.
//
// Your heads are the two equations of exercise 10, your block is that of exercise 12. Both models
// begin with the same parameters and see the same batches. If your parts are right, all parameters
// have the same bits after the last step.

#include <cmath>

#include "../12_transformer_block/exercise_attention.hpp"
#include "harbour.hpp"
#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/einsum.hpp"
#include "heed/ops/loss.hpp"
#include "heed/optim/adamw.hpp"
#include "lesson.hpp"

using namespace heed;

// Your part of exercise 10, lessons/10_multi_head/exercise.cpp
Tensor head_scores(const Tensor& queries, const Tensor& keys);     // (B, H, T, T)
Tensor head_outputs(const Tensor& weights, const Tensor& values);  // (B, T, H, D)
// Your part of exercise 12, lessons/12_transformer_block/exercise.cpp
Tensor transformer_block(const nn::Norm& norm1, const Attention& attention, const nn::Norm& norm2,
                         const nn::Linear& up, const nn::Linear& down, const Tensor& x);

namespace {

constexpr std::size_t T = 64, B = 16;
const std::int64_t steps = in_brief(300, 20);
const Harbour harbour;

nn::GptConfig config() {
  nn::GptConfig gpt;  // the model of lesson 00
  gpt.vocab_size = harbour.vocab_size();
  gpt.block_size = T;
  gpt.layers = 2;
  gpt.heads = 4;
  gpt.embed_dim = 64;
  return gpt;
}

// heed's: the solution of exercise 10
Tensor heeds_scores(const Tensor& queries, const Tensor& keys) {
  return einsum("bnhd,bmhd->bhnm", {queries, keys});
}

Tensor heeds_outputs(const Tensor& weights, const Tensor& values) {
  return einsum("bhnm,bmhe->bnhe", {weights, values});
}

using Product = Tensor (*)(const Tensor&, const Tensor&);

// Multi-head attention of x (B, T, C) with two products for all heads.
Tensor attend(const nn::MultiHeadAttention& parts, const Tensor& x, const nn::AttentionMask& mask,
              Product scores_of, Product outputs_of) {
  const std::size_t length = x.shape()[1], H = parts.num_heads, D = x.shape()[2] / H;
  const auto heads = [&](const Tensor& y) { return reshape(y, {x.shape()[0], length, H, D}); };
  Tensor scores = scores_of(heads(parts.query(x)), heads(parts.key(x)));  // (B, H, T, T)
  scores = scores * (1 / std::sqrt(double(D)));
  if (mask.causal) scores = masked_fill(scores, future_mask(length), -INFINITY);
  const Tensor outputs = outputs_of(softmax(scores, -1), heads(parts.value(x)));  // (B, T, H, D)
  return parts.out(reshape(outputs, x.shape()));
}

Tensor my_block(const nn::Block& block, const Tensor& x) {
  const Attention attention{[&](const Tensor& y, const nn::AttentionMask& mask) {
    return attend(block.attention, y, mask, head_scores, head_outputs);
  }};
  return transformer_block(block.norm1, attention, block.norm2, block.mlp.up, block.mlp.down, x);
}

Tensor heeds_block(const nn::Block& block, const Tensor& x) {
  const Tensor attended = attend(block.attention, block.attention_input(x), {/*causal=*/true},
                                 heeds_scores, heeds_outputs);
  return block.after_attention(x, attended);
}

// A GPT that computes with one of the two blocks, and its optimizer.
struct Trained {
  explicit Trained(Tensor (*the_block)(const nn::Block&, const Tensor&)) : block(the_block) {}

  Tensor logits(const Indices& tokens) const {  // (B, T) -> (B, T, V)
    Tensor x = model.embed(tokens);
    for (const nn::Block& each : model.blocks) x = block(each, x);
    return model.logits(x);
  }
  double step(const Batch& batch) {
    const Tensor loss = cross_entropy(logits(batch.inputs), batch.targets);
    optimizer.zero_grad();
    backward(loss);
    optimizer.step();
    return loss.item();
  }

  Tensor (*block)(const nn::Block&, const Tensor&);
  Generator generator{1};
  Parameters parameters;
  nn::Gpt model{Scope(parameters, generator), config()};
  optim::AdamW optimizer{parameters, {0.004}};
};

// The number of parameters that differ.
std::size_t different(const Trained& a, const Trained& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.parameters.tensors().size(); ++i) {
    const Array &x = a.parameters.tensors()[i].value(), &y = b.parameters.tensors()[i].value();
    for (std::size_t j = 0; j < x.size(); ++j) count += x.data()[j] == y.data()[j] ? 0 : 1;
  }
  return count;
}

void train(Trained& mine, Trained& heeds) {
  std::cout << "step   loss with your parts   with heed's\n";
  Generator generator(1);
  for (std::int64_t step = 1; step <= steps; ++step) {
    const Batch batch = harbour.batch(B, T, generator);
    const double my_loss = mine.step(batch), heeds_loss = heeds.step(batch);
    if (step == 1 || step % 50 == 0)
      std::cout << pad_left(std::to_string(step), 4) << pad_left(decimal(my_loss, 4), 23)
                << pad_left(decimal(heeds_loss, 4), 14) << std::endl;
  }
}

}  // namespace

int main() {
  set_num_threads(1);  // the model is too small for a second thread to save time
  std::cout << "Two GPTs learn the play: one with your heads and block, one with heed's.\n"
               "(./heed exercise 10 and ./heed exercise 12 check your parts.)\n\n";
  Trained mine(my_block), heeds(heeds_block);
  train(mine, heeds);
  Generator generator(2);
  const auto logits = [&](const Indices& tokens) { return mine.logits(tokens); };
  std::cout << "\nYour model writes:\n\n" << harbour.sample(logits, 300, T, generator) << "\n\n";
  const std::size_t wrong = different(mine, heeds);
  const std::string all = grouped(double(mine.parameters.count())) + " parameters";
  if (wrong == 0)
    std::cout << "All " << all << " have the same bits as heed's. The model is yours.\n";
  else
    std::cout << grouped(double(wrong)) << " of " << all
              << " differ from heed's; ./heed exercise 10 and 12 say why.\n";
  return wrong == 0 ? 0 : 1;
}
