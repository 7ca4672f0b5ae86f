// options_test.cpp: parsing of the command line, and its errors.

#include <algorithm>
#include <functional>
#include <regex>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "commands/command_line.hpp"

using namespace heed::app;

namespace {

TrainCommand train(Arguments arguments) {
  arguments.insert(arguments.begin(), "train");
  return std::get<TrainCommand>(parse_command_line(arguments));
}

BookCommand book(Arguments arguments) {
  arguments.insert(arguments.begin(), "book");
  return std::get<BookCommand>(parse_command_line(arguments));
}

SampleCommand sample(Arguments arguments) {
  arguments.insert(arguments.begin(), "sample");
  return std::get<SampleCommand>(parse_command_line(arguments));
}

std::string rejected(const Arguments& arguments) {
  try {
    parse_command_line(arguments);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string help_of(const Arguments& arguments) {
  return std::get<ShowText>(parse_command_line(arguments)).text;
}

// The flag of the help, with its description, on one line.
std::string line_of(const std::string& help, const std::string& flag) {
  std::string text;
  for (const std::string& line : heed::lines_of(help)) {
    const bool continues = line.rfind(std::string(24, ' '), 0) == 0;
    if (!text.empty() && !continues) return text;
    if (!text.empty() || line.rfind("  " + flag + " ", 0) == 0) text += line;
  }
  return text;
}

const std::vector<std::string> command_names = {"train", "sample", "replay",  "first",   "blame",
                                                "look",  "corpus", "inspect", "import",  "export",
                                                "book",  "bench",  "doctor",  "compare", "sweep"};

struct TrainFlag {
  std::string flag, default_value, other_value;
  std::function<double(const TrainCommand&)> field;
};

template <class T>
std::function<double(const TrainCommand&)> model(T heed::nn::GptConfig::*member) {
  return [=](const TrainCommand& c) { return static_cast<double>(c.model.*member); };
}

template <class T>
std::function<double(const TrainCommand&)> training(T heed::TrainOptions::*member) {
  return [=](const TrainCommand& c) { return static_cast<double>(c.training.*member); };
}

std::string decay_of(const TrainCommand& c) {
  return flag_values(c.model, c.training, c.tokenizer, c.vocab_size).at("--decay-steps");
}

std::vector<TrainFlag> train_flags() {
  using Model = heed::nn::GptConfig;
  using Options = heed::TrainOptions;
  return {{"--block-size", "64", "65", model(&Model::block_size)},
          {"--layers", "4", "5", model(&Model::layers)},
          {"--heads", "4", "8", model(&Model::heads)},
          {"--embed-dim", "128", "256", model(&Model::embed_dim)},
          {"--dropout", "0", "0.25", training(&Options::dropout)},
          {"--batch-size", "12", "13", training(&Options::batch_size)},
          {"--shards", "1", "2", training(&Options::shards)},
          {"--steps", "2000", "1000000000000", training(&Options::steps)},
          {"--lr", "0.001", "0.5", training(&Options::lr)},
          {"--min-lr", "1e-04", "1e-05", training(&Options::min_lr)},
          {"--warmup", "100", "0", training(&Options::warmup)},
          {"--weight-decay", "0.1", "0", training(&Options::weight_decay)},
          {"--beta1", "0.9", "0", training(&Options::beta1)},
          {"--beta2", "0.99", "0.999", training(&Options::beta2)},
          {"--clip", "1", "0", training(&Options::clip)},
          {"--seed", "1337", "4294967295", training(&Options::seed)},
          {"--eval-every", "250", "7", training(&Options::eval_every)},
          {"--eval-batches", "20", "3", training(&Options::eval_batches)},
          {"--log-every", "10", "1", training(&Options::log_every)}};
}

// The flags of the variants of Llama whose values are words: the default, the other value, and
// whether a command has the other value.
struct VariantFlag {
  std::string flag, default_value, other_value;
  std::function<bool(const TrainCommand&)> is_other;
};

std::vector<VariantFlag> variant_flags() {
  using namespace heed::nn;
  return {{"--norm", "layer", "rms",
           [](const TrainCommand& c) { return c.model.norm == NormKind::rms; }},
          {"--positions", "learned", "rotary",
           [](const TrainCommand& c) { return c.model.positions == PositionKind::rotary; }},
          {"--mlp", "gelu", "swiglu",
           [](const TrainCommand& c) { return c.model.mlp == MlpKind::swiglu; }}};
}

}  // namespace

TEST_CASE("the defaults of train are nanoGPT's recipe on heed's own text", "[commands][options]") {
  const TrainCommand c = train({});
  for (const TrainFlag& flag : train_flags()) {
    INFO(flag.flag);
    CHECK(flag.field(c) == std::stod(flag.default_value));
  }
  CHECK(c.text == "");
  CHECK(c.out == "");
  CHECK_FALSE(c.resume);
  CHECK_FALSE(c.bytes);
  CHECK_FALSE(c.threads);
  CHECK(c.given.empty());
  CHECK(decay_of(c) == "2000");
  CHECK_FALSE(c.model.bias);
  CHECK(c.model.tied);
}

TEST_CASE("each flag of train sets its own field and no other", "[commands][options]") {
  for (const TrainFlag& flag : train_flags()) {
    INFO(flag.flag);
    const TrainCommand c = train({flag.flag, flag.other_value});
    CHECK(c.given == std::set<std::string>{flag.flag});
    for (const TrainFlag& each : train_flags())
      CHECK(each.field(c) ==
            std::stod(each.flag == flag.flag ? flag.other_value : each.default_value));
  }
}

TEST_CASE("the flags of the variants of Llama set their own fields", "[commands][options]") {
  for (const VariantFlag& flag : variant_flags()) {
    INFO(flag.flag);
    const TrainCommand other = train({flag.flag, flag.other_value});
    for (const VariantFlag& each : variant_flags()) {
      CHECK_FALSE(each.is_other(train({})));
      CHECK_FALSE(each.is_other(train({each.flag, each.default_value})));
      CHECK(each.is_other(other) == (each.flag == flag.flag));
    }
    CHECK(other.given == std::set<std::string>{flag.flag});
    CHECK(flag_values(other.model, other.training, heed::Unit::code_point, 0).at(flag.flag) ==
          flag.other_value);
    CHECK(flag_values({}, other.training, heed::Unit::code_point, 0).at(flag.flag) ==
          flag.default_value);
    CHECK(rejected({"train", flag.flag, "none"}) ==
          flag.flag + " none: must be " + flag.default_value + " or " + flag.other_value);
    CHECK(rejected({"train", flag.flag, ""}) ==
          flag.flag + " '': must be " + flag.default_value + " or " + flag.other_value);
    const std::string line = line_of(help_of({"train", "--help"}), flag.flag);
    CHECK(line.find(flag.default_value) != std::string::npos);
  }
  CHECK(help_of({"train", "--help"}).find("Variants of Llama") != std::string::npos);
}

TEST_CASE("the help of bench has the flags of comparisons in a group", "[commands][options]") {
  CHECK(help_of({"bench", "--help"}).find("\nBeside another program:\n") != std::string::npos);
}

TEST_CASE("--kv-heads sets the heads of keys and values, by default as many as --heads",
          "[commands][options]") {
  const auto value = [](const TrainCommand& c) {
    return flag_values(c.model, c.training, c.tokenizer, c.vocab_size).at("--kv-heads");
  };
  CHECK(train({}).model.kv_heads == 0);
  CHECK(train({"--kv-heads", "2"}).model.kv_heads == 2);
  CHECK(train({"--kv-heads", "4"}).model.kv_heads == 0);  // as many as --heads
  CHECK(train({"--kv-heads", "4", "--heads", "8"}).model.kv_heads == 4);
  CHECK(value(train({})) == "4");
  CHECK(value(train({"--heads", "8"})) == "8");
  CHECK(value(train({"--kv-heads", "2"})) == "2");
  CHECK(line_of(help_of({"train", "--help"}), "--kv-heads") != "");
  CHECK(rejected({"train", "--kv-heads", "3"}) ==
        "--kv-heads 3 does not divide --heads 4; give a --kv-heads that divides it");
  CHECK(rejected({"train", "--kv-heads", "8"}) ==
        "--kv-heads 8 does not divide --heads 4; give a --kv-heads that divides it");
  CHECK(rejected({"train", "--kv-heads", "0"}) ==
        "--kv-heads 0: out of range: must be a whole number at least 1 and at most 1000000000");
  CHECK(rejected({"train", "--kv-heads", "x"}) ==
        "--kv-heads x: must be a whole number, at least 1 and at most 1000000000");
  CHECK(rejected({"train", "--positions", "rotary", "--heads", "4", "--embed-dim", "12"}) ==
        "--positions rotary needs heads of even width, but --embed-dim 12 / --heads 4 is odd; "
        "change one of them");
  CHECK(rejected({"train", "--resume", "--kv-heads", "3"}) == "");
}

TEST_CASE("the widths of heads and MLPs and the options of rotary positions",
          "[commands][options]") {
  const TrainCommand c = train({"--positions", "rotary", "--head-dim", "24", "--rotary-dim", "8",
                                "--rope-theta", "5e5", "--rotary-pairs", "halves",
                                "--intermediate-size", "100", "--embed-dim", "130"});
  CHECK(c.model.head_dim == 24);
  CHECK(c.model.rotary_dim == 8);
  CHECK(c.model.rope_theta == 500000);
  CHECK(c.model.rotary_pairs == heed::RotaryPairs::halves);
  CHECK(c.model.intermediate_size == 100);
  const auto values = flag_values(c.model, c.training, c.tokenizer, c.vocab_size);
  CHECK(values.at("--head-dim") == "24");
  CHECK(values.at("--rope-theta") == "5e+05");
  CHECK(values.at("--rotary-pairs") == "halves");
  const TrainCommand usual = train({"--head-dim", "32", "--intermediate-size", "512"});
  CHECK(usual.model.head_dim == 0);
  CHECK(usual.model.intermediate_size == 0);
  CHECK(flag_values(usual.model, usual.training, usual.tokenizer, 0).at("--head-dim") == "32");
  for (const auto& [flag, value] :
       {std::pair("--rope-theta", "500"), {"--rotary-dim", "8"}, {"--rotary-pairs", "halves"}})
    CHECK(rejected({"train", flag, value}) ==
          std::string(flag) + " applies to --positions rotary; give --positions rotary too");
  const auto rejected_rotary = [](const std::string& flag, const std::string& value) {
    return rejected({"train", "--positions", "rotary", flag, value});
  };
  CHECK(rejected_rotary("--rotary-dim", "3") ==
        "--rotary-dim 3 must be even and at most the width of a head, 32");
  CHECK(rejected_rotary("--rotary-dim", "34") ==
        "--rotary-dim 34 must be even and at most the width of a head, 32");
  CHECK(rejected_rotary("--head-dim", "5") ==
        "--positions rotary needs heads of even width, but --head-dim 5 is odd; give an even "
        "--head-dim");
  CHECK(rejected_rotary("--rope-theta", "0") == "--rope-theta 0: must be above 0");
  CHECK(rejected_rotary("--rotary-pairs", "none") ==
        "--rotary-pairs none: must be interleaved or halves");
}

TEST_CASE("a value may follow an equals sign, and flags may precede the text",
          "[commands][options]") {
  const TrainCommand c =
      train({"--lr=0.5", "--resume", "in.txt", "--threads=3", "--out=a=b", "--bytes"});
  CHECK(c.text == "in.txt");
  CHECK(c.out == "a=b");
  CHECK(c.resume);
  CHECK(c.bytes);
  CHECK(c.threads == 3);
  CHECK(c.training.lr == 0.5);
  CHECK(c.given == std::set<std::string>{"--bytes", "--lr", "--out", "--threads"});
  CHECK(train({"-"}).text == "-");
  CHECK(train({"--steps", "5", "--", "--odd.txt"}).text == "--odd.txt");
}

TEST_CASE("defaults that depend on another flag follow its value", "[commands][options]") {
  CHECK(decay_of(train({"--steps", "500"})) == "500");
  CHECK(decay_of(train({"--steps", "50"})) == "50");
  CHECK(decay_of(train({"--steps", "500", "--decay-steps", "300"})) == "300");
  CHECK(train({"--lr", "1e-5"}).training.min_lr == 1e-5);
  CHECK(train({"--lr", "1e-5", "--min-lr", "0"}).training.min_lr == 0);
}

TEST_CASE("flags of a resumed run are not checked against the defaults of other flags",
          "[commands][options]") {
  CHECK(rejected({"train", "--resume", "--embed-dim", "6"}) == "");
  CHECK(rejected({"train", "--resume", "--decay-steps", "50"}) == "");
  CHECK(rejected({"train", "--resume", "--min-lr", "0.5"}) == "");
  CHECK(rejected({"train", "--resume", "--lr", "0"}) == "--lr 0: must be above 0");
}

TEST_CASE("each flag of sample sets its own field", "[commands][options]") {
  const SampleCommand plain = sample({"runs/x"});
  CHECK(plain.run == "runs/x");
  CHECK_FALSE(plain.prompt);
  CHECK(plain.options.tokens == 500);
  CHECK(plain.options.temperature == 1);
  CHECK(plain.options.top_k == 0);
  CHECK(plain.options.cache);
  CHECK(plain.seed == 1337);
  CHECK_FALSE(plain.threads);
  const SampleCommand full =
      sample({"--prompt", "--- a,b", "--tokens", "7", "--temperature", ".5", "--top-k", "3",
              "--seed", "0", "--threads", "2", "--no-cache", "o"});
  CHECK(full.run == "o");
  CHECK(full.prompt == "--- a,b");
  CHECK(full.options.tokens == 7);
  CHECK(full.options.temperature == 0.5);
  CHECK(full.options.top_k == 3);
  CHECK_FALSE(full.options.cache);
  CHECK(full.seed == 0);
  CHECK(full.threads == 2);
}

TEST_CASE("each flag of book sets its own field", "[commands][options]") {
  CHECK(book({}).lesson == "");
  CHECK(book({}).out == "");
  CHECK_FALSE(book({}).brief);
  CHECK_FALSE(book({}).readme);
  CHECK(book({"5"}).lesson == "5");
  CHECK(book({"--out", "pages"}).out == "pages");
  CHECK(book({"--brief"}).brief);
  CHECK(book({"--readme"}).readme);
}

TEST_CASE("a prompt is used unchanged", "[commands][options]") {
  for (const char* prompt :
       {"[a,b]", "\"quoted\"", "{x}", "%", "train", "-5", "a=b", " two\nlines"}) {
    INFO(prompt);
    CHECK(sample({"o", "--prompt", prompt}).prompt == prompt);
    CHECK(sample({"o", std::string("--prompt=") + prompt}).prompt == prompt);
  }
  CHECK(sample({"o", "--prompt=", "--tokens", "3"}).prompt == "");
  CHECK(sample({"o", "--prompt", "", "--tokens", "3"}).options.tokens == 3);
  CHECK(sample({"o", "--prompt=--seed"}).prompt == "--seed");
}

TEST_CASE("a text or a run may have the name of a command", "[commands][options]") {
  CHECK(train({"sample"}).text == "sample");
  CHECK(train({"train", "--out", "inspect"}).out == "inspect");
  CHECK(sample({"train"}).run == "train");
  CHECK(std::get<InspectCommand>(parse_command_line({"inspect", "train"})).file == "train");
}

TEST_CASE("an invalid number is rejected with the allowed range", "[commands][options]") {
  const std::map<Arguments, std::string> cases = {
      {{"--batch-size", "2.5"},
       "--batch-size 2.5: must be a whole number, at least 1 and at most 1000000000"},
      {{"--steps", "x"}, "--steps x: must be a whole number, at least 1 and at most 1000000000000"},
      {{"--steps", "-x"},
       "--steps -x: must be a whole number, at least 1 and at most 1000000000000"},
      {{"--steps", " 5"},
       "--steps ' 5': must be a whole number, at least 1 and at most 1000000000000"},
      {{"--steps", ""}, "--steps '': must be a whole number, at least 1 and at most 1000000000000"},
      {{"--layers="}, "--layers '': must be a whole number, at least 1 and at most 1000000000"},
      {{"--batch-size", "0"},
       "--batch-size 0: out of range: must be a whole number at least 1 and at most 1000000000"},
      {{"--block-size", "-5"},
       "--block-size -5: out of range: must be a whole number at least 1 and at most 1000000000"},
      {{"--heads", "99999999999999999999"},
       "--heads 99999999999999999999: out of range: must be a whole number at least 1 and at most "
       "1000000000"},
      {{"--seed", "4294967296"},
       "--seed 4294967296: out of range: must be a whole number at least 0 and at most 4294967295"},
      {{"--threads", "0"},
       "--threads 0: out of range: must be a whole number at least 1 and at most 1024"},
      {{"--lr", "fast"}, "--lr fast: must be a number, above 0"},
      {{"--lr", "1e-3x"}, "--lr 1e-3x: must be a number, above 0"},
      {{"--lr", "0,5"}, "--lr 0,5: must be a number, above 0"},
      {{"--lr", "0"}, "--lr 0: must be above 0"},
      {{"--lr", "-1"}, "--lr -1: must be above 0"},
      {{"--lr", "nan"}, "--lr nan: must be a finite number, above 0"},
      {{"--lr", "inf"}, "--lr inf: must be a finite number, above 0"},
      {{"--lr", "1e999"}, "--lr 1e999: out of range: must be a finite number, above 0"},
      {{"--dropout", "-0.1"}, "--dropout -0.1: must be at least 0 and below 1"},
      {{"--dropout", "1"}, "--dropout 1: must be at least 0 and below 1"},
      {{"--beta1", "1"}, "--beta1 1: must be at least 0 and below 1"},
      {{"--clip", "-1"}, "--clip -1: must be at least 0"},
      {{"--weight-decay", "-0.1"}, "--weight-decay -0.1: must be at least 0"}};
  for (const auto& [arguments, text] : cases) {
    Arguments all{"train", "a"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    CHECK(rejected(all) == text);
  }
  CHECK(rejected({"sample", "o", "--top-k", "0"}) ==
        "--top-k 0: out of range: must be a whole number at least 1 and at most 1000000000");
  CHECK(rejected({"sample", "o", "--tokens", "-5"}) ==
        "--tokens -5: out of range: must be a whole number at least 0 and at most 1000000000");
  CHECK(rejected({"sample", "o", "--temperature", "-1"}) == "--temperature -1: must be at least 0");
  CHECK(rejected({"sample", "o", "--temperature", "inf"}) ==
        "--temperature inf: must be a finite number, at least 0");
  CHECK(rejected({"train", "--lr", "nan"}) == "--lr nan: must be a finite number, above 0");
}

TEST_CASE("incompatible flags are rejected with both names", "[commands][options]") {
  CHECK(rejected({"train", "--heads", "3", "--embed-dim", "8"}) ==
        "--heads 3 does not divide --embed-dim 8; give a --heads that divides it");
  CHECK(rejected({"train", "--decay-steps", "100"}) ==
        "--decay-steps 100 must be above --warmup 100");
  CHECK(rejected({"train", "--warmup", "9", "--decay-steps", "5"}) ==
        "--decay-steps 5 must be above --warmup 9");
  CHECK(rejected({"train", "--lr", "1e-4", "--min-lr", "0.1"}) ==
        "--min-lr 0.1: must be at most --lr 1e-04");
}

TEST_CASE("a flag without its value is rejected, even if another flag follows",
          "[commands][options]") {
  CHECK(rejected({"train", "a", "--batch-size"}) == "--batch-size needs a value");
  CHECK(rejected({"train", "--out", "--resume"}) == "--out needs a value");
  CHECK(rejected({"train", "--out", "--lr=1"}) == "--out needs a value");
  CHECK(rejected({"sample", "o", "--prompt"}) == "--prompt needs a value");
  CHECK(rejected({"train", "--out="}) == "--out '': needs the name of a folder");
  CHECK(rejected({"train", "--out", ""}) == "--out '': needs the name of a folder");
  CHECK(rejected({"train", ""}) == "TEXT '': is empty; give a name");
  CHECK(rejected({"train", "--resume=no"}) == "--resume takes no value; write it alone");
}

TEST_CASE("a repeated flag is rejected with both values", "[commands][options]") {
  CHECK(rejected({"train", "--lr", "1", "--lr=2"}) ==
        "--lr is given twice (1 and 2); give it once");
  CHECK(rejected({"sample", "o", "--prompt", "a", "--prompt", "a"}) ==
        "--prompt is given twice (a and a); give it once");
}

TEST_CASE("an unknown flag is rejected with the most similar one", "[commands][options]") {
  CHECK(rejected({"train", "a", "--batchsize", "4"}) ==
        "unknown option --batchsize; did you mean --batch-size?");
  CHECK(rejected({"train", "--stesp=4"}) == "unknown option --stesp; did you mean --steps?");
  CHECK(rejected({"train", "--bite"}) == "unknown option --bite; did you mean --bytes?");
  CHECK(rejected({"sample", "o", "--temprature=1"}) ==
        "unknown option --temprature; did you mean --temperature?");
  CHECK(rejected({"train", "a", "--nosuchthing", "1"}) ==
        "unknown option --nosuchthing; see --help");
  CHECK(rejected({"train", "-x"}) == "unknown option -x; see --help");
}

TEST_CASE("an abbreviated flag is rejected with the flags that begin with it",
          "[commands][options]") {
  const auto meant = [](const std::string& command, const std::string& flag) {
    const std::string error = rejected({command, "a", flag});
    return error.substr(error.find("; ") + 2);
  };
  CHECK(meant("sample", "--temp") == "did you mean --temperature?");
  CHECK(meant("train", "--temp") == "see --help");
  CHECK(meant("train", "--keep") == "did you mean --keep-history?");
  CHECK(meant("train", "--vocab=9") == "did you mean --vocab-size?");
  CHECK(meant("train", "--eval") == "did you mean --eval-every or --eval-batches?");
  CHECK(meant("train", "-lr") == "did you mean --lr?");
}

TEST_CASE("a flag of nanoGPT or char-rnn is rejected with heed's flag of that meaning",
          "[commands][options]") {
  const std::map<std::string, std::string> train = {{"--learning_rate", "--lr"},
                                                    {"--learning-rate", "--lr"},
                                                    {"--max_iters", "--steps"},
                                                    {"--n_layer", "--layers"},
                                                    {"--n_head", "--heads"},
                                                    {"--n_embd", "--embed-dim"},
                                                    {"--block_size", "--block-size"},
                                                    {"--lr_decay_iters", "--decay-steps"},
                                                    {"--warmup_iters", "--warmup"},
                                                    {"--grad_clip", "--clip"},
                                                    {"--eval_iters", "--eval-batches"},
                                                    {"--eval_interval", "--eval-every"},
                                                    {"--log_interval", "--log-every"},
                                                    {"-rnn_size", "--embed-dim"},
                                                    {"--out_dir", "--out"},
                                                    {"--init_from", "--init"}};
  for (const auto& [flag, ours] : train)
    CHECK(rejected({"train", "a", flag + "=1"}) ==
          "unknown option " + flag + "; did you mean " + ours + "?");
  const std::map<std::string, std::string> sample = {{"--max_new_tokens", "--tokens"},
                                                     {"--num_samples", "--samples"},
                                                     {"--start", "--prompt"},
                                                     {"-primetext", "--prompt"}};
  for (const auto& [flag, ours] : sample)
    CHECK(rejected({"sample", "a", flag, "1"}) ==
          "unknown option " + flag + "; did you mean " + ours + "?");
}

TEST_CASE("an extra argument is rejected", "[commands][options]") {
  CHECK(rejected({"train", "a", "extra"}) == "'extra' is one argument too many; see --help");
  CHECK(rejected({"sample", "o", "p"}) == "'p' is one argument too many; see --help");
  CHECK(rejected({"sample", "o", "--", "--seed", "3"}) ==
        "'--seed' is one argument too many; see --help");
  CHECK(rejected({"inspect", "a", "b"}) == "'b' is one argument too many; see --help");
}

TEST_CASE("a missing or unknown command and a missing file are rejected", "[commands][options]") {
  CHECK(rejected({}) == "no command; see --help");
  CHECK(rejected({"trian"}) == "unknown command 'trian'; did you mean 'train'?");
  CHECK(rejected({"exprot"}) == "unknown command 'exprot'; did you mean 'export'?");
  for (const std::string far : {"", "--nope", "trombone", "lo"})
    CHECK(rejected({far, "train"}) == "unknown command '" + far + "'; see --help");
  CHECK(rejected({"sample"}) == "sample: give a run's folder, such as runs/harbour");
  CHECK(rejected({"inspect"}) == "inspect: give a safetensors file");
}

TEST_CASE("train --help lists every flag with its default", "[commands][options]") {
  const std::string help = help_of({"train", "--help"});
  for (const TrainFlag& flag : train_flags()) {
    INFO(line_of(help, flag.flag));
    CHECK(line_of(help, flag.flag).find(" [" + flag.default_value + "]") != std::string::npos);
  }
  for (const char* flag : {"--out", "--resume", "--bytes", "--threads", "--decay-steps", "TEXT"})
    CHECK(line_of(help, flag) != "");
  CHECK(help.find("\nUsage: ./heed train [TEXT] [OPTIONS]\n") != std::string::npos);
  CHECK(help_of({"train", "in.txt", "-h", "--lr", "0"}) == help);
}

TEST_CASE("train --help describes every flag, and no other", "[commands][options]") {
  std::set<std::string> flags = {"--help",         "--out",        "--resume",
                                 "--replace",      "--trust",      "--init",
                                 "--tokenizer",    "--vocab-size", "--bytes",
                                 "--threads",      "--processes",  "--zero",
                                 "--no-overlap",   "--kv-heads",   "--decay-steps",
                                 "--keep-history", "--head-dim",   "--intermediate-size",
                                 "--rotary-dim",   "--rope-theta", "--rotary-pairs",
                                 "--record",       "--watch"};
  for (const TrainFlag& flag : train_flags()) flags.insert(flag.flag);
  for (const VariantFlag& flag : variant_flags()) flags.insert(flag.flag);
  std::set<std::string> described;
  const std::string help = help_of({"train", "--help"});
  // "  --out DIR     folder of the run": the flag, the name of its value and a description
  const std::regex line(
      "\n  (?:-h, )?(--[a-z0-9-]+)(?: [^ \n]+)?(?: {2,}|\n {24})[a-zA-Z][^\n]{9}");
  for (std::sregex_iterator at(help.begin(), help.end(), line), end; at != end; ++at)
    CHECK(described.insert((*at)[1]).second);
  CHECK(described == flags);
}

TEST_CASE("the help of each command has the same parts, in lines of at most 80 columns",
          "[commands][options]") {
  for (const std::string& command : command_names) {
    const std::string help = help_of({command, "--help"});
    INFO(help);
    CHECK(help.rfind("heed " + command + ": ", 0) == 0);
    std::size_t last = 0;
    for (const std::string& part :
         {"\n\nUsage: ./heed " + command + " ", std::string("\n\nArguments:\n"),
          std::string("\n  -h, --help            print this help\n"),
          std::string("\n\nExamples:\n  ./heed ")}) {
      CHECK(help.find(part) > last);
      last = help.find(part);
      REQUIRE(last != help.npos);
    }
    for (const std::string& line : heed::lines_of(help))
      CHECK((line.size() <= 80 || line.rfind("  --only ", 0) == 0));
    CHECK(help.find("default:") == help.npos);  // defaults stand in brackets
    CHECK(help.find("\n\n\n") == help.npos);
  }
}

TEST_CASE("the examples in the help of a command are valid", "[commands][options]") {
  for (const std::string& command : command_names) {
    const std::string help = help_of({command, "--help"});
    const std::string examples = help.substr(help.find("\nExamples:\n"));
    const std::regex line("\n  \\./heed ([^\n]*)"), word("'([^']*)'|([^ ']+)");
    std::size_t count = 0;
    for (std::sregex_iterator at(examples.begin(), examples.end(), line), end; at != end; ++at) {
      const std::string text = (*at)[1];
      INFO(text);
      Arguments words;
      for (std::sregex_iterator w(text.begin(), text.end(), word); w != end; ++w)
        words.push_back((*w)[1].matched ? (*w)[1] : (*w)[2]);
      CHECK(words.at(0) == command);
      CHECK(rejected(words) == "");
      ++count;
    }
    CHECK(count >= 2);
  }
}

TEST_CASE("an argument that must be given has no brackets in the usage", "[commands][options]") {
  CHECK(help_of({"sample", "-h"}).find("Usage: ./heed sample RUN [OPTIONS]\n") !=
        std::string::npos);
  CHECK(help_of({"corpus", "-h"}).find("Usage: ./heed corpus [FILE] [OPTIONS]\n") !=
        std::string::npos);
}

TEST_CASE("look --help and corpus --help list their flags", "[commands][options]") {
  const std::string look = help_of({"look", "--help"}), corpus = help_of({"corpus", "-h"});
  for (const char* flag : {"--trust", "--text", "--layer", "--head", "--out", "--threads", "--tsne",
                           "--perplexity", "--iterations", "--seed"})
    CHECK(line_of(look, flag) != "");
  for (const char* flag : {"--kind", "--size", "--seed"}) CHECK(line_of(corpus, flag) != "");
  CHECK(line_of(help_of({"sample", "-h"}), "--trust") != "");
  CHECK(look.back() == '\n');
  CHECK(help_of({"sample", "-h"}).back() == '\n');
}

TEST_CASE("sample --help lists every flag with its default", "[commands][options]") {
  const std::string help = help_of({"sample", "--help"});
  CHECK(line_of(help, "--tokens").find("[500]") != std::string::npos);
  CHECK(line_of(help, "--temperature").find("[1]") != std::string::npos);
  CHECK(line_of(help, "--seed").find("[1337]") != std::string::npos);
  CHECK(help.find("When the context reaches the block size") != std::string::npos);
  for (const char* flag : {"--prompt", "--top-k", "--weights", "--no-cache", "--threads", "RUN"})
    CHECK(line_of(help, flag) != "");
}

TEST_CASE("heed --help lists the commands, and --version prints the version",
          "[commands][options]") {
  for (const char* command : {"train", "sample", "inspect", "bench"})
    CHECK(line_of(help_of({"--help"}), command) != "");
  CHECK(help_of({"--version"}) == std::string(version) + "\n");
}

TEST_CASE("flag_values returns the values of the command line", "[commands][options]") {
  for (const TrainFlag& flag : train_flags()) {
    const TrainCommand c = train({flag.flag, flag.other_value});
    auto values = flag_values(c.model, c.training, c.tokenizer, c.vocab_size);
    INFO(flag.flag);
    if (flag.flag != "--steps") CHECK(values.at(flag.flag) == flag.other_value);
  }
  const TrainCommand c = train({"--bytes", "--decay-steps", "300"});
  CHECK(flag_values(c.model, c.training, c.tokenizer, c.vocab_size).at("--bytes") == "given");
  CHECK(flag_values(c.model, c.training, c.tokenizer, c.vocab_size).at("--decay-steps") == "300");
}

TEST_CASE("a value for --version is rejected", "[commands][options]") {
  const std::string error = rejected({"--version=x"});
  INFO(error);
  CHECK(error.find("--version") != error.npos);
  CHECK(error.substr(error.size() - std::min<std::size_t>(error.size(), 12)) == "; see --help");
}

TEST_CASE("numbers are accepted up to their limits", "[commands][options]") {
  struct Limits {
    Arguments command;
    const char *flag, *low, *below, *high, *above;
  };
  const std::vector<Limits> all = {
      {{"train"}, "--threads", "1", "0", "1024", "1025"},
      {{"train", "--embed-dim", "64"}, "--heads", "1", "0", "64", "65"},
      {{"train", "--tokenizer", "bpe"}, "--vocab-size", "256", "255", "65536", "65537"},
      {{"train", "--batch-size", "8"}, "--shards", "1", "0", "8", "16"},
      {{"train", "--batch-size", "12"}, "--shards", "2", "3", "4", "6"},
      {{"sample", "run"}, "--samples", "1", "0", "1024", "1025"}};
  for (const Limits& limits : all)
    for (const auto& [value, accepted] : {std::pair(limits.low, true),
                                          {limits.below, false},
                                          {limits.high, true},
                                          {limits.above, false}}) {
      INFO(limits.flag << " " << value);
      Arguments arguments = limits.command;
      arguments.insert(arguments.end(), {limits.flag, value});
      CHECK(rejected(arguments).empty() == accepted);
    }
  CHECK(sample({"run", "--top-k", "1"}).options.top_k == 1);
}
