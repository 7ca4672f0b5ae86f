// checkpoint.cpp: a trainer's whole state as text and tensors, exact to the last bit.

#include "heed/train/checkpoint.hpp"

#include <charconv>

#include "heed/array/error.hpp"
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
  row.step = static_cast<std::int64_t>(number(file, key, cells[0]));
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

void put_options(Metadata& metadata, const TrainOptions& o) {
  metadata["train.batch_size"] = std::to_string(o.batch_size);
  metadata["train.steps"] = std::to_string(o.steps);
  metadata["train.lr"] = nn::exact(o.lr);
  metadata["train.min_lr"] = nn::exact(o.min_lr);
  metadata["train.warmup"] = std::to_string(o.warmup);
  metadata["train.decay_steps"] = std::to_string(o.decay_steps);
  metadata["train.weight_decay"] = nn::exact(o.weight_decay);
  metadata["train.beta1"] = nn::exact(o.beta1);
  metadata["train.beta2"] = nn::exact(o.beta2);
  metadata["train.clip"] = nn::exact(o.clip);
  metadata["train.dropout"] = nn::exact(o.dropout);
  metadata["train.seed"] = std::to_string(o.seed);
  metadata["train.eval_every"] = std::to_string(o.eval_every);
  metadata["train.eval_batches"] = std::to_string(o.eval_batches);
  metadata["train.log_every"] = std::to_string(o.log_every);
}

TrainOptions options_from(const SafetensorsFile& file) {
  const auto count = [&](const char* key) {
    return static_cast<std::int64_t>(nn::whole(file, std::string("train.") + key));
  };
  const auto real = [&](const char* key) { return number(file, std::string("train.") + key); };
  TrainOptions o;
  o.batch_size = static_cast<std::size_t>(count("batch_size"));
  o.steps = count("steps");
  o.lr = real("lr");
  o.min_lr = real("min_lr");
  o.warmup = count("warmup");
  o.decay_steps = count("decay_steps");
  o.weight_decay = real("weight_decay");
  o.beta1 = real("beta1");
  o.beta2 = real("beta2");
  o.clip = real("clip");
  o.dropout = real("dropout");
  o.seed = nn::whole(file, "train.seed", static_cast<std::uint64_t>(-1));
  o.eval_every = count("eval_every");
  o.eval_batches = static_cast<std::size_t>(count("eval_batches"));
  o.log_every = count("log_every");
  return o;
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
}

}  // namespace heed
