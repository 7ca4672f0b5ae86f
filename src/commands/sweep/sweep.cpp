// sweep.cpp: heed sweep, which trains a model for each combination of options, side by side.

#include "commands/sweep/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <thread>

#include "base/machine.hpp"
#include "base/process.hpp"
#include "commands/compare/comparison.hpp"
#include "commands/sweep/planned_run.hpp"
#include "commands/sweep/power_law.hpp"
#include "commands/terminal.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "train/fields.hpp"

namespace heed::app {
namespace {

using State = PlannedRun::State;

// The flags of heed train that change the number of parameters, and little else.
const std::set<std::string> size_flags = {"--embed-dim", "--layers",   "--heads",
                                          "--kv-heads",  "--head-dim", "--intermediate-size"};

// Trains the runs that are not finished, several at a time. Each is a process of its own, which
// saves and stops when the sweep is interrupted, and is killed with it.
class Workers {
 public:
  Workers(std::vector<PlannedRun>& runs, std::string text) : runs_(runs), text_(std::move(text)) {}

  void work(std::size_t parallel) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(parallel, runs_.size()); ++i)
      threads.emplace_back([this] {
        while (PlannedRun* const run = next()) train(*run);
      });
    for (std::thread& thread : threads) thread.join();
  }
  std::size_t failures() const { return failures_; }

 private:
  PlannedRun* next() {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (next_ < runs_.size() && received_signal() == 0) {
      PlannedRun& run = runs_[next_++];
      if (run.state == State::none || run.state == State::begun) return &run;
      ++done_;
    }
    return nullptr;
  }

  void train(PlannedRun& run) {
    const auto start = std::chrono::steady_clock::now();
    ChildProgram child;
    child.words = run.training(text_);
    child.words[0] = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "train";
    child.stop_signal = received_signal;
    std::string end;
    try {
      const ChildResult result = run_child(std::move(child));
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      end = result.code == 0 ? finished(run, time.count()) : failed(run, result);
    } catch (const Error& error) {
      end = error.what();
      ++failures_;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (received_signal() != 0) return;
    std::cout << "[" << ++done_ << " of " << runs_.size() << "] " << run.name << ": "
              << printable(end) << std::endl;
  }

  std::string finished(PlannedRun& run, double seconds) {
    run.state = State::finished;
    const std::vector<LogRow> rows = read_log_rows(run.folder.loss_csv().string()).rows;
    return "validation loss " + decimal(rows.back().val_loss.value_or(NAN), 4) + ", " +
           duration(seconds);
  }

  std::string failed(PlannedRun& run, const ChildResult& result) {
    std::error_code ignored;
    if (std::filesystem::exists(run.folder.loss_csv(), ignored) &&
        read_run(run.folder.path.string()).diverged)
      run.state = State::diverged;
    else
      ++failures_;
    return result.last_error().empty() ? "ended with code " + std::to_string(result.code)
                                       : result.last_error();
  }

  std::vector<PlannedRun>& runs_;
  std::string text_;
  std::mutex mutex_;
  std::size_t next_ = 0, done_ = 0;
  std::atomic<std::size_t> failures_ = 0;
};

std::size_t count(const std::vector<PlannedRun>& runs, State state) {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [&](const PlannedRun& run) { return run.state == state; }));
}

void print_plan(const std::vector<PlannedRun>& runs, const std::string& folder,
                std::size_t parallel) {
  std::cout << "sweep  " << printable(folder) << ": " << counted(runs.size(), "run");
  const auto print = [&](State state, const char* what) {
    if (const std::size_t n = count(runs, state); n > 0) std::cout << ", " << n << " " << what;
  };
  print(State::finished, "finished before");
  print(State::diverged, "diverged before");
  print(State::begun, "to resume");
  std::cout << "; " << parallel << " at a time, on one thread each" << std::endl;
  if (runs.size() == 1)
    note(
        "one run has nothing to be compared with; give several values, such as --lr 3e-4,1e-3, or "
        "--seeds 3");
}

// ---- --fit

// The sizes of the finished groups in ascending order, with the losses of the seeds.
std::vector<SizeLosses> sizes_of(const std::vector<RunGroup>& groups, std::size_t seeds) {
  std::vector<SizeLosses> sizes;
  for (const RunGroup& group : groups) {
    if (group.final() == nullptr || group.final()->step != group.first().steps ||
        group.runs.size() != seeds)
      continue;
    SizeLosses size{static_cast<double>(group.first().parameters), {}};
    for (const ComparedRun& run : group.runs) size.losses.push_back(*run.rows.back().val_loss);
    sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end(),
            [](const SizeLosses& a, const SizeLosses& b) { return a.parameters < b.parameters; });
  return sizes;
}

std::string interval_text(const PredictedLoss& p) {
  return decimal(p.loss, 4) + ", 95 % interval " + decimal(p.low, 4) + " to " + decimal(p.high, 4);
}

// The number of parameters with twice the largest width.
double next_size(const std::vector<RunGroup>& groups) {
  nn::GptConfig largest;
  largest.embed_dim = 0;
  for (const RunGroup& group : groups) {
    if (!group.first().has_checkpoint()) continue;
    const auto config = ModelFile::open(group.first().folder.checkpoint()).config();
    if (config.embed_dim > largest.embed_dim) largest = config;
  }
  largest.embed_dim *= 2;
  return nn::parameter_count<double>(largest);
}

