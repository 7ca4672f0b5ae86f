// ablation_test.cpp: the loss without each head, of models that see the past and that see all.

#include "heed/study/ablation.hpp"

#include <cmath>

#include "catch.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/study/heads.hpp"
#include "heed/text/batches.hpp"
#include "nn/small_gpt.hpp"
#include "train/small_run.hpp"

using namespace heed;
using namespace heed::test;

namespace {

constexpr std::int64_t mask = 4;

constexpr std::uint64_t seed = 11;

// -ln of the share that the model gives to `symbol` at place t of a window (1, T).
double surprise(const nn::Gpt& model, const Indices& window, std::size_t t, std::int64_t symbol) {
  const Tensor shares = softmax(model(window), -1);  // (1, T, V)
  return -std::log(static_cast<double>(shares.value()(0, t, static_cast<std::size_t>(symbol))));
}

bool about(double a, double b) { return std::abs(a - b) < 1e-5; }

}  // namespace

TEST_CASE("the next symbol's loss is the mean surprise at all but the first", "[study][ablation]") {
  const SmallGpt model(true, seed);
  const Indices tokens = indices_of({2, 4}, {0, 3, 1, 4, 2, 2, 0, 1});
  double sum = 0;
  for (std::size_t b = 0; b < 2; ++b) {
    const Indices window =
        indices_of({1, 4}, {tokens(b, 0), tokens(b, 1), tokens(b, 2), tokens(b, 3)});
    for (std::size_t t = 1; t < 4; ++t) sum += surprise(model.gpt, window, t - 1, tokens(b, t));
  }
  CHECK(about(next_token_loss(model.gpt, tokens), sum / 6));
}

TEST_CASE("a hidden symbol's loss is the mean surprise at each, hidden in turn",
          "[study][ablation]") {
  const SmallGpt model(false, seed);
  const Indices tokens = indices_of({2, 3}, {0, 3, 1, 2, mask, 0});  // one is hidden already
  double sum = 0;
  for (const auto& [hidden, t, symbol] : {std::tuple{indices_of({1, 3}, {mask, 3, 1}), 0u, 0},
                                          {indices_of({1, 3}, {0, mask, 1}), 1u, 3},
                                          {indices_of({1, 3}, {0, 3, mask}), 2u, 1},
                                          {indices_of({1, 3}, {mask, mask, 0}), 0u, 2},
                                          {indices_of({1, 3}, {2, mask, mask}), 2u, 0}})
    sum += surprise(model.gpt, hidden, t, symbol);
  CHECK(about(masked_token_loss(model.gpt, tokens, mask), sum / 5));
}

TEST_CASE("an ablation is the loss without each head, and leaves the model as it was",
          "[study][ablation]") {
  const SmallGpt model(GENERATE(true, false), seed);
  const Indices tokens = indices_of({1, 6}, {0, 3, 1, 3, 2, 2});
  const auto loss = [&] {
    return model.gpt.config.causal ? next_token_loss(model.gpt, tokens)
                                   : masked_token_loss(model.gpt, tokens, mask);
  };
  const double before = loss();
  const Ablation ablation = ablate(model.gpt, loss);
  CHECK(ablation.whole == before);
  CHECK(loss() == before);
  REQUIRE(shape_of(ablation.without) == Shape{2, 2});
  for (std::size_t layer = 0; layer < 2; ++layer)
    for (std::size_t head = 0; head < 2; ++head) {
      const AblatedHead without(model.gpt, layer, head);
      CHECK(ablation.without(layer, head) == static_cast<Real>(loss()));
      CHECK(std::abs(loss() - before) > 1e-4);  // each of these heads does something
    }
}

TEST_CASE("a head that adds nothing costs nothing", "[study][ablation]") {
  const SmallGpt model(true, seed);
  Tensor values = model.gpt.blocks[1].attention.value.weight;  // (C, C), head 1: its last rows
  for (std::size_t row = 4; row < 8; ++row)
    for (std::size_t c = 0; c < 8; ++c) values.mutable_value()(row, c) = 0;
  const Indices tokens = indices_of({1, 6}, {0, 3, 1, 3, 2, 2});
  const Ablation ablation = ablate(model.gpt, [&] { return next_token_loss(model.gpt, tokens); });
  CHECK(ablation.without(1, 1) == static_cast<Real>(ablation.whole));
}

TEST_CASE("the loss over a part is the mean over the batches that its seed draws",
          "[study][ablation]") {
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

TEST_CASE("a part shorter than the block is asked for in windows of its own length",
          "[study][ablation]") {
  const Text text;
  const Run run(few_steps(1));
  const Split tiny{&text.corpus, 0, 5, "training"};
  Indices window = text.corpus.ids(0, 5);
  window.reshape({1, 5});
  CHECK(about(next_token_loss(run.trainer.model(), tiny, 1, 1, 1),
              next_token_loss(run.trainer.model(), window)));
}

TEST_CASE("no batches, and batches of nothing, have no loss", "[study][ablation]") {
  const Text text;
  const Run run(few_steps(1));
  const auto said = [&](std::size_t batches, std::size_t batch_size) {
    return message_of([&] {
      next_token_loss(run.trainer.model(), text.corpus.validation(), batches, batch_size, 1);
    });
  };
  CHECK(said(0, 3) == "next_symbol_loss: batches is 0; give at least 1");
  CHECK(said(2, 0) == "batches: batch size is 0; give at least 1");
}

TEST_CASE("what cannot be asked for is refused", "[study][ablation]") {
  const SmallGpt past(true, seed), all(false, seed);
  const Indices one = indices_of({1, 1}, {0}), two = indices_of({1, 2}, {mask, mask});
  CHECK(message_of([&] { next_token_loss(past.gpt, one); }) ==
        "next_symbol_loss: tokens must be (B, T), T at least 2, got (1, 1)");
  CHECK(message_of([&] { next_token_loss(all.gpt, two); }) ==
        "next_symbol_loss: the model sees the next symbol; use hidden_symbol_loss");
  CHECK(message_of([&] { masked_token_loss(all.gpt, two, mask); }) ==
        "hidden_symbol_loss: every symbol is hidden already");
}
