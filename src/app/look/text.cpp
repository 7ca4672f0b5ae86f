// text.cpp: what heed look lets a model read: a text that was given, or one it has not
// learned.

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

LookText given_text(const std::string& words, const LoadedModel& saved) {
  std::vector<std::int64_t> ids;
  try {
    ids = saved.vocabulary.encode(words);
  } catch (const Error& error) {
    throw UsageError("--text: " + std::string(error.what()));
  }
  const std::size_t block = saved.model.config.block_size;
  if (ids.empty()) throw UsageError("--text: is empty; give what the model is to read");
  if (ids.size() > block)
    throw UsageError("--text: has " + std::to_string(ids.size()) + " symbols; the model reads " +
                     std::to_string(block) + " at most, its block size");
  return text_of(ids, saved.vocabulary, true);
}

// As many symbols as let all heads of a layer stand side by side in 80 columns. What is drawn must
// not depend on the terminal.
std::size_t fitting(const nn::GptConfig& config) {
  const std::size_t room = 80 / config.heads;
  return std::min(config.block_size, std::clamp<std::size_t>(room < 5 ? 0 : room - 5, 15, 40));
}

// The text as the run learned it, or an Error that says why it is not there any more.
std::string read_learned(const TextFingerprint& before) {
  if (before.path == "-") throw_error("the run learned standard input");
  const std::string path = before.path.empty() ? default_text() : before.path;
  std::string text = read_text(path);
  if (has_byte_order_mark(text)) text.erase(0, 3);
  const TextFingerprint now = fingerprint_of(before.path, text);
  if (now.bytes != before.bytes || now.hash != before.hash)
    throw_error(path, ": is not the text any more that the run learned");
  return text;
}

}  // namespace

TrainingText training_text(const ModelFile& file, const Vocabulary& vocabulary) {
  TrainingText learned;
  if (!file.has_text()) {
    learned.why_not = file.path() + ": does not say which text the model learned";
    return learned;
  }
  const TextFingerprint before = file.text();
  learned.name = before.path.empty() ? "harbour.txt" : printable(before.path);
  try {
    learned.corpus = std::make_unique<Corpus>(read_learned(before), vocabulary);
    if (learned.corpus->validation().size < 2)  // no run learns so little
      throw_error(learned.name, ": leaves nothing for validation");
  } catch (const Error& error) {
    learned.corpus.reset();
    learned.why_not = error.what();
  }
  return learned;
}

LookText look_text(const LookCommand& command, const LoadedModel& saved,
                   const TrainingText& learned) {
  if (command.text) return given_text(*command.text, saved);
  if (!learned.corpus) throw_error(learned.why_not, "; give --text");
  const Split part = learned.corpus->validation();
  const std::size_t length = std::min(part.size, fitting(saved.model.config));
  std::vector<std::int64_t> ids(length);
  learned.corpus->copy_ids(part.begin, length, ids.data());
  return text_of(ids, saved.vocabulary, false);
}

void check_choice(const LookCommand& command, const nn::GptConfig& config) {
  const auto check = [](const char* what, const std::optional<std::size_t>& number,
                        std::size_t count) {
    if (!number || *number < count) return;
    const std::string flag = "--" + std::string(what) + " " + std::to_string(*number);
    throw UsageError(flag + ": the model has " +
                     (count == 1 ? "one " + std::string(what) + ", 0"
                                 : std::string(what) + "s 0 to " + std::to_string(count - 1)));
  };
  check("layer", command.layer, config.layers);
  check("head", command.head, config.heads);
  if (command.head && !command.layer && config.layers > 1)
    throw UsageError("--head " + std::to_string(*command.head) +
                     ": of which layer? give --layer too, 0 to " +
                     std::to_string(config.layers - 1));
}

std::string picture_folder(const LookCommand& command) {
  std::filesystem::path folder = command.out;
  if (folder.empty()) folder = checkpoint_in(command.run).parent_path();
  make_folder(folder.empty() ? "." : folder);
  return folder.string();
}

}  // namespace heed::app
