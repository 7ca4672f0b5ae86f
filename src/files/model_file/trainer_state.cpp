// trainer_state.cpp: the state of a training run as metadata and tensors.

#include <cmath>
#include <limits>

#include "array/reduce.hpp"
#include "files/model_file/parts.hpp"
#include "heed/base/text.hpp"
#include "heed/files/save.hpp"

namespace HEED_NAMESPACE::model_file {
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

optim::State optimizer_in(const SafetensorsFile& file) {
  optim::State state;
  state.step = static_cast<std::int64_t>(integer_entry(file, "train.optimizer_step"));
  for (const StoredTensor& tensor : file.tensors) {
    if (tensor.name.rfind(optimizer_prefix, 0) != 0) continue;
    state.arrays.emplace_back(tensor.name.substr(optimizer_prefix.size()), file.array(tensor));
    if (!all_finite(state.arrays.back().second))
      throw_error(file.path, ": tensor '", tensor.name, "' holds values that are not finite");
  }
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

TrainerState trainer_state_in(const SafetensorsFile& file) {
  TrainerState state;
  state.options = options_in(file);
  state.optimizer = optimizer_in(file);
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

}  // namespace HEED_NAMESPACE::model_file
