// common_flags.cpp: flags and checks that several commands share.

#include "commands/common_flags.hpp"

namespace heed::app {

void threads_flag(Flags& flags, std::optional<int>& threads) {
  flags.integer("--threads", threads, {1, 1024}, "number of threads [all cores]");
}

void run_argument(Flags& flags, std::string& run, bool& trust) {
  flags.positional("RUN", run, "a run's folder, such as runs/harbour, or a checkpoint",
                   "a run's folder, such as runs/harbour");
  flags.flag("--trust", trust, trust_help);
}

void check_heads(const nn::GptConfig& model) {
  if (model.head_dim == 0 && model.embed_dim % model.heads != 0)
    throw UsageError("--heads " + std::to_string(model.heads) + " does not divide --embed-dim " +
                     std::to_string(model.embed_dim) + "; give a --heads that divides it");
  if (model.kv_heads != 0 && model.heads % model.kv_heads != 0)
    throw UsageError("--kv-heads " + std::to_string(model.kv_heads) + " does not divide --heads " +
                     std::to_string(model.heads) + "; give a --kv-heads that divides it");
  if (model.positions != nn::PositionKind::rotary) return;
  if (model.rotary_dim % 2 != 0 || model.rotary_dim > model.head_width())
    throw UsageError("--rotary-dim " + std::to_string(model.rotary_dim) +
                     " must be even and at most the width of a head, " +
                     std::to_string(model.head_width()));
  if (model.rotary_dim != 0 || model.head_width() % 2 == 0) return;
  if (model.head_dim != 0)
    throw UsageError("--positions rotary needs heads of even width, but --head-dim " +
                     std::to_string(model.head_dim) + " is odd; give an even --head-dim");
  throw UsageError("--positions rotary needs heads of even width, but --embed-dim " +
                   std::to_string(model.embed_dim) + " / --heads " + std::to_string(model.heads) +
                   " is odd; change one of them");
}

}  // namespace heed::app
