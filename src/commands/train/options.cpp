// options.cpp: the flags of heed train.

#include "commands/train/options.hpp"

#include <algorithm>

#include "commands/common_flags.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/parallel/shared_memory.hpp"
#include "train/fields.hpp"

namespace heed::app {

// The flags that apply to rotary positions alone.
static const std::set<std::string> rotary_flags = {"--rope-theta", "--rotary-pairs",
                                                   "--rotary-dim"};

static std::set<std::string> all_flags_of_model() {
  std::set<std::string> flags = {"--tokenizer", "--bytes", "--vocab-size", "--rope-theta"};
  const auto insert = [&](const auto& field, auto...) { flags.insert(flag_of(field.name)); };
  nn::GptConfig model;
  each_size(model, insert);
  each_optional_size(model, insert);
  each_variant(model, insert);
  return flags;
}
const std::set<std::string> flags_of_model = all_flags_of_model();

void check_processes(std::size_t processes, const TrainOptions& o, const std::string& flag) {
  const std::string text = std::to_string(processes);
  if (!is_power_of_two(processes)) throw_usage_error(flag, text, "must be a power of two");
  if (processes > o.shards)
    throw_usage_error(flag, text,
                      "is more than --shards " + std::to_string(o.shards) +
                          ", and each process needs a shard; give --shards " + text +
                          " or fewer processes");
}

namespace {

// The values of --tokenizer, in the order of Unit. (heed train has no word-level tokenizer.)
const std::vector<std::string> tokenizer_names = {"character", "byte", "bpe"};

void check_shards(const TrainOptions& o) {
  const std::string shards = std::to_string(o.shards);
  if (!is_power_of_two(o.shards)) throw_usage_error("--shards", shards, "must be a power of two");
  if (o.batch_size % o.shards != 0)
    throw UsageError("--shards " + shards + " does not divide --batch-size " +
                     std::to_string(o.batch_size) + "; give a --batch-size that is a multiple");
}

void run_flags(Flags& flags, TrainCommand& c) {
  flags.positional("TEXT", c.text, "a text file in UTF-8, or - for standard input [harbour.txt]");
  flags.group("Run");
  flags.path("--out", "DIR", "folder of the run [runs/NAME]", "folder", c.out);
  flags.flag("--resume", c.resume, "continue the training run in the folder");
  flags.flag("--replace", c.replace, "replace the training run in the folder by a new one");
  flags.flag("--trust", c.trust, trust_help);
  flags.path("--init", "RUN",
             "start from the weights, sizes and vocabulary of a run, such as an imported one",
             "run", c.init);
  flags.enumeration("--tokenizer",
                    "the tokens; byte: for any text encoding; bpe: byte-pair encoding",
                    tokenizer_names, c.tokenizer);
  flags.integer("--vocab-size", c.vocab_size, {256, 65536},
                "number of tokens with --tokenizer bpe");
  flags.flag("--bytes", c.bytes, "the same as --tokenizer byte");
  threads_flag(flags, c.threads);
  flags.group("Several processes");
  flags.integer(
      "--processes", c.processes, {1, SharedMemory::max_processes},
      "number of processes, a power of two, at most --shards; changes no bit of the result");
  flags.flag("--zero", c.zero, "split AdamW's moments over the processes (ZeRO stage 1)");
  flags.flag("--no-overlap", c.overlap, "send gradients after the backward pass, not during it",
             false);
}

void variant_flags(Flags& flags, nn::GptConfig& model) {
  flags.group("Variants of Llama");
  each_variant(model, [&](const Variant& variant, auto& value) {
    flags.enumeration(flag_of(variant.name), variant.help, variant.values, value);
  });
  each_optional_size(
      model, [&](const Field& field, std::size_t& size, std::size_t) { flags.field(field, size); });
  flags.field(rope_theta_field, model.rope_theta);
}

void check_min_lr(const TrainOptions& o) {
  if (o.min_lr > o.lr)
    throw_usage_error("--min-lr", exact(o.min_lr), "must be at most --lr " + exact(o.lr));
}

}  // namespace

void declare_flags(Flags& flags, TrainCommand& c) {
  run_flags(flags, c);
  flags.group("Model");
  each_size(c.model, [&](const Field& field, std::size_t& size) { flags.field(field, size); });
  each_option(c.training, [&](const Field& field, auto& value) {
    const std::string_view name = field.name;
    if (name == "batch_size") {  // the first option after those of the model
      variant_flags(flags, c.model);
      flags.group("Training");
    }
    if (name == "eval_every") flags.group("Reports");
    if (name == "log_every") {
      flags.flag("--watch", c.watch, "write DIR/watch.html, a page that follows the training");
      flags.flag("--keep-history", c.keep_history,
                 "keep the weights at each validation in DIR/history, for heed look --page");
      flags.integer("--record", c.record, any_steps,
                    "keep the state every N steps in DIR/record, for heed replay and heed first; "
                    "at most 9 states: N doubles when there are more");
    }
    flags.field(field, value);
  });
  flags.footer(
      "./heed train --mine trains a GPT with your heads and block of exercises 10 and 12, beside "
      "heed's.");
  flags.example("./heed train");
  flags.example("./heed train my.txt --steps 500 --out runs/mine");
  flags.example("./heed train --resume --steps 4000");
}

void check_flags(TrainCommand& c, const std::set<std::string>& given) {
  c.given = given;
  if (c.bytes) {
    if (c.tokenizer != Unit::byte && given.count("--tokenizer") != 0)
      throw UsageError("--bytes contradicts --tokenizer; give one of them");
    c.given.insert("--bytes");
    c.tokenizer = Unit::byte;
  }
  if (!c.init.empty() && c.resume)
    throw UsageError("--init contradicts --resume; give one of them");
  for (const std::string& flag : flags_of_model)
    if (!c.init.empty() && c.given.count(flag) != 0)
      throw UsageError(flag + " contradicts --init, which takes the model of its run");
  if (c.resume && c.replace) throw UsageError("--replace contradicts --resume; give one of them");
  each_optional_size(c.model, [](const Field&, std::size_t& size, std::size_t usual) {
    if (size == usual) size = 0;  // means the same
  });
  if (!is_power_of_two(c.processes)) check_processes(c.processes, c.training);
  if (c.resume) return;  // the options of a resumed run are checked after its checkpoint is read
  if (c.trust && c.init.empty())
    throw UsageError("--trust applies to the checkpoint of --resume or --init; give one of them");
  check_heads(c.model);
  for (const std::string& flag : rotary_flags)
    if (given.count(flag) != 0 && c.model.positions != nn::PositionKind::rotary)
      throw UsageError(flag + " applies to --positions rotary; give --positions rotary too");
  check_shards(c.training);
  check_processes(c.processes, c.training);
  if (given.count("--vocab-size") != 0 && c.tokenizer != Unit::byte_pair)
    throw UsageError("--vocab-size applies to --tokenizer bpe; give --tokenizer bpe too");
  if (given.count("--decay-steps") != 0 && c.training.decay_steps <= c.training.warmup)
    throw UsageError("--decay-steps " + std::to_string(c.training.decay_steps) +
                     " must be above --warmup " + std::to_string(c.training.warmup));
  if (given.count("--min-lr") == 0) c.training.min_lr = std::min(c.training.min_lr, c.training.lr);
  check_min_lr(c.training);
}

void check_saved_options(const std::string& file, const nn::GptConfig& model,
                         const TrainOptions& training) {
  const auto check = [](const Field& field, const auto& value) {
    const bool is_unset = field.name == std::string_view("decay_steps") && value == 0;
    if (!is_unset) check_field(field, value);
  };
  try {
    each_size(model, check);
    each_option(training, check);
    check_heads(model);
    check_shards(training);
    check_min_lr(training);
  } catch (const UsageError& error) {
    throw_error(file, ": its options are invalid: ", error.what());
  }
}

std::map<std::string, std::string> flag_values(const nn::GptConfig& model,
                                               const TrainOptions& training, Unit tokenizer,
                                               std::size_t vocab_size) {
  std::map<std::string, std::string> values = {
      {"--bytes", tokenizer == Unit::byte ? "given" : "not given"},
      {"--vocab-size", tokenizer == Unit::byte_pair ? std::to_string(vocab_size) : "not given"}};
  const auto put = [&](const Field& field, const auto& value) {
    values[flag_of(field)] = field_text(value);
  };
  each_size(model, put);
  each_option(training, put);
  if (static_cast<std::size_t>(tokenizer) < tokenizer_names.size())
    values["--tokenizer"] = tokenizer_names.at(static_cast<std::size_t>(tokenizer));
  each_optional_size(model, [&](const Field& field, std::size_t size, std::size_t usual) {
    values[flag_of(field)] = std::to_string(size == 0 ? usual : size);
  });
  put(rope_theta_field, model.rope_theta);
  each_variant(model, [&](const Variant& variant, auto value) {
    values[flag_of(variant.name)] = variant.values.at(static_cast<std::size_t>(value));
  });
  values.erase("--steps");  // not compared: a resumed run may have more steps
  values["--decay-steps"] = std::to_string(schedule_of(training).decay_steps);
  return values;
}

}  // namespace heed::app
