// replay.cpp: heed replay, which computes a step of a training run again, bit for bit.

#include "commands/replay/replay.hpp"

#include <iostream>

#include "commands/common_flags.hpp"
#include "commands/run_writer.hpp"
#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

std::string step_text(std::int64_t step) { return "step " + std::to_string(step); }

// Replays up to the next saved state, if it is one of record/, which proves that the steps before
// it are the same.
void replay_to_next_state(ReplayedRun& run) {
  const auto next = run.states().upper_bound(run.trainer().steps_done());
  if (run.compared_states() > 0 || next == run.states().end()) return;
  if (next->second != run.folder().checkpoint()) run.go_to(next->first);
}

void print_proof(const ReplayedRun& run) {
  std::cout << "proof   " << counted(run.compared_rows(), "row") << " of the losses and "
            << counted(run.compared_states(), "saved state") << " up to "
            << step_text(run.trainer().steps_done()) << " are the same, bit for bit\n";
}

void save_as_run(const ReplayedRun& run, RunWriter& writer) {
  writer.create();
  save_run(writer.files().checkpoint(), run.trainer(), run.vocabulary(), run.fingerprint());
  write_file_atomically(writer.files().loss_csv(), csv(run.trainer().history()));
  writer.commit();
  writer.finish();
}

}  // namespace

void declare_flags(Flags& flags, ReplayCommand& c) {
  replay_flags(flags, c.run);
  flags.integer("--to", c.to, {0, 1e12}, "the step to compute again [the last one of the run]",
                "STEP");
  flags.path("--out", "DIR", "save the run as it was after that step, for sample, look and train",
             "folder", c.out);
  flags.example("./heed replay runs/harbour --to 300");
  flags.example("./heed replay runs/harbour --to 300 --out runs/at_300");
}

void compute_last_step(ReplayedRun& run) { run.step(); }

int run(const ReplayCommand& command) {
  ReplayedRun run(command.run);
  const std::int64_t to = command.to.value_or(run.states().rbegin()->first);
  if (to > run.last_step())
    throw_usage_error("--to", std::to_string(to),
                      "must be at most " + std::to_string(run.last_step()) + ", the run's --steps");
  RunWriter writer(RunFolder{command.out}, OldRun::reject, "give another --out");
  if (!command.out.empty()) writer.open();
  run.start_before(to > 0 ? to - 1 : 0);
  std::cout << "from    " << step_text(run.trainer().steps_done()) << " of "
            << printable(run.folder().path.string()) << std::endl;
  double loss = 0;
  run.set_hook([&](const Batch&, double batch_loss) { loss = batch_loss; });
  if (to > 0) {
    run.go_to(to - 1);
    compute_last_step(run);
    std::cout << "step    " << to << ": loss " << exact(loss) << ", gradient norm "
              << exact(run.grad_norm()) << ", learning rate " << exact(run.lr()) << std::endl;
  }
  if (!command.out.empty()) save_as_run(run, writer);
  replay_to_next_state(run);
  if (!command.run.near) print_proof(run);  // with --near, a note says what differs
  if (!command.out.empty())
    std::cout << "saved   " << printable(command.out) << ", for ./heed sample, look and train "
              << "--resume --out " << shell_path(command.out) << '\n';
  return 0;
}

}  // namespace heed::app
