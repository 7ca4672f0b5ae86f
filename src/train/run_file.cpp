// run_file.cpp: saves and loads the state of a training run in a safetensors file.

#include <cmath>
#include <utility>

#include "heed/array/reduce.hpp"
#include "heed/base/error.hpp"
#include "heed/base/hash.hpp"
#include "heed/base/text.hpp"
#include "heed/train/loss_csv.hpp"
#include "heed/train/model_file.hpp"
#include "train/metadata.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::uint64_t any_integer = static_cast<std::uint64_t>(-1);

// Calls visit(name, option) for every option.
template <class Options, class Visit>
void each_option(Options& o, const Visit& visit) {
  visit("batch_size", o.batch_size);
  visit("steps", o.steps);
  visit("lr", o.lr);
  visit("min_lr", o.min_lr);
  visit("warmup", o.warmup);
  visit("decay_steps", o.decay_steps);
  visit("weight_decay", o.weight_decay);
  visit("beta1", o.beta1);
  visit("beta2", o.beta2);
  visit("clip", o.clip);
  visit("dropout", o.dropout);
  visit("seed", o.seed);
  visit("eval_every", o.eval_every);
  visit("eval_batches", o.eval_batches);
  visit("log_every", o.log_every);
}

std::string text_of(double value) { return exact(value); }
template <class Integer>
std::string text_of(Integer value) {
  return std::to_string(value);
}

void read(const SafetensorsFile& file, const std::string& key, double& value) {
  value = number_entry(file, key);
}
template <class Integer>
void read(const SafetensorsFile& file, const std::string& key, Integer& value) {
  value = static_cast<Integer>(key == "train.seed" ? integer_entry(file, key, any_integer)
                                                   : integer_entry(file, key));
}

const std::string history_key = "train.history";

LogRow parse_row(const SafetensorsFile& file, const std::string& line) {
  const std::vector<std::string> cells = split(line, ',');
  if (cells.size() != 6)
    throw_error(file.path, ": metadata '", history_key, "' has a line ", in_quotes(line));
  const auto number = [&](std::size_t i) { return number_in(file, history_key, cells[i]); };
  LogRow row;
  if (const double step = number(0); step >= 1 && step <= 1e12 && step == std::floor(step))
    row.step = static_cast<std::int64_t>(step);
  else
    throw_error(file.path, ": metadata '", history_key, "' has a line for step ",
                in_quotes(cells[0]));
  row.train_loss = number(1);
  if (!cells[2].empty()) row.val_loss = number(2);
  row.learning_rate = number(3);
  row.grad_norm = number(4);
  row.ms = number(5);
  return row;
}

// Checks that the steps of the rows increase, and that the updates after the last row are pending.
void check_history(const SafetensorsFile& file, const TrainerState& state) {
  std::int64_t last = 0;
  for (const LogRow& row : state.history) {
    if (row.step <= last || row.step > state.step)
      throw_error(file.path, ": metadata '", history_key, "' has a line for step ", row.step,
                  " after ", last, ", and the run has done ", state.step);
    last = row.step;
  }
  if (state.pending > state.step || (last != state.step && state.pending != state.step - last))
    throw_error(file.path, ": metadata 'train.pending' is ", state.pending,
                ", but the history ends at step ", last, " of ", state.step);
}

optim::State optimizer_in(const SafetensorsFile& file) {
  optim::State state;
  state.step = static_cast<std::int64_t>(integer_entry(file, "train.optimizer_step"));
  for (const StoredTensor& tensor : file.tensors) {
    if (tensor.name.compare(0, optimizer_prefix.size(), optimizer_prefix) != 0) continue;
    state.arrays.emplace_back(tensor.name.substr(optimizer_prefix.size()), file.array(tensor.name));
    if (!all_finite(state.arrays.back().second))
      throw_error(file.path, ": tensor '", tensor.name, "' holds values that are not finite");
  }
  return state;
}

void check_same_model(const SafetensorsFile& file, const nn::GptConfig& config) {
  Metadata expected;
  put_config(expected, config);
  for (const auto& [key, value] : expected)
    if (text_entry(file, key) != value)
      throw_error(file.path, ": '", key, "' is ", in_quotes(text_entry(file, key)),
                  ", this model's is '", value, "'");
}

}  // namespace

std::map<std::string, std::string> option_texts(const TrainOptions& options) {
  std::map<std::string, std::string> texts;
  each_option(options, [&](const char* name, const auto& value) { texts[name] = text_of(value); });
  return texts;
}

void put_run(Metadata& metadata, std::vector<StoredTensor>& tensors, const TrainerState& state) {
  for (const auto& [name, value] : option_texts(state.options)) metadata["train." + name] = value;
  metadata["train.step"] = std::to_string(state.step);
  metadata["train.generator"] = state.batch_generator;
  metadata["train.dropout_generator"] = state.dropout_generator;
  metadata[history_key] = csv(state.history).substr(csv_header().size());
  metadata["train.pending"] = std::to_string(state.pending);
  metadata["train.pending_loss"] = exact(state.pending_loss);
  metadata["train.pending_ms"] = exact(state.pending_ms);
  metadata["train.optimizer_step"] = std::to_string(state.optimizer.step);
  for (const auto& [name, array] : state.optimizer.arrays)
    tensors.push_back(stored_tensor(std::string(optimizer_prefix) + name, array));
}

TrainOptions ModelFile::options() const {
  TrainOptions options;
  each_option(options, [&](const char* name, auto& value) {
    read(file_, std::string("train.") + name, value);
  });
  return options;
}

TextFingerprint ModelFile::text() const {
  return {text_entry(file_, "text.path"), integer_entry(file_, "text.bytes", any_integer),
          integer_entry(file_, "text.hash", any_integer)};
}

TrainerState ModelFile::trainer_state() const {
  TrainerState state;
  state.options = options();
  state.optimizer = optimizer_in(file_);
  for (const std::string& line : lines_of(text_entry(file_, history_key)))
    state.history.push_back(parse_row(file_, line));
  state.step = static_cast<std::int64_t>(integer_entry(file_, "train.step"));
  state.pending = static_cast<std::int64_t>(integer_entry(file_, "train.pending"));
  state.pending_loss = number_entry(file_, "train.pending_loss");
  state.pending_ms = number_entry(file_, "train.pending_ms");
  state.batch_generator = text_entry(file_, "train.generator");
  state.dropout_generator = text_entry(file_, "train.dropout_generator");
  if (state.step != state.optimizer.step || (state.step > 0 && state.history.empty()))
    throw_error(path(), ": metadata 'train.step' is ", state.step, ", but the optimizer has done ",
                state.optimizer.step, " steps and the history has ", state.history.size(),
                " lines");
  check_history(file_, state);
  return state;
}

void ModelFile::restore(Trainer& trainer) const {
  check_same_model(file_, trainer.model().config);
  const TrainerState state = trainer_state();
  std::vector<Array> values = parameter_values(trainer.parameters());
  try {
    trainer.restore(state);
  } catch (const Error& error) {
    throw_error(path(), ": ", error.what());
  }
  std::size_t next = 0;
  for (Tensor parameter : trainer.parameters())
    parameter.mutable_value() = std::move(values[next++]);
}

TextFingerprint fingerprint_of(const std::string& path, std::string_view text) {
  return {path, text.size(), hash64(text)};
}

}  // namespace HEED_NAMESPACE
