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
  if (model.embed_dim % model.heads != 0)
    throw UsageError("--heads " + std::to_string(model.heads) + " does not divide --embed-dim " +
                     std::to_string(model.embed_dim) + "; give a --heads that divides it");
  if (model.kv_heads != 0 && model.heads % model.kv_heads != 0)
    throw UsageError("--kv-heads " + std::to_string(model.kv_heads) + " does not divide --heads " +
                     std::to_string(model.heads) + "; give a --kv-heads that divides it");
  if (model.positions == nn::PositionKind::rotary && model.embed_dim / model.heads % 2 != 0)
    throw UsageError("--positions rotary needs heads of even width, but --embed-dim " +
                     std::to_string(model.embed_dim) + " / --heads " + std::to_string(model.heads) +
                     " is odd; change one of them");
}

}  // namespace heed::app
