// first_loss.hpp: the first loss of a DataParallel, in the number type of the including file.
#pragma once

#include <string>

#include "heed/train/data_parallel.hpp"

static double first_loss() {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "the tide comes in. ";
  const heed::Vocabulary vocabulary = heed::Vocabulary::of_text(text, heed::Unit::code_point);
  const heed::Corpus corpus(text, vocabulary);
  heed::nn::GptConfig config;
  config.vocab_size = vocabulary.size(), config.block_size = 8;
  config.layers = config.heads = 1, config.embed_dim = 8;
  heed::TrainOptions options;
  options.batch_size = options.shards = 2;
  return heed::make_trainer(corpus, config, options)->step()->train_loss;
}

double first_loss_in_double();
