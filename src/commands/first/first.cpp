// first.cpp: heed first, which finds the first step of a run at which a condition holds.

#include "commands/first/first.hpp"

#include <algorithm>
#include <deque>
#include <iostream>
#include <optional>

#include "commands/common_flags.hpp"
#include "commands/first/measure.hpp"
#include "commands/terminal.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

constexpr std::size_t steps_shown = 4;    // number of steps printed, up to the one that is found
constexpr std::size_t windows_shown = 5;  // number of windows of its batch that are printed

// The measured values of one step.
struct MeasuredStep {
  std::int64_t step;
  std::vector<double> values;
};

// Computes steps of the run again and tells where the condition holds.
struct Search {
  ReplayedRun& run;
  Condition& condition;
  StepMeasures measures{condition};
  std::deque<MeasuredStep> latest = {};
  std::string divergence = {};  // the message of the step that diverged
  std::int64_t computed = 0;    // number of computed steps

  Search(ReplayedRun& replayed, Condition& wanted) : run(replayed), condition(wanted) {
    run.set_hook(
        [this](const Batch& batch, double loss) { measures.measure_gradients(batch, loss); });
  }

  void start_before(std::int64_t step) {
    run.start_before(step);
    latest.clear();
  }

  // Computes the next step. Returns whether the condition holds at this step.
  bool holds_at_next_step() {
    const std::int64_t step = run.trainer().steps_done() + 1;
    measures.begin(run.trainer());
    ++computed;
    try {
      run.step();
    } catch (const Diverged& error) {
      divergence = error.what();
      keep(step);
      return condition.is_not_finite() || condition.holds();
    }
    measures.begin(run.trainer());  // a saved state gives the run another trainer
    measures.measure_weights();
    keep(step);
    return condition.holds();
  }

  void keep(std::int64_t step) {
    MeasuredStep measured{step, {}};
    for (const Measurement& m : condition.measurements()) measured.values.push_back(m.value);
    latest.push_back(measured);
    if (latest.size() > steps_shown) latest.pop_front();
  }

  // The first step above `from`, up to `to`, at which the condition holds.
  std::optional<std::int64_t> among(std::int64_t from, std::int64_t to) {
    start_before(from);
    while (run.trainer().steps_done() < to && divergence.empty())
      if (holds_at_next_step()) return latest.back().step;
    return {};
  }

  // The last saved state before the first one after which the condition holds: looks at one step
  // from each state.
  std::int64_t last_state_before(std::int64_t last) {
    std::int64_t before = 0;
    for (const auto& [step, path] : run.states()) {
      if (step >= last) break;
      start_before(step);
      if (holds_at_next_step()) break;
      before = step;
    }
    divergence.clear();
    return before;
  }
};

std::string one_line(const std::string& text, std::size_t columns) {
  return "\"" + truncated(printable(text), columns - 2) + "\"";
}

void print_values(const Search& search, std::int64_t found) {
  if (search.condition.measurements().empty()) return;
  std::cout << '\n' << pad_left("step", 8);
  for (const Measurement& m : search.condition.measurements())
    std::cout << "  " << pad_left(m.text, 12);
  std::cout << '\n';
  for (const MeasuredStep& measured : search.latest) {
    std::cout << pad_left(std::to_string(measured.step), 8);
    std::size_t i = 0;
    for (const Measurement& m : search.condition.measurements())
      std::cout << "  "
                << pad_left(significant(measured.values[i++], 6),
                            std::max<std::size_t>(12, m.text.size()));
    std::cout << (measured.step == found ? "  <- the first\n" : "\n");
  }
}

// The parameter of the first gradient or weight in the condition; "" if it means all parameters.
std::string parameter_of(Condition& condition) {
  for (const Measurement& m : condition.measurements())
    if (!m.parameter.empty()) return m.parameter;
  return "";
}