void print_fit(const std::vector<RunGroup>& groups, std::size_t seeds) {
  std::vector<SizeLosses> sizes = sizes_of(groups, seeds);
  if (sizes.size() < 3)
    throw_error("--fit needs three sizes with all their seeds finished, and has ", sizes.size(),
                "; see the errors above, or give more values of --embed-dim");
  const PowerLaw law = fitted(sizes);
  std::cout << "\nfit    loss = " << significant(law.factor, 4)
            << " N^-b, N parameters, b = " << decimal(law.exponent, 4);
  if (seeds > 1)
    std::cout << " +- " << decimal(law.exponent_error, 4) << " (standard error over " << seeds
              << " seeds)";
  std::cout << "\n"
            << pad_left("parameters", 17) << pad_left("loss", 10) << pad_left("fit", 10) << "\n";
  for (const SizeLosses& size : sizes)
    std::cout << pad_left(grouped(size.parameters), 17) << pad_left(decimal(size.mean(), 4), 10)
              << pad_left(decimal(law.at(size.parameters), 4), 10) << "\n";
  if (law.exponent <= 0)
    std::cout
        << "       The loss does not fall with the size: this is no power law. More --steps or "
           "another --lr may change it.\n";
  const double next = next_size(groups);
  std::cout << "next   twice the largest width, " << grouped(next)
            << " parameters: " << interval_text(predicted(sizes, next)) << "\n";
  if (sizes.size() == 3) {
    std::cout << "       Add that width to check it, with the same command.\n";
    return;
  }
  const SizeLosses last = sizes.back();
  sizes.pop_back();
  const PredictedLoss p = predicted(sizes, last.parameters);
  std::cout << "check  " << grouped(last.parameters) << " parameters, predicted from the smaller "
            << "sizes: " << interval_text(p) << "; measured: " << decimal(last.mean(), 4) << ", "
            << (p.contains(last.mean()) ? "inside" : "outside") << "\n";
}

std::string default_folder(const SweepCommand& command) {
  const std::string text = command.text.empty() ? default_text() : command.text;
  return "runs/" + std::filesystem::path(text).stem().string() + "-sweep";
}

}  // namespace

SweepCommand::SweepCommand() : parallel(static_cast<std::size_t>(usable_cores())) {}

void declare_flags(Flags& flags, SweepCommand& c) {
  flags.positional("TEXT", c.text, "a text file in UTF-8 [harbour.txt]");
  flags.group("Sweep");
  flags.path("--out", "DIR", "folder of the runs [runs/NAME-sweep]", "folder", c.out);
  flags.integer("--seeds", c.seeds, {1, 1000}, "runs of each setting, with seeds from --seed on");
  flags.integer("--seed", c.seed, seeds, "the first seed");
  flags.integer("--parallel", c.parallel, {1, 1024}, "runs side by side, on one thread each");
  flags.flag("--fit", c.fit,
             "fit a power law of the loss to at least three sizes, and predict the next one");
  flags.path("--page", "FILE", "write the comparison as an HTML file", "file", c.page);
  flags.group("Options of heed train, several values separated by commas");
  const auto list = [&](const std::string& flag, const std::string& help) {
    flags.text(flag, "X,...", help, c.lists[flag]);
  };
  nn::GptConfig model;
  TrainOptions training;
  const auto list_field = [&](const Field& field, auto...) {
    if (field.name != std::string_view("seed")) list(flag_of(field), field.help);
  };
  each_size(model, list_field);
  each_optional_size(model, list_field);
  each_variant(model, [&](const Variant& variant, auto&) {
    list(flag_of(variant.name), joined(variant.values, " or "));
  });
  list_field(rope_theta_field);
  list("--tokenizer", "character, byte or bpe");
  list("--vocab-size", "number of tokens with --tokenizer bpe");
  each_option(training, list_field);
  flags.footer(
      "Trains a model for each combination of the values and each seed, and compares them: see "
      "heed "
      "compare. The same command continues a sweep that was stopped, and skips its finished runs.");
  flags.example("./heed sweep --lr 3e-4,1e-3,3e-3 --seeds 3 --steps 500");
  flags.example("./heed sweep my.txt --embed-dim 32,64,128 --seeds 3 --fit");
}

void check_flags(const SweepCommand& c, const std::set<std::string>& given) {
  if (c.text == "-") throw UsageError("TEXT -: every run reads the text; give a file");
  bool has_sizes = false;
  for (const auto& [flag, list] : c.lists) {
    if (given.count(flag) != 0 && list.empty()) throw_usage_error(flag, "", "needs a value");
    const auto values = std::count(list.begin(), list.end(), ',') + 1;
    if (!c.fit || values == 1) continue;
    if (size_flags.count(flag) == 0)
      throw UsageError("--fit compares sizes, such as --embed-dim 32,64,128; give one " + flag);
    has_sizes = has_sizes || values >= 3;
  }
  if (c.fit && !has_sizes)
    throw UsageError("--fit needs at least three sizes, such as --embed-dim 32,64,128");
}

int run(const SweepCommand& command) {
  const std::string folder = command.out.empty() ? default_folder(command) : command.out;
  std::vector<PlannedRun> runs = planned_runs(command, folder);
  make_folder(folder);
  print_plan(runs, folder, command.parallel);
  catch_stop_signals();
  Workers workers(runs, command.text);
  workers.work(command.parallel);
  if (const int signal = received_signal(); signal != 0) {
    note("interrupted; the same command continues the sweep in " + printable(folder));
    return 128 + signal;
  }
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const PlannedRun& each : runs)
    if (std::filesystem::exists(each.folder.loss_csv(), ignored))
      folders.push_back(each.folder.path.string());
  if (folders.empty()) return 1;
  const RunComparison comparison(folders, "step");
  std::cout << '\n';
  comparison.show(folder, command.page);
  if (command.fit) print_fit(comparison.groups(), command.seeds);
  return workers.failures() == 0 ? 0 : 1;
}

}  // namespace heed::app
