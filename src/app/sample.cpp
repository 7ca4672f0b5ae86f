// sample.cpp: heed sample, which generates text with a trained model.

#include <algorithm>
#include <iostream>

#include "heed/app/options.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {
namespace {

// Encodes --prompt. Without a prompt, returns the line break's token or, if there is none, token 0.
std::vector<std::int64_t> encoded_prompt(const SampleCommand& command, const Vocabulary& vocabulary,
                                         std::size_t block_size) {
  if (command.prompt.value_or("").empty()) {
    const std::int64_t start = std::max<std::int64_t>(vocabulary.find('\n'), 0);
    if (command.prompt)
      note("--prompt is empty: starting from '" + printable(vocabulary.decode(start)) + "'");
    return {start};
  }
  std::vector<std::int64_t> prompt;
  try {
    prompt = vocabulary.encode(*command.prompt);
  } catch (const Error& error) {
    throw UsageError("--prompt: " + std::string(error.what()));
  }
  if (prompt.empty())
    throw UsageError("--prompt: contains no words; give some words, or no --prompt");
  if (prompt.size() > block_size)
    note("--prompt has " + std::to_string(prompt.size()) + " tokens; the model uses the last " +
         std::to_string(block_size) + ", its block size");
  return prompt;
}

}  // namespace

int run(const SampleCommand& command) {
  if (command.threads) set_num_threads(*command.threads);
  const ModelFile file = ModelFile::open(checkpoint_in(command.run));
  const LoadedModel saved(file);
  const Vocabulary& vocabulary = saved.vocabulary;
  check_trusted(file, command.trust);
  if (!saved.model.config.causal)
    throw_error(file.path(),
                ": its model is not causal, so it cannot generate text; heed look shows its heads");
  const auto prompt = encoded_prompt(command, vocabulary, saved.model.config.block_size);

  const std::string given = command.prompt.value_or("");
  std::cout << given;
  const bool words = vocabulary.unit() == Unit::word;
  bool needs_space = words && !given.empty();
  Generator generator(command.seed);
  generate(saved.model, prompt, command.options, generator, [&](std::int64_t token) {
    std::cout << (needs_space ? " " : "") << vocabulary.decode(token) << std::flush;
    needs_space = words;
    return std::cout.good();
  });
  std::cout << std::endl;
  return 0;
}

}  // namespace heed::app
