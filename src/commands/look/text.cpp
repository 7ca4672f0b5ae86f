// text.cpp: the input text of heed look (--text or validation text), the checks of --layer and
// --head, and the folder of the plots.

#include "heed/base/text.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include "commands/look/parts.hpp"
#include "commands/run_folder.hpp"
#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"

namespace heed::app {
namespace {

// Replaces each token `word` by [MASK]. Throws UsageError if the model has no [MASK], or if the
// text has no such token.
void mask_word(const std::string& word, const LoadedModel& saved, std::vector<std::int64_t>& ids) {
  const std::int64_t mask = mask_token(saved);
  if (mask < 0)
    throw UsageError("--mask " + in_quotes(word) + ": " +
                     (saved.model.config.causal ? "a causal model" : "this model's vocabulary") +
                     " has no [MASK]; leave out --mask");
  const std::int64_t id = saved.vocabulary.find(std::string_view(word));
  if (id < 0 || std::count(ids.begin(), ids.end(), id) == 0)
    throw UsageError("--mask " + in_quotes(word) + ": the text has no such token; give one of " +
                     "its tokens, such as " + in_quotes(saved.vocabulary.decode(ids.at(0))));
  std::replace(ids.begin(), ids.end(), id, mask);
}

// Encodes --text as token ids. Throws UsageError if --text is empty, is longer than the block size
// or has tokens outside the vocabulary.
std::vector<std::int64_t> given_ids(const LookCommand& command, const LoadedModel& saved) {
  const std::string& text = *command.text;
  std::vector<std::int64_t> ids;
  try {
    ids = saved.vocabulary.encode(text);
  } catch (const Error& error) {
    throw UsageError("--text: " + std::string(error.what()));
  }
  if (ids.empty()) throw UsageError("--text: is empty; give a text for the model");
  if (!command.mask.empty()) mask_word(command.mask, saved, ids);
  const std::size_t block = saved.model.config.block_size;
  if (ids.size() > block)
    throw UsageError("--text: has " + std::to_string(ids.size()) +
                     " tokens; the model reads at most " + std::to_string(block) +
                     ", its block size");
  return ids;
}

// Returns the first 15 to 40 token ids of `part`, or fewer if block_size or `part` is smaller. With
// this length, the heat maps of a layer's heads fit side by side in 80 columns, unless there are
// many heads. A page shows 64 tokens.
std::vector<std::int64_t> first_ids(const Split& part, const nn::GptConfig& config, bool on_page) {
  const std::size_t width = 80 / config.heads, frame = 5, page_length = 64;
  const std::size_t length =
      on_page ? page_length : std::clamp<std::size_t>(width < frame ? 0 : width - frame, 15, 40);
  std::vector<std::int64_t> ids(std::min({length, config.block_size, part.size}));
  part.corpus->copy_ids(part.begin, ids.size(), ids.data());
  return ids;
}

// Reads the run's training text. Throws Error if the text came from standard input, or if its file
// is missing or has changed since the run was trained on it.
std::string read_training_text(const TextFingerprint& saved) {
  if (saved.path == "-") throw_error("the run's training text came from standard input");
  const std::string path = saved.path.empty() ? default_text() : saved.path;
  std::string text;
  try {
    text = read_text(path);
  } catch (const Error& error) {
    throw_error(error.what(), ", the text of this run");
  }
  if (has_byte_order_mark(text)) text.erase(0, 3);
  const TextFingerprint current = fingerprint_of(saved.path, text);
  if (current.bytes != saved.bytes || current.hash != saved.hash)
    throw_error(path, ": has changed since the run was trained on it");
  return text;
}

}  // namespace

ValidationText validation_text(const ModelFile& file, const Vocabulary& vocabulary) {
  if (!file.has_text()) return {{}, "", file.path() + ": does not name a training text"};
  const TextFingerprint saved = file.text();
  const std::string name = saved.path.empty() ? "harbour.txt" : printable(saved.path);
  try {
    auto corpus = std::make_unique<Corpus>(read_training_text(saved), vocabulary);
    if (corpus->validation().size >= 2) return {std::move(corpus), name, ""};
    return {{}, name, name + ": is too short for a validation split"};
  } catch (const Error& error) {
    return {{}, name, error.what()};
  }
}

LookText look_text(const LookCommand& command, const LoadedModel& saved,
                   const ValidationText& training) {
  if (!command.text && !training.corpus) throw_error(training.reason, "; give --text");
  const std::vector<std::int64_t> ids =
      command.text
          ? given_ids(command, saved)
          : first_ids(training.corpus->validation(), saved.model.config, !command.page.empty());
  LookText text{Indices::from_shape({1, ids.size()}), {}};
  std::copy(ids.begin(), ids.end(), text.tokens.begin());
  for (const std::int64_t id : ids) text.names.push_back(saved.vocabulary.decode(id));
  return text;
}

void check_layer_and_head(const LookCommand& command, const nn::GptConfig& config) {
  const auto check = [](const std::string& noun, const std::optional<std::size_t>& number,
                        std::size_t count) {
    if (!number || *number < count) return;
    throw UsageError(
        "--" + noun + " " + std::to_string(*number) + ": the model has " +
        (count == 1 ? "one " + noun + ", 0" : noun + "s 0 to " + std::to_string(count - 1)));
  };
  check("layer", command.layer, config.layers);
  check("head", command.head, config.heads);
  if (command.head && !command.layer && config.layers > 1)
    throw UsageError("--head " + std::to_string(*command.head) + ": give --layer too, 0 to " +
                     std::to_string(config.layers - 1));
}

static bool is_missing_or_empty(const std::filesystem::path& file) {
  return !std::filesystem::exists(file) || std::filesystem::file_size(file) == 0;
}

static bool is_free(const std::filesystem::path& file, const std::string& start) {
  return is_missing_or_empty(file) || start_of_file(file, start.size()) == start;
}

std::string plot_folder(const LookCommand& command, const std::string& name,
                        const std::string& columns) {
  std::filesystem::path folder = command.out;
  if (folder.empty()) folder = checkpoint_in(command.run).parent_path();
  make_folder(folder.empty() ? "." : folder);
  const std::filesystem::path csv = folder / (name + ".csv"), script = folder / (name + ".gp"),
                              picture = folder / (name + ".svg");
  for (const auto& file : {csv, script, picture}) static_cast<void>(AtomicFile(file));
  const auto reject_unless = [](bool is_own, const std::filesystem::path& file) {
    if (!is_own)
      throw_error(file.string(),
                  ": exists and is not a plot of heed look; give another --out, or remove it");
  };
  reject_unless(is_free(csv, columns + "\n"), csv);
  reject_unless(is_free(script, "# Draws "), script);
  reject_unless(std::filesystem::exists(script) || is_missing_or_empty(picture), picture);
  return folder.string();
}

void print_plot(const std::string& label, const Plot& plot) {
  if (plot.file_failed) throw_error(plot.message, "; nothing was drawn");
  if (plot.ok)
    std::cout << label << printable(plot.message) << '\n';
  else
    note(plot.message);
}

}  // namespace heed::app
