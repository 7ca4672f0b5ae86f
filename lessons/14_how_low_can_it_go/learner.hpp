// learner.hpp: the model of lesson 14 with any attention mask, its training and its losses.
#pragma once

#include <algorithm>
#include <cmath>

#include "heed/autograd/backward.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/generate.hpp"
#include "lesson.hpp"

namespace heed {

const std::size_t T = 48;        // letters in a window
const std::size_t context = 24;  // a context of 24 letters determines the state of the source

struct Learner {
  Learner(const nn::GptConfig& config, const nn::AttentionMask& attention_mask)
      : model(Scope(parameters, generator), config), mask(attention_mask) {}
  Tensor logits(const Indices& tokens) const {
    Tensor x = model.embed(tokens, 0);  // (B, T, C)
    for (const nn::Block& block : model.blocks) x = block(x, mask);
    return linear(model.norm(x), model.head);  // (B, T, V)
  }
  // -ln p(target) of each target: (W, T).
  Array losses(const Batch& windows) const {
    const NoGrad no_grad;
    CrossEntropyOptions each;
    each.reduction = Reduction::none;
    return cross_entropy(logits(windows.inputs), windows.targets, each).value();
  }

  Generator generator{14};
  Parameters parameters;
  nn::Gpt model;
  nn::AttentionMask mask;
};

struct Mean {
  double value, standard_error;
};

// The mean over all targets with a context of 24 letters or more. The standard error
// comes from the means of the windows. It treats them as independent samples; in fact neighbouring
// windows share a part of a sentence.
inline Mean mean_with_context(const Array& losses) {
  Array with_context = xt::view(losses, xt::all(), xt::range(context - 1, T));
  Array each = xt::mean(with_context, {1});  // (W)
  return {double(xt::mean(each)()), double(xt::stddev(each)()) / std::sqrt(double(each.size()))};
}

inline Series train(Learner& learner, const Corpus& corpus, const Batch& test,
                    const std::string& name) {
  optim::AdamWOptions options;
  options.beta2 = 0.99, options.decay_vectors = false;
  optim::AdamW optimizer(learner.parameters.tensors(), options);
  const std::int64_t steps = in_brief(2500, 300);
  const optim::WarmupCosine schedule{0.01, 0.0005, 50, steps};
  Generator generator(1);
  Series curve{name, {}, {}, /*points=*/true};
  for (std::int64_t step = 0;; ++step) {
    if (step % (steps / 20) == 0)
      curve.append(double(step), mean_with_context(learner.losses(test)).value);
    if (step % (steps / 5) == 0)
      quote("step " + pad_left(std::to_string(step), 4) + "  loss " + decimal(curve.y.back(), 4));
    if (step == steps) return curve;
    const Batch batch = random_batch(corpus.training(), 8, T, generator);  // (B, T)
    optim::zero_grad(learner.parameters.tensors());
    backward(cross_entropy(learner.logits(batch.inputs), batch.targets));
    optim::clip_grad_norm(learner.parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
}

// 71 sampled letters, with / for a newline.
inline std::string sampled(const Learner& learner, const Vocabulary& vocabulary) {
  Generator generator(5);
  GenerateOptions options;
  options.tokens = 71;
  std::string text = vocabulary.decode(generate(learner.model, {0}, options, generator));
  std::replace(text.begin(), text.end(), '\n', '/');
  return text;
}

}  // namespace heed
