// checkpoint.cpp: a trainer's whole state as text and tensors, exact to the last bit.

#include "heed/train/checkpoint.hpp"

#include <charconv>
#include <cmath>

#include "heed/array/error.hpp"
#include "heed/array/reduce.hpp"
#include "heed/nn/checkpoint.hpp"

namespace heed {
namespace {

const std::string moments = "optimizer.";  // prefix of the optimizer's tensors

double number(const SafetensorsFile& file, const std::string& key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(file.path, ": metadata '", key, "' holds ", shown(text), ", not a number");
  return value;
}

double number(const SafetensorsFile& file, const std::string& key) {
  return number(file, key, nn::entry(file, key));
}

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(at)) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  if (!text.empty()) parts.push_back(text);
  return parts;
}

LogRow row_from(const SafetensorsFile& file, std::string_view line) {
  const std::string key = "train.history";
  const std::vector<std::string_view> cells = cut(line, ',');
  if (cells.size() != 6) refuse(file.path, ": metadata '", key, "' has a line ", shown(line));
  LogRow row;
  const double step = number(file, key, cells[0]);
  if (!(step >= 1 && step <= 1e12) || step != std::floor(step))
    refuse(file.path, ": metadata '", key, "' has a line for step ", shown(cells[0]));
  row.step = static_cast<std::int64_t>(step);
  row.train_loss = number(file, key, cells[1]);
  if (!cells[2].empty()) row.val_loss = number(file, key, cells[2]);
  row.learning_rate = number(file, key, cells[3]);
  row.grad_norm = number(file, key, cells[4]);
  row.ms = number(file, key, cells[5]);
  return row;
}

void check_same_model(const SafetensorsFile& file, const nn::GptConfig& config) {
  Metadata own;
  nn::put_config(own, config);
  for (const auto& [key, value] : own)
    if (nn::entry(file, key) != value)
      refuse(file.path, ": '", key, "' is ", shown(nn::entry(file, key)), ", this model's is '",
             value, "'");
}

// Every option with its name; the one list of them for all that is done with each.
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

std::string text(double value) { return nn::exact(value); }
template <class Whole>
std::string text(Whole value) {
  return std::to_string(value);
}

void read(const SafetensorsFile& file, const std::string& key, double& value) {
  value = number(file, key);
}
template <class Whole>
void read(const SafetensorsFile& file, const std::string& key, Whole& value) {
  const bool any = key == "train.seed";  // counts have a limit
  value = static_cast<Whole>(any ? nn::whole(file, key, static_cast<std::uint64_t>(-1))
                                 : nn::whole(file, key));
}

// Rows rise up to the step that was done last; what came after the last row is pending.
void check_history(const SafetensorsFile& file, const std::vector<LogRow>& history,
                   std::int64_t step, std::int64_t pending) {
  std::int64_t last = 0;
  for (const LogRow& row : history) {
    if (row.step <= last || row.step > step)
      refuse(file.path, ": metadata 'train.history' has a line for step ", row.step, " after ",
             last, ", and the run has done ", step);
    last = row.step;
  }
  if (pending > step || (last != step && pending != step - last))
    refuse(file.path, ": metadata 'train.pending' is ", pending, ", but the history ends at step ",
           last, " of ", step);
}

// Does it, with the file's name before what an error says.
template <class Change>
void naming(const SafetensorsFile& file, const Change& change) {
  try {
    change();
  } catch (const Error& error) {
    refuse(file.path, ": ", error.what());
  }
}

}  // namespace

std::string csv_header() { return "step,train_loss,val_loss,learning_rate,grad_norm,ms\n"; }

std::string csv(const LogRow& row) {
  return std::to_string(row.step) + "," + nn::exact(row.train_loss) + "," +
         (row.val_loss ? nn::exact(*row.val_loss) : "") + "," + nn::exact(row.learning_rate) + "," +
         nn::exact(row.grad_norm) + "," + nn::exact(row.ms) + "\n";
}

std::string csv(const std::vector<LogRow>& rows) {
  std::string text = csv_header();
  for (const LogRow& row : rows) text += csv(row);
  return text;
}

std::map<std::string, std::string> option_texts(const TrainOptions& options) {
  std::map<std::string, std::string> texts;
  each_option(options, [&](const char* name, const auto& value) { texts[name] = text(value); });
  return texts;
}

void put_options(Metadata& metadata, const TrainOptions& options) {
  for (const auto& [name, value] : option_texts(options)) metadata["train." + name] = value;
}

TrainOptions options_from(const SafetensorsFile& file) {
  TrainOptions options;
  each_option(options, [&](const char* name, auto& value) {
    read(file, std::string("train.") + name, value);
  });
  return options;
}

void Trainer::save(Metadata& metadata, std::vector<StoredTensor>& tensors,
                   optim::State& kept) const {
  nn::put_config(metadata, model_.config);
  put_options(metadata, options_);
  metadata["train.step"] = std::to_string(step_);
  metadata["train.generator"] = batches_.state();
  metadata["train.dropout_generator"] = drops_.state();
  metadata["train.history"] = csv(history_).substr(csv_header().size());
  metadata["train.pending"] = std::to_string(pending_);
  metadata["train.pending_loss"] = nn::exact(loss_sum_);
  metadata["train.pending_ms"] = nn::exact(ms_sum_);
  kept = optimizer_.state();
  check_finite(kept);
  metadata["train.optimizer_step"] = std::to_string(kept.step);
  nn::put_parameters(tensors, parameters_);
  for (const auto& [name, array] : kept.arrays)
    tensors.push_back(stored_tensor(moments + name, array));
}

// Everything is read and tried on copies before anything changes.
void Trainer::restore(const SafetensorsFile& file) {
  check_same_model(file, model_.config);
  optim::State state;
  state.step = static_cast<std::int64_t>(nn::whole(file, "train.optimizer_step"));
  for (const StoredTensor& tensor : file.tensors)
    if (tensor.name.compare(0, moments.size(), moments) == 0)
      state.arrays.emplace_back(tensor.name.substr(moments.size()), file.array(tensor.name));
  for (const auto& [name, moment] : state.arrays)
    if (!all_finite(moment))
      refuse(file.path, ": tensor '", moments, name, "' holds values that are not finite");
  std::vector<LogRow> history;
  for (const std::string_view line : cut(nn::entry(file, "train.history"), '\n'))
    history.push_back(row_from(file, line));
  const auto step = static_cast<std::int64_t>(nn::whole(file, "train.step"));
  const auto pending = static_cast<std::int64_t>(nn::whole(file, "train.pending"));
  const double loss_sum = number(file, "train.pending_loss");
  const double ms_sum = number(file, "train.pending_ms");
  if (step != state.step || (step > 0 && history.empty()))
    refuse(file.path, ": metadata 'train.step' is ", step, ", but the optimizer has done ",
           state.step, " steps and the history has ", history.size(), " lines");
  check_history(file, history, step, pending);
  optim::AdamW optimizer = optimizer_;
  Batches batches = batches_;
  Generator drops = drops_;
  naming(file, [&] {
    optimizer.set_state(state);
    batches.set_state(nn::entry(file, "train.generator"));
    drops.set_state(nn::entry(file, "train.dropout_generator"));
  });
  nn::load_parameters(parameters_, file);
  optimizer_ = std::move(optimizer);
  batches_ = batches;
  drops_ = drops;
  step_ = step;
  pending_ = pending;
  loss_sum_ = loss_sum;
  ms_sum_ = ms_sum;
  history_ = std::move(history);
  if (!done()) reopen();
}

}  // namespace heed
