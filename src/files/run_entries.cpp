// run_entries.cpp: the path of a run's text, its options and the state of its trainer as metadata
// and tensors.

#include "files/run_entries.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "array/reduce.hpp"
#include "base/machine.hpp"
#include "files/entries.hpp"
#include "files/safetensors_header.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/files/model_file.hpp"
#include "heed/files/save.hpp"
#include "train/fields.hpp"

namespace HEED_NAMESPACE {

// ---- the path

namespace {

constexpr const char* path_key = "text.path";
constexpr const char* path_encoding_key = "text.path_encoding";

}  // namespace

// Metadata must be UTF-8, but the name of a file may have any bytes. A name that is not UTF-8 is
// percent-encoded as in URLs (RFC 3986): caf%e9.txt.
void put_path(Metadata& metadata, const std::string& path) {
  metadata[path_key] = path;
  if (is_utf8(path)) return;
  metadata[path_encoding_key] = "percent";
  std::string& encoded = metadata[path_key];
  encoded.clear();
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    encoded +=
        byte > 0x20 && byte < 0x7f && c != '%' ? std::string(1, c) : hexadecimal("%%%02llx", byte);
  }
}

std::string path_in(const SafetensorsFile& file) {
  const std::string& stored = text_entry(file, path_key);
  if (stored.find('\0') != stored.npos)
    throw_error(file.path, ": metadata '", path_key, "' is ", in_quotes(stored),
                ", and no path has the byte 0");
  if (file.metadata.count(path_encoding_key) == 0) return stored;
  std::string path;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i] != '%') {
      path += stored[i];
      continue;
    }
    unsigned char byte = 0;
    const char* const digits = stored.data() + i + 1;
    if (stored.size() - i < 3 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      throw_error(file.path, ": metadata '", path_key, "' is ", in_quotes(stored),
                  ", which is not percent-encoded");
    path += static_cast<char>(byte);
    i += 2;
  }
  return path;
}

// ---- the options

static void put_options(Metadata& metadata, const TrainOptions& options) {
  each_option(options, [&](const Field& field, const auto& value) {
    metadata[std::string("train.") + field.name] = field_text(value);
  });
  if (options.shards == 1) metadata.erase("train.shards");  // a run without --shards has none
}

TrainOptions options_in(const SafetensorsFile& file) {
  TrainOptions options;
  each_option(options, [&](const Field& field, auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const std::string key = std::string("train.") + field.name;
    if constexpr (std::is_floating_point_v<Value>)
      value = number_entry(file, key);
    else if (key == "train.shards" && file.metadata.count(key) == 0)
      value = 1;  // a run without --shards
    else if (key == "train.seed")
      value = static_cast<Value>(integer_entry(file, key, any_integer));
    else
      value = static_cast<Value>(integer_entry(file, key));
  });
  return options;
}

// ---- the state

