// trained_leak.hpp: trains a head of attention to predict random tokens, with and without a
// causal mask.
#pragma once

#include <cmath>
#include <vector>

#include "lesson.hpp"

namespace heed {

// A batch of texts of eight random tokens from 0 to 3, and the embeddings (B, 8, 12): the token as
// a one-hot vector of size 4, then its position as one of size 8.
struct RandomTexts {
  Indices tokens;  // (B, 8)
  Array X;         // (B, 8, 12)
};

inline RandomTexts random_texts(Generator& g, std::size_t count) {
  RandomTexts texts{g.randint(0, 4, {count, 8}), zeros({count, 8, 12})};
  for (std::size_t b = 0; b < count; ++b)
    for (std::size_t t = 0; t < 8; ++t) {
      texts.X(b, t, std::size_t(texts.tokens(b, t))) = 1;
      texts.X(b, t, 4 + t) = 1;
    }
  return texts;
}

// The mean losses of the predictions at the positions 0 to 6.
struct LeakLosses {
  double training = 0;  // in new texts, with all tokens as input
  double writing = 0;   // in the same texts, each prediction from the tokens so far only
  Series steps = {};    // the training losses
};

inline LeakLosses train_on_random_texts(bool causal) {
  Generator g(7);
  const Tensor W_Q(g.normal({12, 12}, 0, 0.3), /*requires_grad=*/true);
  const Tensor W_K(g.normal({12, 12}, 0, 0.3), true), W_V(g.normal({4, 12}, 0, 0.3), true);
  AttentionOptions options;
  options.causal = causal;
  // The outputs (B, T, 4) for the first `length` tokens. Their softmax predicts the next tokens.
  const auto outputs = [&](const RandomTexts& texts, std::size_t length) {
    const Tensor X(Array(xt::view(texts.X, xt::all(), xt::range(0, length), xt::all())));
    return scaled_dot_product_attention(linear(X, W_Q), linear(X, W_K), linear(X, W_V), options);
  };
  // The loss of the predictions at the positions `first` to `end` - 1.
  const auto loss = [&](const RandomTexts& texts, const Tensor& out, std::size_t first,
                        std::size_t end) {
    const Indices targets = xt::view(texts.tokens, xt::all(), xt::range(first + 1, end + 1));
    return cross_entropy(slice(out, 1, first, end), targets);
  };
  optim::AdamW adam({W_Q, W_K, W_V}, {0.05, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
  LeakLosses losses;
  losses.steps.name = causal ? "causal mask" : "no mask";
  for (int step = 0; step < 300; ++step) {
    const RandomTexts texts = random_texts(g, 32);
    const Tensor batch_loss = loss(texts, outputs(texts, 8), 0, 7);
    optim::zero_grad({W_Q, W_K, W_V});
    backward(batch_loss);
    adam.step();
    losses.steps.append(step, batch_loss.item());
  }
  const RandomTexts texts = random_texts(g, 1000);
  losses.training = loss(texts, outputs(texts, 8), 0, 7).item();
  for (std::size_t t = 0; t < 7; ++t)
    losses.writing += loss(texts, outputs(texts, t + 1), t, t + 1).item() / 7;
  return losses;
}

inline void trained_leak() {
  section("A leak in training");
  say("In training a leak makes the loss small. Take texts of eight random tokens: each",
      "is one of four, with probability 1/4. Then no causal model has an expected loss",
      "below ln 4 = 1.3863, the loss of equal probabilities (lesson 14). Train one",
      "head, with and without the mask, to predict the next token at the positions 0 to",
      "6. Its embeddings contain token and position. Then measure the mean loss in new",
      "texts, twice: as in training, and as in writing, where the input ends at the",
      "current token.", "");
  const LeakLosses masked = train_on_random_texts(true), open = train_on_random_texts(false);
  std::string table = "               as in training  as in writing";
  for (const auto& [name, losses] : {std::pair<std::string, LeakLosses>{"causal mask", masked},
                                     std::pair<std::string, LeakLosses>{"no mask", open}})
    table += "\n" + pad_right(name, 15) + pad_left(decimal(losses.training, 2), 14) +
             pad_left(decimal(losses.writing, 2), 15);
  quote(table);
  loss_curves("training loss (nats per token)", {masked.steps, open.steps});
  claim("with the mask, both losses are near ln 4",
        std::abs(masked.training - std::log(4)) < 0.1 &&
            std::abs(masked.writing - masked.training) < 1e-4,
        "they are not");
  claim("without it, the loss is below 0.1 in training, above ln 4 in writing",
        open.training < 0.1 && open.writing > std::log(4), "it is not");
  say("", "Without the mask the head has learned to copy the next token: nothing else",
      "predicts a random token. In writing there is no next token, and the loss is",
      "above that of equal probabilities.");
}

}  // namespace heed
