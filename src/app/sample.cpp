// sample.cpp: heed sample, which generates text with a trained model.

#include <algorithm>
#include <iostream>

#include "heed/app/gemm_setting.hpp"
#include "heed/app/options.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {
namespace {

// Encodes --prompt as token ids. Without a prompt, returns the token of the line break or, if the
// vocabulary has no line break, token 0.
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
  check_trusted(file, command.trust);
  set_gemm_of_run(file.gemm());
  const LoadedModel saved(file);
  const Vocabulary& vocabulary = saved.vocabulary;
  if (!saved.model.config.causal)
    throw_error(file.path(),
                ": its model is not causal, so it cannot generate text; heed look shows its heads");
  const auto prompt = encoded_prompt(command, vocabulary, saved.model.config.block_size);

  const std::string given = command.prompt.value_or("");
  TextWriter output;
  output.write(given);
  const bool words = vocabulary.unit() == Unit::word;
  bool needs_space = words && !given.empty();
  Generator generator(command.seed);
  const auto print = [&](std::int64_t token) {
    output.write((needs_space ? " " : "") + vocabulary.decode(token));
    needs_space = words;
    return std::cout.good();
  };
  try {
    generate(saved.model, prompt, command.options, generator, print);
  } catch (const Error& error) {
    throw_error(file.path(), ": ", error.what());
  }
  output.finish();
  std::cout << std::endl;
  return 0;
}

}  // namespace heed::app
