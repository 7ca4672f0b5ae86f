// blame.cpp: heed blame, which finds the steps that changed an element of a parameter most, and the
// windows, tokens and operations whose gradient did it.

#include "commands/blame/blame.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "commands/common_flags.hpp"
#include "commands/first/batch_gradient.hpp"
#include "commands/terminal.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

constexpr std::size_t steps_shown = 5;
constexpr const char* part = "their part of it";

// What a step did to the element.
struct ElementStep {
  std::int64_t step;
  double before, after, gradient;  // the gradient before clipping

  double update() const { return after - before; }
};

// The indices in "[3,5]"; empty if the text is something else.
std::vector<std::size_t> indices_of(const std::string& text) {
  std::vector<std::size_t> indices;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {};
  for (const std::string& index : split(text.substr(1, text.size() - 2), ',')) {
    if (index.empty() || index.size() > 9 || index.find_first_not_of("0123456789") != index.npos)
      return {};
    indices.push_back(std::stoul(index));
  }
  return indices;
}

// The element NAME[i,j] of a parameter.
GradientElements element_of(const std::string& text, const Parameters& parameters) {
  const std::size_t bracket = std::min(text.find('['), text.size());
  const std::string name = text.substr(0, bracket);
  const Tensor* const parameter = parameters.find(name);
  if (parameter == nullptr)
    throw UsageError("NAME[i,j]: the model has no parameter " + in_quotes(name) +
                     "; ./heed inspect RUN lists them");
  const Shape shape = parameter->shape();
  const std::vector<std::size_t> indices = indices_of(text.substr(bracket));
  std::size_t index = 0;
  bool fits = indices.size() == shape.size();
  for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) {
    fits = indices[axis] < shape[axis];
    index = index * shape[axis] + indices[axis];
  }
  if (!fits)
    throw UsageError("NAME[i,j] " + in_quotes(text) + ": must be an element of " + name + " " +
                     str(shape) + ", such as " + name + (shape.size() == 1 ? "[0]" : "[0,0]"));
  return {name, index, text};
}

// Computes the steps from + 1 to `to`, until the run diverges; `divergence` is then the message.
std::vector<ElementStep> computed_steps(ReplayedRun& run, const GradientElements& element,
                                        std::int64_t from, std::int64_t to,
                                        std::string& divergence) {
  const auto value = [&] {
    return static_cast<double>(
        run.trainer().parameters().at(element.parameter).value().data()[*element.index]);
  };
  double gradient = 0;
  run.start_before(from);
  run.go_to(from);
  run.set_hook([&](const Batch&, double) {
    gradient = static_cast<double>(element.of(run.trainer())[0].data()[0]);
  });
  std::vector<ElementStep> steps;
  try {
    while (run.trainer().steps_done() < to) {
      const double before = value();
      run.step();
      steps.push_back({run.trainer().steps_done(), before, value(), gradient});
    }
  } catch (const Diverged& error) {
    divergence = error.what();
  }
  return steps;
}

void print_steps(const std::vector<ElementStep>& steps) {
  const char* const heads[] = {"before", "update", "after", "gradient"};
  std::cout << '\n' << pad_left("step", 8);
  for (const char* head : heads) std::cout << "  " << pad_left(head, 12);
  std::cout << '\n';
  for (std::size_t i = 0; i < std::min(steps_shown, steps.size()); ++i) {
    std::cout << pad_left(std::to_string(steps[i].step), 8);
    for (const double x : {steps[i].before, steps[i].update(), steps[i].after, steps[i].gradient})
      std::cout << "  " << pad_left(significant(x, 6), 12);
    std::cout << '\n';
  }
}

void print_gradient(const BatchGradient& gradient, std::int64_t step,
                    const GradientElements& element) {
  std::cout << "\nThe gradient of " << element.text << " in step " << step << " is "
            << significant(gradient.first(), 6) << ".\n";
  const GradientParts windows = gradient.windows();
  print_parts(gradient.operations(), "operations that use it", part);
  print_parts(windows, "windows of the batch", part);
  print_parts(gradient.tokens(windows.parts[0].row), "tokens of the first one", part);
}

}  // namespace

void declare_flags(Flags& flags, BlameCommand& c) {
  replay_flags(flags, c.run);
  flags.positional("NAME[i,j]", c.element,
                   "an element of a parameter, such as \"head.weight[3,5]\"",
                   "an element, such as \"head.weight[3,5]\"");
  flags.integer("--step", c.step, {1, 1e12},
                "the step to explain [the one that changed the element most]", "STEP");
  flags.example("./heed blame runs/harbour 'token.weight[3,5]'");
  flags.example("./heed blame runs/harbour 'token.weight[3,5]' --step 300");
}

int run(const BlameCommand& command) {
  ReplayedRun run(command.run);
  run.start_before(0);
  const GradientElements element = element_of(command.element, run.trainer().parameters());
  const std::int64_t last = run.last_step();
  if (command.step && *command.step > last)
    throw_usage_error("--step", std::to_string(*command.step),
                      "must be at most " + std::to_string(last) + ", the run's --steps");
  std::string divergence;
  std::vector<ElementStep> steps = computed_steps(
      run, element, command.step ? *command.step - 1 : 0, command.step.value_or(last), divergence);
  if (!divergence.empty()) std::cout << printable(divergence) << '\n';
  if (!command.step) {
    if (steps.empty()) return 1;
    std::cout << element.text << " in " << counted(steps.size(), "step") << ", from "
              << significant(steps.front().before, 6) << " to "
              << significant(steps.back().after, 6) << ". The steps that changed it most:\n";
    std::stable_sort(steps.begin(), steps.end(), [](const ElementStep& a, const ElementStep& b) {
      return std::abs(a.update()) > std::abs(b.update());
    });
  }
  if (!steps.empty()) print_steps(steps);
  const std::int64_t step = command.step.value_or(steps.empty() ? 0 : steps[0].step);
  show_gradient(run, step, element,
                [&](const BatchGradient& gradient) { print_gradient(gradient, step, element); });
  std::cout << "\nTo step through it: ./heed debug replay "
            << shell_path(run.folder().path.string()) << " --to " << step << '\n';
  return 0;
}

}  // namespace heed::app
