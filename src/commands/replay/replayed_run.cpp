// replayed_run.cpp: ReplayedRun, which computes the steps of a finished training run again.

#include "commands/replay/replayed_run.hpp"

#include <cstring>
#include <utility>

#include "commands/common_flags.hpp"
#include "commands/gemm_setting.hpp"
#include "commands/terminal.hpp"
#include "commands/thread_check.hpp"
#include "commands/train/options.hpp"
#include "commands/train/resume.hpp"
#include "heed/array/parallel.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/data_parallel.hpp"

namespace heed::app {
namespace {

constexpr const char* advice =
    "; replay it on the machine and with the program and libraries of its training, or give "
    "--near; if it began with --init, train it with --record";

std::map<std::int64_t, std::filesystem::path> states_of(const RunFolder& folder, bool trust) {
  std::map<std::int64_t, std::filesystem::path> states;
  const StepFolder record = folder.record();
  for (const std::int64_t step : record.steps()) states[step] = record.file(step);
  if (folder.has_checkpoint()) {
    const ModelFile checkpoint = ModelFile::open(folder.checkpoint());
    check_trusted(checkpoint, trust);
    if (checkpoint.has_text()) states.emplace(checkpoint.steps(), folder.checkpoint());
  }
  if (states.empty())
    throw_error(folder.path.string(),
                ": has no checkpoint of heed train and no record; give the folder of a run");
  return states;
}

// The row without the time that the step took.
std::string row_text(const LogRow& row) {
  const std::string line = csv(row);
  return line.substr(0, line.rfind(','));
}

// The first element in which two arrays differ, such as "element 3, 0.5 instead of 0.25", or "" if
// all bits are the same.
std::string first_difference(const Array& a, const Array& b) {
  if (a.shape() != b.shape()) return "of shape " + str(shape_of(a));
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(a.data() + i, b.data() + i, sizeof(Real)) != 0)
      return "element " + std::to_string(i) + ", " + exact(b.data()[i]) + " instead of " +
             exact(a.data()[i]);
  return "";
}

// The first difference of a replayed state from a saved one, or "".
std::string first_difference(const Trainer& saved, const Trainer& replayed) {
  for (std::size_t i = 0; i < saved.parameters().size(); ++i) {
    const Tensor& tensor = saved.parameters().tensors()[i];
    const std::string where =
        first_difference(tensor.value(), replayed.parameters().tensors()[i].value());
    if (!where.empty()) return "parameter '" + tensor.name() + "', " + where;
  }
  const TrainerState a = saved.state(), b = replayed.state();
  for (std::size_t i = 0; i < a.optimizer.arrays.size(); ++i) {
    const auto& [name, moment] = a.optimizer.arrays[i];
    const std::string where = first_difference(moment, b.optimizer.arrays[i].second);
    if (!where.empty()) return "moment '" + name + "', " + where;
  }
  if (a.batch_generator != b.batch_generator) return "the generator of the batches";
  if (a.dropout_generator != b.dropout_generator) return "the generator of the dropout masks";
  return "";
}

// Whether a run with the options b gives later steps another learning rate than one with a.
bool have_other_rates(const TrainOptions& a, const TrainOptions& b) {
  return schedule_of(a).decay_steps != schedule_of(b).decay_steps;
}

}  // namespace

void replay_flags(Flags& flags, ReplayOptions& options) {
  run_argument(flags, options.run, options.trust);
  flags.flag("--near", options.near,
             "go on where a result differs from what the run has saved, as on another machine");
  flags.path("--text", "TEXT", "the run's text, if it is not where it was", "text", options.text);
  threads_flag(flags, options.threads);
}

ReplayedRun::ReplayedRun(const ReplayOptions& options)
    : folder_(run_folder(options.run)),
      trust_(options.trust),
      near_(options.near),
      states_(states_of(folder_, trust_)),
      newest_(ModelFile::open(states_.rbegin()->second)),
      text_{options.text.empty() ? newest_->text().path : options.text} {
  if (options.threads) set_num_threads(*options.threads);
  if (text_.path.empty()) text_.path = default_text();
  if (text_.path == "-")
    throw UsageError("--text: the run was trained on standard input; give its text as a file");
  text_.read();
  text_.identify("give the text of the run with --text");
  text_.encode(newest_->vocabulary());
  check_same_text(*newest_, text_);
  check_blas_buffers();
  check_threads();
  set_gemm_of_run(newest_->gemm());
  const std::unique_ptr<Trainer> newest = restored(states_.rbegin()->second);
  for (const LogRow& row : newest->history()) rows_[row.step] = row;
}

std::int64_t ReplayedRun::last_step() const { return newest_->options().steps; }

std::unique_ptr<Trainer> ReplayedRun::trainer_of(const ModelFile& file) const {
  check_saved_options(file.path(), file.config(), file.options());
  return make_trainer(*text_.corpus, file.config(), file.options());
}

std::unique_ptr<Trainer> ReplayedRun::restored(const std::filesystem::path& state) const {
  const ModelFile file = ModelFile::open(state);
  check_trusted(file, trust_);
  check_same_text(file, text_);
  std::unique_ptr<Trainer> trainer = trainer_of(file);
  file.restore(*trainer);
  return trainer;
}

void ReplayedRun::set_trainer(std::unique_ptr<Trainer> trainer) {
  trainer_ = std::move(trainer);
  trainer_->set_gradient_hook(hook_);
}

void ReplayedRun::set_hook(Hook hook) {
  hook_ = std::move(hook);
  if (trainer_) trainer_->set_gradient_hook(hook_);
}

void ReplayedRun::start_before(std::int64_t step) {
  const auto later = states_.upper_bound(step);
  set_trainer(later == states_.begin() ? trainer_of(*newest_) : restored(std::prev(later)->second));
}

void ReplayedRun::step() {
  const auto row = trainer_->step();
  grad_norm_ = trainer_->grad_norm(), lr_ = trainer_->lr();
  if (row) compare_row(*row);
  if (states_.count(trainer_->steps_done()) != 0) compare_state();
}

void ReplayedRun::go_to(std::int64_t step) {
  while (trainer_->steps_done() < step) this->step();
}

// If a run was resumed after a step, only the replay has the validation loss of that step.
void ReplayedRun::compare_row(LogRow row) {
  const auto saved = rows_.find(row.step);
  if (saved == rows_.end()) return;
  if (!saved->second.val_loss) row.val_loss.reset();
  if (row_text(saved->second) != row_text(row))
    return report(folder_.path.string() + ": step " + std::to_string(row.step) +
                  " differs from its replay: the row " + row_text(saved->second) + " is now " +
                  row_text(row));
  ++compared_rows_;
}

void ReplayedRun::report(const std::string& difference) {
  if (!near_) throw_error(difference, advice);
  if (!noted_) note(difference);
  noted_ = true;
}

// If the run was resumed at the saved state with other --steps, continues with those.
void ReplayedRun::compare_state() {
  const std::filesystem::path& path = states_.at(trainer_->steps_done());
  std::unique_ptr<Trainer> saved = restored(path);
  const std::string difference = first_difference(*saved, *trainer_);
  if (difference.empty())
    ++compared_states_;
  else
    report(path.string() + ": the replay of step " + std::to_string(trainer_->steps_done()) +
           " differs first in " + difference);
  if (!difference.empty() || have_other_rates(trainer_->options(), saved->options()))
    set_trainer(std::move(saved));
}

}  // namespace heed::app
