// text.cpp: the text that heed look reads (--text, or validation text), and checks of its options.

#include "heed/base/text.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/look/parts.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"

namespace heed::app {
namespace {

std::vector<std::string> names_of(const std::vector<std::int64_t>& ids,
                                  const Vocabulary& vocabulary) {
  std::vector<std::string> names;
  for (const std::int64_t id : ids) names.push_back(vocabulary.decode(id));
  return names;
}

LookText text_of(const std::vector<std::int64_t>& ids, const Vocabulary& vocabulary, bool given) {
  LookText text{Indices::from_shape({1, ids.size()}), names_of(ids, vocabulary), given};
  std::copy(ids.begin(), ids.end(), text.tokens.begin());
  return text;
}

LookText given_text(const std::string& text, const LoadedModel& saved) {
  std::vector<std::int64_t> ids;
  try {
    ids = saved.vocabulary.encode(text);
  } catch (const Error& error) {
    throw UsageError("--text: " + std::string(error.what()));
  }
  const std::size_t block = saved.model.config.block_size;
  if (ids.empty()) throw UsageError("--text: is empty; give a text for the model");
  if (ids.size() > block)
    throw UsageError("--text: has " + std::to_string(ids.size()) +
                     " tokens; the model reads at most " + std::to_string(block) +
                     ", its block size");
  return text_of(ids, saved.vocabulary, true);
}

// The number of tokens for which the heat maps of a layer's heads fit side by side in 80 columns.
// It does not depend on the terminal, and so neither does the plot.
std::size_t default_length(const nn::GptConfig& config) {
  const std::size_t width = 80 / config.heads, frame = 5;
  return std::min(config.block_size,
                  std::clamp<std::size_t>(width < frame ? 0 : width - frame, 15, 40));
}

// The run's training text. Throws Error if it is not available or has changed.
std::string read_training_text(const TextFingerprint& saved) {
  if (saved.path == "-") throw_error("the run was trained on standard input");
  const std::string path = saved.path.empty() ? default_text() : saved.path;
  std::string text = read_text(path);
  if (has_byte_order_mark(text)) text.erase(0, 3);
  const TextFingerprint current = fingerprint_of(saved.path, text);
  if (current.bytes != saved.bytes || current.hash != saved.hash)
    throw_error(path, ": has changed since the run was trained on it");
  return text;
}

}  // namespace

TrainingText training_text(const ModelFile& file, const Vocabulary& vocabulary) {
  TrainingText training;
  if (!file.has_text()) {
    training.reason = file.path() + ": does not name a training text";
    return training;
  }
  const TextFingerprint saved = file.text();
  training.name = saved.path.empty() ? "harbour.txt" : printable(saved.path);
  try {
    training.corpus = std::make_unique<Corpus>(read_training_text(saved), vocabulary);
    if (training.corpus->validation().size < 2)
      throw_error(training.name, ": is too short for a validation part");
  } catch (const Error& error) {
    training.corpus.reset();
    training.reason = error.what();
  }
  return training;
}

LookText look_text(const LookCommand& command, const LoadedModel& saved,
                   const TrainingText& training) {
  if (command.text) return given_text(*command.text, saved);
  if (!training.corpus) throw_error(training.reason, "; give --text");
  const Split part = training.corpus->validation();
  const std::size_t length = std::min(part.size, default_length(saved.model.config));
  std::vector<std::int64_t> ids(length);
  training.corpus->copy_ids(part.begin, length, ids.data());
  return text_of(ids, saved.vocabulary, false);
}

void check_layer_and_head(const LookCommand& command, const nn::GptConfig& config) {
  const auto check = [](const std::string& noun, const std::optional<std::size_t>& number,
                        std::size_t count) {
    if (!number || *number < count) return;
    const std::string flag = "--" + noun + " " + std::to_string(*number);
    throw UsageError(
        flag + ": the model has " +
        (count == 1 ? "one " + noun + ", 0" : noun + "s 0 to " + std::to_string(count - 1)));
  };
  check("layer", command.layer, config.layers);
  check("head", command.head, config.heads);
  if (command.head && !command.layer && config.layers > 1)
    throw UsageError("--head " + std::to_string(*command.head) + ": give --layer too, 0 to " +
                     std::to_string(config.layers - 1));
}

std::string plot_folder(const LookCommand& command) {
  std::filesystem::path folder = command.out;
  if (folder.empty()) folder = checkpoint_in(command.run).parent_path();
  make_folder(folder.empty() ? "." : folder);
  return folder.string();
}

}  // namespace heed::app
