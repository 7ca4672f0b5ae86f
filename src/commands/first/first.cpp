// first.cpp: heed first, which finds the first step of a run at which a condition holds.

#include "commands/first/first.hpp"

#include <algorithm>
#include <deque>
#include <iostream>
#include <optional>

#include "commands/common_flags.hpp"
#include "commands/first/batch_gradient.hpp"
#include "commands/first/measure.hpp"
#include "commands/terminal.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

constexpr std::size_t steps_shown = 4;  // number of steps printed, up to the one that is found

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
  const std::string parameter = parameter_of(condition);
  show_gradient(run, *found, {parameter}, [&](const BatchGradient& gradient) {
    print_parts(gradient.windows(), "windows of the batch",
                parameter.empty() ? "their gradient" : "the gradient of " + parameter);
  });
  std::cout << "\nTo step through it: ./heed debug replay " << path << " --to " << *found << '\n';
  return 0;
} catch (const ConditionError& error) {
  throw_at(command.condition, error);
}

}  // namespace heed::app
