// sample_command.cpp: heed sample: a trained model writes.

#include <filesystem>
#include <iostream>

#include "heed/app/commands.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/array/error.hpp"
#include "heed/array/parallel.hpp"
#include "heed/nn/checkpoint.hpp"
#include "heed/report/format.hpp"
#include "heed/text/utf8.hpp"

namespace heed::app {
namespace {

// The file in a run's folder, or the file itself.
std::filesystem::path checkpoint_in(const std::string& run) {
  std::error_code error;  // opening it will say
  if (std::filesystem::is_directory(run, error)) return RunFolder(run).checkpoint();
  return run;
}

// What writing starts from when no prompt is given: a new line, as at the start of a speech.
std::int64_t first_symbol(const Vocabulary& vocabulary) {
  const std::int64_t line_end = vocabulary.find('\n');
  return line_end >= 0 ? line_end : 0;
}

std::vector<std::int64_t> encoded_prompt(const SampleCommand& command, const Vocabulary& vocabulary,
                                         std::size_t block_size) {
  if (!command.prompt || command.prompt->empty()) {
    const std::int64_t first = first_symbol(vocabulary);
    if (command.prompt)
      note("--prompt is empty: starting from '" + visible(vocabulary.decode(first)) + "'");
    return {first};
  }
  std::vector<std::int64_t> prompt;
  try {
    prompt = vocabulary.encode(*command.prompt);
  } catch (const Error& error) {
    throw UsageError("--prompt: " + std::string(error.what()));
  }
  if (prompt.size() > block_size)
    note("--prompt has " + std::to_string(prompt.size()) + " symbols; the model sees the last " +
         std::to_string(block_size) + ", its block size");
  return prompt;
}

}  // namespace

int sample(const SampleCommand& command) {
  if (command.threads) set_num_threads(*command.threads);
  const SafetensorsFile file = open_checkpoint(checkpoint_in(command.run));
  const Vocabulary vocabulary = vocabulary_from(file);
  const nn::GptConfig config = nn::config_from(file);
  if (config.vocab_size != vocabulary.size())
    refuse(file.path, ": the model has ", config.vocab_size, " symbols, the vocabulary ",
           vocabulary.size());
  Parameters parameters;
  Generator generator(command.seed);
  const nn::Gpt model(Scope(parameters, generator), config);
  nn::load_parameters(parameters, file);
  check_trusted(file, command.trust);
  const auto prompt = encoded_prompt(command, vocabulary, config.block_size);

  generator = Generator(command.seed);
  if (command.prompt) std::cout << *command.prompt;
  generate(model, prompt, command.options, generator, [&](std::int64_t symbol) {
    std::cout << vocabulary.decode(symbol) << std::flush;
    return std::cout.good();
  });
  std::cout << std::endl;
  return 0;
}

int inspect(const InspectCommand& command) {
  const SafetensorsFile file = read_safetensors(checkpoint_in(command.file));
  std::size_t bytes = 0;
  for (const StoredTensor& tensor : file.tensors) {
    std::string shape;
    for (const std::size_t size : tensor.shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    std::cout << pad_right(tensor.dtype, 8) << ' ' << shown(tensor.name) << " (" << shape << ")\n";
    bytes += tensor.bytes;
  }
  std::cout << file.tensors.size() << (file.tensors.size() == 1 ? " tensor, " : " tensors, ")
            << grouped(static_cast<double>(bytes)) << " bytes"
            << (file.has_checksum ? ", checksum right" : ", no checksum") << '\n';
  for (const auto& [key, value] : file.metadata)
    std::cout << shown(key) << " = " << shown(value) << '\n';
  return 0;
}

}  // namespace heed::app
