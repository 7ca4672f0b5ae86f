// training.hpp: trains a small GPT in several processes, for lesson 27.
#pragma once

#include "by_hand.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/parallel/gradient_ready.hpp"
#include "heed/train/data_parallel.hpp"

namespace heed {

inline std::string tiny_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "many hands make light work. ";
  return text;
}

inline nn::GptConfig tiny_model(const Vocabulary& vocabulary) {
  nn::GptConfig config;
  config.vocab_size = vocabulary.size();
  config.block_size = 16;
  config.layers = config.heads = 2;
  config.embed_dim = 32;
  return config;
}

inline TrainOptions tiny_run(std::size_t shards) {
  TrainOptions options;
  options.batch_size = 8;
  options.shards = shards;
  options.steps = in_brief(60, 20);
  options.lr = 1e-2;
  options.warmup = 5;
  options.eval_batches = 2;
  options.dropout = 0.1;
  return options;
}

struct Trained {
  Array weights;  // final token embedding (V, C)
  Series losses;  // training losses
  double loss() const { return losses.y.back(); }
};

// Trains with `shards` shards in `processes` processes. The result is that of rank 0.
inline Trained train(std::size_t shards, std::size_t processes) {
  const std::string text = tiny_text();
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus(text, vocabulary);
  Trained result;
  in_processes(processes, [&](Communicator& communicator) {
    Distribution distribution;
    distribution.communicator = &communicator;
    const auto trainer =
        make_trainer(corpus, tiny_model(vocabulary), tiny_run(shards), distribution);
    while (!trainer->done()) trainer->step();
    result = {trainer->parameters().at("token.weight").value(),
              {"S = " + std::to_string(shards), {}, {}}};
    for (const LogRow& row : trainer->history())
      result.losses.append(double(row.step), row.train_loss);
  });
  return result;
}

// The parameters in the order in which backward completes their gradients.
inline Names order_of_gradients() {
  const std::string text = tiny_text();
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus(text, vocabulary);
  Parameters parameters;
  Generator g(1);
  const nn::Gpt model(Scope(parameters, g), tiny_model(vocabulary));
  const Batch batch = Batches(corpus.training(), 2, 16, 1).next();
  Names names;
  GradientReady ready([&](Node& leaf) { names.push_back(leaf.name); });
  BackwardOptions options;
  options.observer = &ready;
  backward(model.loss(batch.inputs, batch.targets), options);
  return names;
}

// The seconds of a step on P processes, by the cost model of the lesson.
struct Network {
  std::string name;
  double latency, bandwidth;  // a in seconds, 1 / b in bytes per second
};

inline double step_seconds(double alone, double bytes, double P, const Network& network) {
  return alone / P + 2 * network.latency * std::log2(P) +
         2 * (P - 1) / P * bytes / network.bandwidth;
}

}  // namespace heed
