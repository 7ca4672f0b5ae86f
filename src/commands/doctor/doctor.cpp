// doctor.cpp: heed doctor, which says what is likely wrong with a training run.

#include "commands/doctor/doctor.hpp"

#include <algorithm>
#include <iostream>

#include "commands/common_flags.hpp"
#include "commands/doctor/families.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

constexpr std::size_t most_findings = 3;

// The names of all findings, in the order in which they are printed: a cause before its effects. A
// text in another encoding explains a bad loss, and a bad loss does not explain the text.
const std::vector<std::string> order = {"text not what it seems",
                                        "learning rate too high",
                                        "diverged",
                                        "context unused",
                                        "duplicate heads",
                                        "dead head",
                                        "tied weights",
                                        "frozen weights",
                                        "leak",
                                        "validation text unlike the training text",
                                        "warm-up longer than the run",
                                        "saturated softmax",
                                        "gradients always clipped",
                                        "overfitting",
                                        "learning rate too low",
                                        "training too short"};

Findings curve_findings(const Curve& curve) {
  const std::optional<Finding> overfitted = overfitting(curve);
  Findings findings;
  for (const auto& finding :
       {divergence(curve), long_warmup(curve), high_rate(curve), low_rate(curve), overfitted,
        constant_clipping(curve), overfitted ? std::nullopt : short_training(curve)})
    if (finding) findings.push_back(*finding);
  return findings;
}

Findings all_findings(const ExaminedRun& run) {
  Findings all = run.curve ? curve_findings(*run.curve) : Findings();
  for (const auto family : {text_findings, weight_findings, head_findings, context_findings}) {
    const Findings found = family(run);
    all.insert(all.end(), found.begin(), found.end());
  }
  const auto rank = [](const Finding& finding) {
    return std::find(order.begin(), order.end(), finding.name);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
  return all;
}

void print_run(const ExaminedRun& run) {
  std::cout << "run    " << printable(run.folder.path.string());
  if (run.curve) {
    const Curve& c = *run.curve;
    std::cout << ": step " << c.rows.back().step
              << (c.options ? " of " + std::to_string(c.options->steps) : "") << ", "
              << (c.last_validated() == nullptr ? "training" : "validation") << " loss "
              << decimal(c.final_loss(), 4);
    if (c.options) std::cout << "\nloss   a uniform guess has " << decimal(c.uniform, 4);
    if (run.text)
      std::cout << ", frequencies of tokens give " << decimal(c.unigram, 4) << ", of pairs "
                << decimal(c.bigram, 4);
  }
  std::cout << '\n';
  for (const std::string& missing : run.missing)
    std::cout << "not examined: " << printable(missing) << '\n';
}

}  // namespace

void declare_flags(Flags& flags, DoctorCommand& c) {
  run_argument(flags, c.run, c.trust);
  flags.path("--text", "TEXT", "the run's text, if it is not where it was", "text", c.text);
  flags.footer(
      "It reads loss.csv, the checkpoint and the text, and prints at most three findings, a cause "
      "before its effects, each with its evidence and a command that decides. docs/training.md "
      "lists the findings; docs/measurements.md, how often they are right.");
  flags.example("./heed doctor runs/harbour");
  flags.example("./heed doctor runs/my_novel --text moved/my_novel.txt");
}

int run(const DoctorCommand& command) {
  const ExaminedRun examined(command);
  const Findings findings = all_findings(examined);
  print_run(examined);
  if (findings.empty()) std::cout << "\nNothing found.\n";
  for (std::size_t i = 0; i < std::min(most_findings, findings.size()); ++i) {
    const Finding& finding = findings[i];
    std::cout << '\n' << i + 1 << ". " << finding.name << "\n   " << printable(finding.evidence);
    if (!finding.experiment.empty())
      std::cout << "\n   to decide: " << printable(finding.experiment);
    std::cout << '\n';
  }
  return 0;
}

}  // namespace heed::app
