// options.cpp: the training options as metadata.

#include "files/model_file/parts.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

// Calls visit(name, option) for every training option.
template <class Options, class Visit>
static void each_option(Options& o, const Visit& visit) {
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
  visit("shards", o.shards);
}

std::map<std::string, std::string> option_texts(const TrainOptions& options) {
  std::map<std::string, std::string> texts;
  each_option(options, [&](const char* name, const auto& value) {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
      texts[name] = exact(value);
    else
      texts[name] = std::to_string(value);
  });
  return texts;
}

namespace model_file {

void put_options(Metadata& metadata, const TrainOptions& options) {
  for (const auto& [name, value] : option_texts(options)) metadata["train." + name] = value;
  if (options.shards == 1) metadata.erase("train.shards");  // as in a run without --shards
}

TrainOptions options_in(const SafetensorsFile& file) {
  TrainOptions options;
  each_option(options, [&](const char* name, auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const std::string key = std::string("train.") + name;
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

}  // namespace model_file
}  // namespace HEED_NAMESPACE