void print_windows(ReplayedRun& run, const WindowGradients& gradients, const Batch& batch,
                   const std::string& parameter) {
  const Vocabulary vocabulary = run.vocabulary();
  std::cout << "\nThe " << batch.inputs.shape(0) << " windows of the batch, by the norm of "
            << (parameter.empty() ? "their gradient" : "the gradient of " + parameter)
            << " (they add up to the batch's gradient\nto within "
            << significant(gradients.difference, 3) << " of its largest element):\n"
            << "   norm   share    loss  text\n";
  for (std::size_t i = 0; i < std::min(windows_shown, gradients.windows.size()); ++i) {
    const WindowGradient& window = gradients.windows[i];
    const std::size_t T = batch.inputs.shape(1);
    const std::int64_t* const begin = batch.inputs.data() + window.row * T;
    std::cout << pad_left(significant(window.norm, 3), 7)
              << pad_left(decimal(100 * window.share, 0), 6) << " %"
              << pad_left(decimal(window.loss, 3), 8) << "  "
              << one_line(vocabulary.decode({begin, begin + T}), 64) << '\n';
  }
}

// Computes the step once more, and prints the windows of its batch.
void show_windows(ReplayedRun& run, std::int64_t step, const std::string& parameter) {
  run.set_hook({});
  run.start_before(step - 1);
  run.go_to(step - 1);
  if (run.trainer().options().dropout > 0) return;  // a window alone has other dropout masks
  run.set_hook([&](const Batch& batch, double) {
    print_windows(run, window_gradients(run.trainer(), batch, parameter), batch, parameter);
    throw Diverged("the gradients of this step are used up");
  });
  try {
    run.step();
  } catch (const Diverged&) {
  }
}

[[noreturn]] void throw_at(const std::string& condition, const ConditionError& error) {
  std::cerr << printable(condition) << '\n' << std::string(error.position, ' ') << "^\n";
  throw UsageError("CONDITION, column " + std::to_string(error.position + 1) + ": " + error.what());
}

}  // namespace

void declare_flags(Flags& flags, FirstCommand& c) {
  replay_flags(flags, c.run);
  flags.positional("CONDITION", c.condition, "what must hold, such as \"grad_norm > 10\"",
                   "a condition, such as \"grad_norm > 10\"");
  flags.flag("--every-step", c.every_step,
             "compute all steps from the beginning, also those before a state at which the "
             "condition does not hold");
  flags.footer(
      "CONDITION compares numbers, with + - * / and ( ), or is \"not finite\":\n"
      "  train_loss, grad_norm, lr, median (of the last 20 losses in loss.csv)\n"
      "  norm(X), max(X), min(X), mean(X), max(abs(X))\n"
      "  X: weights, grad, NAME, grad NAME, update NAME; heed inspect lists the NAMEs\n"
      "  entropy(attention LAYER.HEAD) in nats, the mean over the batch");
  flags.example("./heed first runs/harbour 'train_loss > 1.5 * median'");
  flags.example("./heed first runs/harbour 'norm(grad head.weight) > 10' --every-step");
}

int run(const FirstCommand& command) try {
  Condition condition(command.condition);
  ReplayedRun run(command.run);
  run.start_before(0);
  condition.check(run.trainer().parameters(), run.trainer().model().config);
  Search search(run, condition);
  const std::int64_t last = run.last_step();
  const std::int64_t from = command.every_step ? 0 : search.last_state_before(last);
  std::optional<std::int64_t> found = search.among(from, last);
  if (!found && from > 0 && search.divergence.empty()) found = search.among(0, from);
  if (!found) {
    std::cout << "no step from 1 to " << last << ": " << printable(command.condition) << '\n';
    if (!search.divergence.empty()) std::cout << printable(search.divergence) << '\n';
    return 1;
  }
  const std::string path = shell_path(run.folder().path.string());
  std::cout << "step " << *found << ": " << printable(command.condition) << " (" << search.computed
            << " steps computed again)\n";
  if (from > 0 && *found > from)
    std::cout << "At the states saved up to step " << from
              << " it does not hold; --every-step looks "
              << "at each step between them.\n";
  if (const std::int64_t saved = run.states().rbegin()->first; *found > saved)
    std::cout << "The run has saved " << saved << " steps; the later ones are computed as it would "
              << "have done.\n";
  if (!search.divergence.empty()) std::cout << printable(search.divergence) << '\n';
  print_values(search, *found);
  show_windows(run, *found, parameter_of(condition));
  std::cout << "\nTo step through it: ./heed debug replay " << path << " --to " << *found << '\n';
  return 0;
} catch (const ConditionError& error) {
  throw_at(command.condition, error);
}

}  // namespace heed::app
