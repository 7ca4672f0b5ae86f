// options.cpp: the command-line flags of heed bench, and the sizes of a workload.

#include "commands/bench/options.hpp"

#include "commands/common_flags.hpp"
#include "train/fields.hpp"

namespace heed::app {
namespace {

const std::vector<std::string> bench_parts = {
    "step",        // time of a training step, and its GFLOP/s relative to matrix products
    "threads",     // time of a training step with 1, 2, 4 ... threads
    "context",     // time of a training step at several context lengths, 3072 tokens per batch
    "width",       // time of a training step at several embedding widths
    "small",       // time of a training step of a small model
    "gemm",        // speed of each library for matrix products
    "operations",  // time of each operation in a training step
    "generate",    // tokens per second of text generation
    "memory",      // peak memory of a training process
    "nodes",       // time of 1,000,000 nodes of scalars, forward and backward
    "start",       // time from the program's start to the end of its first training step
    "run",         // training, then text generation; used by "memory", "start" and --compare
};

// Calls visit(field, size) for each size of the model and, after the first of them, for the batch
// size.
template <class W, class Visit>
void each_size_of(W& workload, const Visit& visit) {
  bool is_first = true;
  each_size(workload.model, [&](const Field& field, auto& size) {
    visit(field, size);
    if (is_first) visit(batch_size_field, workload.batch_size);
    is_first = false;
  });
}

void bench_model_flags(Flags& flags, Workload& w) {
  flags.group("Model");
  each_size_of(w, [&](const Field& field, std::size_t& size) { flags.field(field, size); });
  flags.integer("--threads", w.threads, {1, 1024}, "number of threads (ignored by --only threads)");
}

}  // namespace

std::vector<std::pair<std::string, std::size_t>> Workload::sizes() const {
  std::vector<std::pair<std::string, std::size_t>> all = {
      {"threads", static_cast<std::size_t>(threads)}};
  each_size_of(*this,
               [&](const Field& field, std::size_t size) { all.emplace_back(field.name, size); });
  return all;
}

void declare_flags(Flags& flags, BenchCommand& c) {
  flags.positional("TEXT", c.text, "a text file in UTF-8 [harbour.txt]");
  flags.group("Measurements");
  flags.choice("--only",
               "one part; run: train, then generate text, without other measurements [all]",
               bench_parts, c.only);
  flags.integer("--rounds", c.rounds, {1, max_size},
                "repetitions of all measurements [3, or 9 with --compare]");
  flags.integer("--steps", c.steps, {1, max_size},
                "steps per measurement [as many as fit into 0.4 seconds]");
  flags.flag("--processes", c.processes,
             "training steps in 1, 2 and 4 processes, and a cost model; with --compare "
             "tests/bench/torch_ddp_peer.py, two processes and DistributedDataParallel");
  flags.flag("--json", c.json, "print one JSON object instead of tables");
  flags.path("--report", "FILE",
             "also write a Markdown page of this machine and its measurements, each beside a limit",
             "file", c.report);
  flags.group("Beside another program");
  flags.path("--compare", "SCRIPT",
             "compare with this Python program: torch_peer.py, nanogpt_peer.py or llmc_peer.py in "
             "tests/bench",
             "script", c.compare);
  flags.text("--peer-blas", "DIR",
             "folder of the OpenBLAS that PyTorch uses with two or more threads "
             "[/usr/lib/*/openblas-openmp]",
             c.peer_blas);
  bench_model_flags(flags, c.workload);
  flags.footer(
      "HEED_ISA=avx2 in the environment limits OpenBLAS, LIBXSMM and oneDNN to AVX2, in every "
      "command.");
  flags.example("./heed bench");
  flags.example("./heed bench --only gemm --rounds 5");
  flags.example("./heed bench --report speed.md");
  flags.example("./heed bench --compare tests/bench/torch_peer.py");
}

// --compare can be combined with --only step, but not with other values of --only.
void check_flags(const BenchCommand& c, const std::set<std::string>&) {
  check_heads(c.workload.model);
  if (c.text == "-") throw UsageError("TEXT -: standard input can be read only once; give a file");
  for (const auto& [flag, is_given] :
       {std::pair("--only", !c.only.empty()), {"--json", c.json}, {"--report", !c.report.empty()}})
    if (c.processes && is_given)
      throw UsageError(std::string(flag) + " cannot be combined with --processes; leave out one");
  if (!c.report.empty() && !c.compare.empty())
    throw UsageError("--report cannot be combined with --compare; leave out one");
  if (c.compare.empty() && !c.peer_blas.empty())
    throw UsageError("--peer-blas " + c.peer_blas + ": only with --compare");
  if (!c.compare.empty() && !c.only.empty() && c.only != "step")
    throw UsageError("--compare " + c.compare + ": combine it with --only step, or omit --only");
}

}  // namespace heed::app
