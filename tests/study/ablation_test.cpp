// ablation_test.cpp: next_token_loss, masked_token_loss and ablate, for both kinds of model.

#include "heed/study/ablation.hpp"

#include <cmath>

#include "catch.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/text/corpus.hpp"
#include "small_model.hpp"

using namespace heed;
using namespace heed::test;

namespace {

constexpr std::int64_t mask_token = 4;
constexpr std::uint64_t seed = 11;

// The cross-entropy of `target` at position t of a window (1, T).
double loss_at(const nn::Gpt& model, const Indices& window, std::size_t t, std::int64_t target) {
  const Tensor p = softmax(model(window), -1);  // (1, T, V)
  return -std::log(static_cast<double>(p.value()(0, t, static_cast<std::size_t>(target))));
}

bool about(double a, double b) { return std::abs(a - b) < 1e-5; }

}  // namespace

TEST_CASE("next_token_loss is the mean cross-entropy of tokens 1 to T - 1", "[study][ablation]") {
  const RandomModel model(true, seed);
  const Indices tokens = indices_of({2, 4}, {0, 3, 1, 4, 2, 2, 0, 1});
  double sum = 0;
  for (std::size_t b = 0; b < 2; ++b) {
    const Indices window =
        indices_of({1, 4}, {tokens(b, 0), tokens(b, 1), tokens(b, 2), tokens(b, 3)});
    for (std::size_t t = 1; t < 4; ++t) sum += loss_at(model.gpt, window, t - 1, tokens(b, t));
  }
  CHECK(about(next_token_loss(model.gpt, tokens), sum / 6));
}

TEST_CASE("masked_token_loss is the mean cross-entropy of each token, masked in turn",
          "[study][ablation]") {
  const RandomModel model(false, seed);
  const Indices tokens = indices_of({2, 3}, {0, 3, 1, 2, mask_token, 0});  // one is masked already
  double sum = 0;
  for (const auto& [inputs, t, target] : {std::tuple{indices_of({1, 3}, {mask_token, 3, 1}), 0u, 0},
                                          {indices_of({1, 3}, {0, mask_token, 1}), 1u, 3},
                                          {indices_of({1, 3}, {0, 3, mask_token}), 2u, 1},
                                          {indices_of({1, 3}, {mask_token, mask_token, 0}), 0u, 2},
                                          {indices_of({1, 3}, {2, mask_token, mask_token}), 2u, 0}})
    sum += loss_at(model.gpt, inputs, t, target);
  CHECK(about(masked_token_loss(model.gpt, tokens, mask_token), sum / 5));
}

TEST_CASE("ablate returns the loss without each head and restores the model", "[study][ablation]") {
  const RandomModel model(GENERATE(true, false), seed);
  const Indices tokens = indices_of({1, 6}, {0, 3, 1, 3, 2, 2});
  const auto loss = [&] {
    return model.gpt.config.causal ? next_token_loss(model.gpt, tokens)
                                   : masked_token_loss(model.gpt, tokens, mask_token);
  };
  const double before = loss();
  const Ablation ablation = ablate(model.gpt, loss);
  CHECK(ablation.baseline_loss == before);
  CHECK(loss() == before);
  REQUIRE(shape_of(ablation.ablated_loss) == Shape{2, 2});
  for (std::size_t layer = 0; layer < 2; ++layer)
    for (std::size_t head = 0; head < 2; ++head) {
      const AblatedHead ablated(model.gpt, layer, head);
      CHECK(ablation.ablated_loss(layer, head) == static_cast<Real>(loss()));
      CHECK(std::abs(loss() - before) > 1e-4);  // each head matters
    }
}

TEST_CASE("ablating a head whose values are 0 does not change the loss", "[study][ablation]") {
  const RandomModel model(true, seed);
  Tensor values = model.gpt.blocks[1].attention.value.weight;  // (C, C), the last rows are head 1
  for (std::size_t row = 4; row < 8; ++row)
    for (std::size_t c = 0; c < 8; ++c) values.mutable_value()(row, c) = 0;
  const Indices tokens = indices_of({1, 6}, {0, 3, 1, 3, 2, 2});
  const Ablation ablation = ablate(model.gpt, [&] { return next_token_loss(model.gpt, tokens); });
  CHECK(ablation.ablated_loss(1, 1) == static_cast<Real>(ablation.baseline_loss));
}

TEST_CASE("next_token_loss of a part is the mean over its random batches", "[study][ablation]") {
  const Run run(few_steps(1));
  const nn::Gpt& model = run.trainer.model();
  const Split part = run.text.corpus.validation();
  Batches windows(part, 3, 12, std::uint64_t{5});
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    const Batch batch = windows.next();
    sum += static_cast<double>(model.loss(batch.inputs, batch.targets).item());
  }
  CHECK(next_token_loss(model, part, 2, 3, 5) == sum / 2);
  CHECK(next_token_loss(model, part, 2, 3, 6) != sum / 2);
}

TEST_CASE("a part shorter than the block gives windows as long as the part", "[study][ablation]") {
  const Text text;
  const Run run(few_steps(1));
  const Split tiny{&text.corpus, 0, 5, "training"};
  Indices window = text.corpus.ids(0, 5);
  window.reshape({1, 5});
  CHECK(about(next_token_loss(run.trainer.model(), tiny, 1, 1, 1),
              next_token_loss(run.trainer.model(), window)));
}

TEST_CASE("next_token_loss rejects 0 batches and batches of 0 windows", "[study][ablation]") {
  const Text text;
  const Run run(few_steps(1));
  const auto error_of = [&](std::size_t batches, std::size_t batch_size) {
    return message_of([&] {
      next_token_loss(run.trainer.model(), text.corpus.validation(), batches, batch_size, 1);
    });
  };
  CHECK(error_of(0, 3) == "next_token_loss: batches is 0; give at least 1");
  CHECK(error_of(2, 0) == "batches: batch size is 0; give at least 1");
}

TEST_CASE("next_token_loss and masked_token_loss reject tokens they cannot predict",
          "[study][ablation]") {
  const RandomModel causal_model(true, seed), bidirectional_model(false, seed);
  const Indices one = indices_of({1, 1}, {0}), two = indices_of({1, 2}, {mask_token, mask_token});
  CHECK(message_of([&] { next_token_loss(causal_model.gpt, one); }) ==
        "next_token_loss: tokens must be (B, T), B at least 1 and T at least 2, got (1, 1)");
  CHECK(message_of([&] { next_token_loss(bidirectional_model.gpt, two); }) ==
        "next_token_loss: the model is not causal and sees the target; use masked_token_loss");
  CHECK(message_of([&] { masked_token_loss(bidirectional_model.gpt, two, mask_token); }) ==
        "masked_token_loss: every input token is the mask token");
}

TEST_CASE("masked_token_loss rejects a causal model, and ablate an empty loss",
          "[study][ablation]") {
  const RandomModel model(true, 7);
  CHECK_THROWS_WITH(masked_token_loss(model.gpt, indices_of({1, 2}, {1, 2}), 0),
                    "masked_token_loss: the model is causal and sees no later token; use "
                    "next_token_loss");
  CHECK_THROWS_WITH(ablate(model.gpt, {}), "ablate: the loss is empty; give a function");
}
