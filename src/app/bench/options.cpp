// options.cpp: the command line of heed bench.

#include "app/option_parts.hpp"

namespace heed::app {
namespace {

const std::vector<std::pair<std::string, BenchPart>> bench_parts = {
    {"step", BenchPart::step},         {"threads", BenchPart::threads},
    {"context", BenchPart::context},   {"width", BenchPart::width},
    {"small", BenchPart::small},       {"operations", BenchPart::operations},
    {"generate", BenchPart::generate}, {"memory", BenchPart::memory},
    {"start", BenchPart::start},       {"run", BenchPart::run}};

BenchPart bench_part(const std::string& word) {
  std::string names;
  for (const auto& [name, part] : bench_parts) {
    if (name == word) return part;
    names += (names.empty() ? "" : name == "run" ? " or " : ", ") + name;
  }
  throw_usage_error("--only", word, "must be " + names);
}

void bench_model_flags(Flags& flags, Workload& w) {
  flags.group("Model");
  flags.integer("--block-size", w.model.block_size, {1, max_size}, "context length in tokens");
  flags.integer("--batch-size", w.batch_size, {1, max_size}, "windows per batch");
  flags.integer("--layers", w.model.layers, {1, max_size}, "number of transformer blocks");
  flags.integer("--heads", w.model.heads, {1, max_size}, "attention heads per block");
  flags.integer("--embed-dim", w.model.embed_dim, {1, max_size}, "width of the embeddings");
  flags.integer("--threads", w.threads, {1, 1024},
                "number of threads, except in the sweep over threads");
}

void bench_flags(Flags& flags, BenchCommand& c) {
  flags.positional("TEXT", c.text, "a text file in UTF-8; default: the text that comes with heed");
  flags.group("Measurements");
  flags.text("--only", "PART",
             "one part: step, threads, context, width, small, operations, generate, memory, start; "
             "or run: only steps and some generation",
             [&](const std::string& text) { c.only = bench_part(text); });
  const auto count = [&](const char* flag, std::int64_t& target, const char* help) {
    flags.text(flag, "N", help, [=, &target](const std::string& text) {
      target = static_cast<std::int64_t>(parse_integer(flag, text, {1, max_size}));
    });
  };
  count("--rounds", c.rounds, "repetitions of all measurements; default: 3, with --compare 9");
  count("--steps", c.steps, "steps per measurement; default: as many as fit into 0.4 seconds");
  flags.flag("--json", c.json, "one JSON object instead of tables");
  flags.group("PyTorch");
  flags.text("--compare", "SCRIPT",
             "compare with this PyTorch program, such as tests/bench/torch_peer.py",
             [&](const std::string& text) {
               if (text.empty()) throw_usage_error("--compare", text, "needs the name of a script");
               c.compare = text;
             });
  flags.text("--peer-blas", "DIR",
             "folder of PyTorch's OpenBLAS for two or more threads; default: "
             "/usr/lib/*/openblas-openmp",
             [&](const std::string& text) { c.peer_blas = text; });
  bench_model_flags(flags, c.workload);
}

// Checks flags that depend on each other. --compare works with all parts or with --only step.
void check_combinations(const BenchCommand& c) {
  check_heads(c.workload.model);
  if (c.text == "-") throw UsageError("TEXT -: bench needs a file, which it reads several times");
  if (c.compare.empty() && !c.peer_blas.empty())
    throw UsageError("--peer-blas " + c.peer_blas + ": only with --compare");
  if (!c.compare.empty() && c.only != BenchPart::all && c.only != BenchPart::step)
    throw UsageError("--compare " + c.compare + ": goes with --only step, or without --only");
}

}  // namespace

Command bench_command(const Arguments& arguments) {
  Flags flags(about_bench, "heed bench");
  BenchCommand bench;
  bench_flags(flags, bench);
  if (const auto help = flags.read(arguments)) return *help;
  check_combinations(bench);
  return bench;
}

}  // namespace heed::app
