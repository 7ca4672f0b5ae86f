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
  wrong("--only", word, "must be " + names);
}

void bench_model_flags(Flags& flags, Workload& w) {
  flags.group("Model");
  flags.whole("--block-size", w.model.block_size, {1, most}, "symbols the model looks at");
  flags.whole("--batch-size", w.batch_size, {1, most}, "windows in a step");
  flags.whole("--layers", w.model.layers, {1, most}, "blocks, one on the other");
  flags.whole("--heads", w.model.heads, {1, most}, "attention heads in a block");
  flags.whole("--embed-dim", w.model.embed_dim, {1, most}, "numbers that stand for a symbol");
  flags.whole("--threads", w.threads, {1, 1024}, "threads to use, but in the table over threads");
}

void bench_flags(Flags& flags, BenchCommand& c) {
  flags.word("TEXT", c.text, "a text file in UTF-8; the text that comes with heed unless given");
  flags.group("What");
  flags.text("--only", "PART",
             "one part of it: step, threads, context, width, small, operations, generate, memory, "
             "start; or run: nothing but steps",
             [&](const std::string& text) { c.only = bench_part(text); });
  const auto count = [&](const char* flag, std::int64_t& target, const char* help) {
    flags.text(flag, "N", help, [=, &target](const std::string& text) {
      target = static_cast<std::int64_t>(whole_number(flag, text, {1, most}));
    });
  };
  count("--rounds", c.rounds, "times to go over everything; 3, or 9 with --compare, unless given");
  count("--steps", c.steps, "steps of each kind in a round; 0.4 seconds' worth unless given");
  flags.yes("--json", c.json, "one JSON object instead of tables");
  flags.group("PyTorch");
  flags.text("--compare", "SCRIPT",
             "take turns with this PyTorch program, such as tests/bench/torch_peer.py",
             [&](const std::string& text) {
               if (text.empty()) wrong("--compare", text, "needs the name of a script");
               c.compare = text;
             });
  flags.text("--peer-blas", "DIR",
             "folder of its OpenBLAS for two threads and more; /usr/lib/*/openblas-openmp unless "
             "given",
             [&](const std::string& text) { c.peer_blas = text; });
  bench_model_flags(flags, c.workload);
}

// With --compare the parts are other ones: all of them, or the model that the options describe.
void check_together(const BenchCommand& c) {
  check_heads(c.workload.model);
  if (c.text == "-") throw UsageError("TEXT -: bench needs a file, which it reads several times");
  if (c.compare.empty() && !c.peer_blas.empty())
    throw UsageError("--peer-blas " + c.peer_blas + ": only with --compare");
  if (!c.compare.empty() && c.only != BenchPart::all && c.only != BenchPart::step)
    throw UsageError("--compare " + c.compare + ": goes with --only step, or without --only");
}

}  // namespace

Command bench_command(const Words& words) {
  Flags flags(about_bench, "heed bench");
  BenchCommand bench;
  bench_flags(flags, bench);
  if (const auto help = flags.read(words)) return *help;
  check_together(bench);
  return bench;
}

}  // namespace heed::app
