// bench.cpp: the command heed bench, which measures training speed.

#include <iostream>
#include <utility>

#include "app/bench/parts.hpp"
#include "heed/app/commands.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/text/corpus.hpp"
#include "heed/text/vocabulary.hpp"

namespace heed::app {

std::string output_of(const std::string& name, std::vector<std::string> arguments,
                      const EnvironmentChanges& changes) {
  const ChildResult result = run_child({std::move(arguments), "", "", changes});
  if (result.code == 0) return result.out;
  std::string error = result.last_error();
  const std::string prefix = "heed: error: ";
  if (error.rfind(prefix, 0) == 0) error.erase(0, prefix.size());
  throw_error(name, ": ", error.empty() ? "ended with code " + std::to_string(result.code) : error);
}

std::vector<std::string> workload_arguments(const Workload& w, std::int64_t steps) {
  return {"--steps",      std::to_string(steps),
          "--threads",    std::to_string(w.threads),
          "--block-size", std::to_string(w.model.block_size),
          "--batch-size", std::to_string(w.batch_size),
          "--layers",     std::to_string(w.model.layers),
          "--heads",      std::to_string(w.model.heads),
          "--embed-dim",  std::to_string(w.model.embed_dim)};
}

// Removes the variables that heed sets for itself at its start, so that the child sets them again.
ChildMeasurements run_in_child(const std::string& text, const Workload& workload,
                               std::int64_t steps) {
  std::vector<std::string> arguments{"/proc/self/exe", "bench", "--only", "run", "--json"};
  for (const std::string& argument : workload_arguments(workload, steps))
    arguments.push_back(argument);
  arguments.insert(arguments.end(), {"--", text});
  const EnvironmentChanges changes{{"GOMP_SPINCOUNT", {}}, {"OPENBLAS_NUM_THREADS", {}}};
  return parse_child_output("heed bench", output_of("heed bench", arguments, changes));
}

int bench(const BenchCommand& given) {
  set_trace("");  // HEED_TRACE would slow the steps down
  BenchCommand command = given;
  const std::string path = command.text.empty() ? default_text() : command.text;
  std::string text = read_text(path);
  if (has_byte_order_mark(text)) text.erase(0, 3);
  if (text.empty()) throw_error(path, ": is empty; give a text to learn");
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus(std::move(text), vocabulary);
  command.workload.model.vocab_size = vocabulary.size();

  exit_at_interrupt();
  LiveLine line;
  const ShowProgress show = [&](const std::string& what) { line.show("measuring " + what); };
  BenchResults results;
  if (command.compare.empty()) {
    results = measure(command, path, corpus, show);
  } else {
    results.workload = command.workload;
    results.compared = compare_with_torch(command, path, show);
  }
  line.wipe();
  std::cout << (command.json ? bench_json(results) : bench_table(results));
  return 0;
}

}  // namespace heed::app
