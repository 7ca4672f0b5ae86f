// sample.cpp: heed sample, which generates text with a trained model.

#include "commands/sample/sample.hpp"

#include <algorithm>
#include <iostream>

#include "commands/common_flags.hpp"
#include "commands/gemm_setting.hpp"
#include "commands/run_folder.hpp"
#include "commands/terminal.hpp"
#include "commands/thread_check.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"

namespace heed::app {
namespace {

// Encodes --prompt as token ids. Without a prompt, returns the vocabulary's first_token().
std::vector<std::int64_t> encoded_prompt(const SampleCommand& command, const Vocabulary& vocabulary,
                                         std::size_t block_size) {
  if (command.prompt.value_or("").empty()) {
    const std::int64_t start = vocabulary.first_token();
    if (command.prompt)
      note("--prompt is empty: starting from '" + printable(vocabulary.decode(start)) + "'");
    return {start};
  }
  std::vector<std::int64_t> prompt;
  try {
    prompt = vocabulary.encode(*command.prompt,
                               command.special ? SpecialTokens::as_tokens : SpecialTokens::as_text);
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

// Prints one text, token by token: first --prompt, then the tokens that follow it, until --stop.
class SampleWriter {
 public:
  SampleWriter(const SampleCommand& command, const Vocabulary& vocabulary, std::int64_t last)
      : vocabulary_(vocabulary), stop_(command.stop) {
    output_.write(command.prompt.value_or(""));
    const bool words = vocabulary.unit() == Unit::word;  // without a prompt, no space comes first
    if (!words || !command.prompt.value_or("").empty()) last_ = last;
  }
  // Returns whether the text goes on.
  bool write(std::int64_t token) {
    if (is_done_) return false;
    pending_ += last_ ? following(*last_, token) : vocabulary_.decode(token);
    last_ = token;
    const std::size_t found = stop_.empty() ? pending_.npos : pending_.find(stop_);
    is_done_ = found != pending_.npos;
    const std::size_t end = is_done_ ? found : pending_.size() - beginning_of_stop();
    output_.write(pending_.substr(0, end));
    pending_.erase(0, is_done_ ? pending_.npos : end);
    return !is_done_;
  }
  void finish() {
    output_.write(pending_);
    output_.finish();
    std::cout << std::endl;
  }

 private:
  // The text of a token after another one.
  std::string following(std::int64_t last, std::int64_t token) const {
    return vocabulary_.decode({last, token}).substr(vocabulary_.decode(last).size());
  }
  // The size of the longest end of the pending text with which --stop begins.
  std::size_t beginning_of_stop() const {
    std::size_t size = std::min(pending_.size(), stop_.size());
    while (pending_.compare(pending_.size() - size, size, stop_, 0, size) != 0) --size;
    return size;
  }

  const Vocabulary& vocabulary_;
  std::string stop_, pending_;  // the text that is not yet written
  std::optional<std::int64_t> last_;
  bool is_done_ = false;
  TextWriter output_;
};

void write_sample(const SampleCommand& command, const LoadedModel& saved,
                  const std::vector<std::int64_t>& prompt) {
  SampleWriter writer(command, saved.vocabulary, prompt.back());
  Generator generator(command.seed);
  generate(saved.model, prompt, command.options, generator,
           [&](std::int64_t token) { return writer.write(token) && std::cout.good(); });
  writer.finish();
}

// Prints --samples texts, each below a line with its seed. At most 32 texts are generated together,
// because the caches and the logits of all of them are in memory at once.
void write_samples(const SampleCommand& command, const LoadedModel& saved,
                   const std::vector<std::int64_t>& prompt) {
  constexpr std::size_t group = 32;
  for (std::size_t begin = 0; begin < command.samples && std::cout.good(); begin += group) {
    const std::size_t end = std::min(begin + group, command.samples);
    std::vector<Generator> generators;
    for (std::size_t i = begin; i < end; ++i) generators.emplace_back(command.seed + i);
    const auto texts = generate(saved.model, prompt, command.options, generators);
    for (std::size_t i = 0; i < texts.size() && std::cout.good(); ++i) {
      std::cout << "---- seed " << command.seed + begin + i << '\n';
      SampleWriter writer(command, saved.vocabulary, prompt.back());
      for (const std::int64_t token : texts[i]) writer.write(token);
      writer.finish();
    }
  }
}

}  // namespace

void declare_flags(Flags& flags, SampleCommand& c) {
  run_argument(flags, c.run, c.trust);
  flags.text("--prompt", "TEXT", "text to continue [<|endoftext|>, <s> or a line break]", c.prompt);
  flags.flag("--special", c.special, "special tokens in --prompt are tokens, not text");
  flags.text("--stop", "TEXT", "end a sample before this text", c.stop);
  flags.integer("--tokens", c.options.tokens, {0, max_size}, "number of tokens to generate");
  flags.number("--temperature", c.options.temperature, {0, infinite},
               "divisor of the logits; 0: the most likely token");
  flags.integer("--top-k", c.options.top_k, {1, max_size},
                "sample from the K most likely tokens [all]", "K");
  flags.integer("--seed", c.seed, seeds, "seed of the sampling");
  flags.integer("--samples", c.samples, {1, 1024},
                "number of texts, generated together, with the seeds --seed, --seed + 1, ...");
  flags.enumeration("--weights",
                    "bf16, int8: rounded weights, half and a quarter of the memory; faster in "
                    "large models for up to "
                    "about 10 texts",
                    {"f32", "bf16", "int8"}, c.weights);
  flags.flag("--no-cache", c.options.cache,
             "recompute all keys and values for each token; slower, with the same result", false);
  threads_flag(flags, c.threads);
  flags.footer(
      "When the context reaches the block size, its older half is dropped, and the keys and values "
      "of the newer half are computed again. From then on, the context is at least half the block "
      "size long.");
  flags.example("./heed sample runs/harbour --prompt 'the ship' --tokens 200");
  flags.example("./heed sample runs/harbour --temperature 0.8 --samples 3");
}

int run(const SampleCommand& command) {
  if (command.seed + (command.samples - 1) > 0xffffffff)
    throw UsageError("--samples " + std::to_string(command.samples) + ": the seeds --seed, " +
                     "--seed + 1, ... must be at most 4294967295");
  if (command.threads) set_num_threads(*command.threads);
  const ModelFile file = ModelFile::open(checkpoint_in(command.run));
  const std::string path = file.path();
  check_trusted(file, command.trust);
  check_blas_buffers();
  check_threads();
  set_gemm_of_run(file.gemm());
  const LoadedModel saved(file, command.weights);
  const Vocabulary& vocabulary = saved.vocabulary;
  if (!saved.model.config.causal)
    throw_error(path,
                ": its model is not causal, so it cannot generate text; heed look shows its heads");
  const auto prompt = encoded_prompt(command, vocabulary, saved.model.config.block_size);

  try {
    if (command.samples == 1)
      write_sample(command, saved, prompt);
    else
      write_samples(command, saved, prompt);
  } catch (const Error& error) {
    throw_error(path, ": ", error.what());
  }
  return 0;
}

}  // namespace heed::app