namespace {

const std::string history_key = "train.history";

LogRow parse_row(const SafetensorsFile& file, const std::string& line) {
  const std::vector<std::string> cells = split(line, ',');
  if (cells.size() != 6)
    throw_error(file.path, ": metadata '", history_key, "' has a line ", in_quotes(line));
  const auto number = [&](std::size_t i) { return number_in(file, history_key, cells[i]); };
  const double step = number(0);
  if (!(step >= 1 && step <= 1e12 && step == std::floor(step)))
    throw_error(file.path, ": metadata '", history_key, "' has a line for step ",
                in_quotes(cells[0]));
  return {static_cast<std::int64_t>(step),
          number(1),
          cells[2].empty() ? std::nullopt : std::optional(number(2)),
          number(3),
          number(4),
          number(5)};
}

// Checks that the run and its optimizer have done the same number of steps, that the step numbers
// of the loss history increase, and that `pending` is consistent with the last step of the history.
void check_steps(const SafetensorsFile& file, const TrainerState& state) {
  if (state.step != state.optimizer.step || (state.step > 0 && state.history.empty()))
    throw_error(file.path, ": metadata 'train.step' is ", state.step,
                ", but the optimizer has done ", state.optimizer.step,
                " steps and the history has ", state.history.size(), " lines");
  std::int64_t last = 0, previous = 0;
  for (const LogRow& row : state.history) {
    if (row.step <= last || row.step > state.step)
      throw_error(file.path, ": metadata '", history_key, "' has a line for step ", row.step,
                  " after ", last, ", and the run has done ", state.step);
    previous = last, last = row.step;
  }
  // The last step has a row even if --log-every does not divide it. Its steps are still pending.
  const bool complete = last == state.step && state.pending == 0;
  if (!complete && state.pending != state.step - (last == state.step ? previous : last))
    throw_error(file.path, ": metadata 'train.pending' is ", state.pending,
                ", but the history ends at step ", last, " of ", state.step);
  const double largest = static_cast<double>(state.pending) * std::numeric_limits<float>::max();
  if (!(state.pending_loss >= 0 && state.pending_loss <= largest))
    throw_error(file.path, ": metadata 'train.pending_loss' is ", state.pending_loss,
                ", which is no sum of the losses of ", counted(std::size_t(state.pending), "step"));
  if (!(state.pending_ms >= 0) || (state.pending == 0 && state.pending_ms != 0))
    throw_error(file.path, ": metadata 'train.pending_ms' is ", state.pending_ms,
                ", which is no time of ", counted(std::size_t(state.pending), "step"));
}

bool is_optimizers(const StoredTensor& tensor) {
  return tensor.name.rfind(optimizer_prefix, 0) == 0;
}

optim::State optimizer_in(const SafetensorsReader& file) {
  check_memory(static_cast<double>(bytes_of(file.tensors())), file.path() + ": has");
  optim::State state;
  state.step = static_cast<std::int64_t>(integer_entry(file.header(), "train.optimizer_step"));
  std::vector<std::size_t> array_of(file.tensors().size());
  for (std::size_t i = 0; i < array_of.size(); ++i) {
    const StoredTensor& tensor = file.tensors()[i];
    array_of[i] = state.arrays.size();
    if (is_optimizers(tensor))
      state.arrays.emplace_back(tensor.name.substr(optimizer_prefix.size()),
                                uninitialized(Shape(tensor.shape.begin(), tensor.shape.end())));
  }
  file.read_all([&](std::size_t i) { return is_optimizers(file.tensors()[i]); },
                [&](std::size_t i, std::size_t first, const Real* values, std::size_t count) {
                  std::copy_n(values, count, state.arrays[array_of[i]].second.data() + first);
                });
  for (const auto& [name, array] : state.arrays)
    if (!all_finite(array))
      throw_error(file.path(), ": tensor '", optimizer_prefix, name,
                  "' holds values that are not finite");
  return state;
}

const std::string& generator_entry(const SafetensorsFile& file, const char* key) {
  const std::string& text = text_entry(file, key);
  try {
    Generator(1).set_state(text);
  } catch (const Error&) {
    throw_error(file.path, ": metadata '", key, "' is not the state of a generator");
  }
  return text;
}

}  // namespace

TrainerState trainer_state_in(const SafetensorsReader& reader) {
  const SafetensorsFile& file = reader.header();
  TrainerState state;
  state.options = options_in(file);
  state.optimizer = optimizer_in(reader);
  for (const std::string& line : lines_of(text_entry(file, history_key)))
    state.history.push_back(parse_row(file, line));
  state.step = static_cast<std::int64_t>(integer_entry(file, "train.step"));
  state.pending = static_cast<std::int64_t>(integer_entry(file, "train.pending"));
  state.pending_loss = number_entry(file, "train.pending_loss");
  state.pending_ms = number_entry(file, "train.pending_ms");
  state.batch_generator = generator_entry(file, "train.generator");
  state.dropout_generator = generator_entry(file, "train.dropout_generator");
  check_steps(file, state);
  return state;
}

void put_trainer_state(Metadata& metadata, std::vector<StoredTensor>& tensors,
                       const TrainerState& state) {
  put_options(metadata, state.options);
  metadata["train.step"] = std::to_string(state.step);
  metadata["train.generator"] = state.batch_generator;
  metadata["train.dropout_generator"] = state.dropout_generator;
  std::string& history = metadata[history_key];
  for (const LogRow& row : state.history) history += csv(row);
  metadata["train.pending"] = std::to_string(state.pending);
  metadata["train.pending_loss"] = exact(state.pending_loss);
  metadata["train.pending_ms"] = exact(state.pending_ms);
  metadata["train.optimizer_step"] = std::to_string(state.optimizer.step);
  for (const auto& [name, array] : state.optimizer.arrays)
    tensors.push_back(stored_tensor(std::string(optimizer_prefix) + name, array));
}

}  // namespace HEED_NAMESPACE
