// measure.cpp: the measurements of heed bench without --compare.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <list>
#include <tuple>

#include "app/bench/parts.hpp"
#include "heed/array/parallel.hpp"
#include "heed/text/corpus.hpp"

namespace heed::app {
namespace {

constexpr std::size_t tokens_to_generate = 500;
constexpr std::size_t windows[] = {64, 256, 1024}, widths[] = {32, 64, 128, 256};

std::int64_t clock_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// The peak memory of this process. getrusage would count the memory of the parent before exec.
double peak_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::stod(word) / 1024;
  return 0;
}

// Runs the measurements that the command selects. Each round runs all of them once, so that a
// machine that becomes slower affects all of them.
class Bench {
 public:
  Bench(const BenchCommand& command, const std::string& path, const Corpus& corpus,
        const ShowProgress& show)
      : command_(command),
        path_(path),
        corpus_(corpus),
        show_(show),
        rounds_(command.rounds > 0 ? command.rounds : 3) {
    results_.workload = command.workload;
  }

  BenchResults run() {
    if (command_.only == BenchPart::run) {
      measure_steps_only();
      return results_;
    }
    plan();
    if (!timers_.empty()) measure_steps();
    if (wants(BenchPart::operations)) measure_operations();
    if (wants(BenchPart::generate)) measure_generation();
    if (wants(BenchPart::memory)) results_.peak_mb = run_child_for("memory", 20).peak_mb;
    if (wants(BenchPart::start)) measure_start();
    return results_;
  }

 private:
  struct Destination {  // the list that gets the result of a timer
    std::vector<StepResult>* list;
    const StepTimer* timer;
  };

  bool wants(BenchPart part) const {
    return command_.only == BenchPart::all || command_.only == part;
  }

  // The timer of this workload; equal workloads have one timer.
  StepTimer& timer(const Workload& w) {
    const auto key = [](const Workload& x) {
      return std::tuple(x.model.block_size, x.model.layers, x.model.heads, x.model.embed_dim,
                        x.batch_size, x.threads);
    };
    for (StepTimer& each : timers_)
      if (key(each.workload()) == key(w)) return each;
    return timers_.emplace_back(corpus_, w);
  }

  void plan() {
    const Workload& given = command_.workload;
    if (wants(BenchPart::step)) timer(given);
    if (wants(BenchPart::threads)) plan_threads(given);
    if (wants(BenchPart::context)) plan_context(given);
    if (wants(BenchPart::width)) plan_width(given);
    if (wants(BenchPart::small)) plan_small(given);
  }
  void add(std::vector<StepResult>& list, const Workload& w) {
    destinations_.push_back({&list, &timer(w)});
  }
  void plan_threads(Workload w) {
    for (w.threads = 1; w.threads < cores_; w.threads *= 2) add(results_.threads, w);
    w.threads = cores_;
    add(results_.threads, w);
  }
  void plan_context(Workload w) {
    for (const std::size_t window : windows) {
      w.model.block_size = window;
      w.batch_size = 3072 / window;
      if (window < corpus_.validation().size) add(results_.context, w);
    }
  }
  void plan_width(Workload w) {
    for (const std::size_t width : widths) {
      w.model.embed_dim = width;
      if (width % w.model.heads == 0) add(results_.width, w);
    }
  }
  void plan_small(Workload w) {
    w.model.layers = w.model.heads = 4;
    w.model.embed_dim = 32;
    w.model.block_size = 8;
    w.batch_size = 32;
    add(results_.small, w);
  }

  void measure_steps() {
    std::vector<double> peaks;  // one per round: the larger of before and after the first workload
    for (std::int64_t round = 0; round < rounds_; ++round) {
      for (StepTimer& each : timers_) {
        show_("round " + std::to_string(round + 1) + " of " + std::to_string(rounds_) + ": " +
              description(each.workload()));
        each.warm_up(round == 0 ? warm_up_steps(command_.steps) + 2 : 1);
        const bool first = &each == &timers_.front();
        const double before = first ? peak_sgemm_gflops() : 0;
        each.measure(command_.steps);
        if (first) peaks.push_back(std::max(before, peak_sgemm_gflops()));
      }
    }
    results_.sgemm_gflops = percentile(peaks, 0.5);
    if (wants(BenchPart::step)) results_.step = timer(command_.workload).ms();
    for (const Destination& each : destinations_)
      each.list->push_back({each.timer->workload(), each.timer->ms()});
  }
  static std::string description(const Workload& w) {
    return "a step of " + std::to_string(w.batch_size) + " x " +
           std::to_string(w.model.block_size) + ", width " + std::to_string(w.model.embed_dim) +
           ", threads " + std::to_string(w.threads);
  }

  void measure_operations() {
    show_("operations");
    StepTimer& steps = timer(command_.workload);
    steps.warm_up(3);
    results_.operations = steps.operations(command_.steps > 0 ? command_.steps : 20);
  }
  void measure_generation() {
    show_("generation");
    const StepTimer& steps = timer(command_.workload);
    std::vector<double> rates;
    for (std::int64_t round = 0; round < rounds_; ++round)
      rates.push_back(steps.generation_rate(tokens_to_generate));
    results_.generate_tokens_per_s = percentile(rates, 0.5);
  }
  void measure_start() {
    std::vector<double> ms;
    for (std::int64_t round = 0; round < rounds_; ++round) {
      const std::int64_t begin = clock_ns();
      ms.push_back(1e-6 *
                   static_cast<double>(run_child_for("start", 1).first_step_clock_ns - begin));
    }
    results_.start_ms = percentile(ms, 0.5);
  }
  ChildMeasurements run_child_for(const std::string& part, std::int64_t steps) {
    show_(part);
    return run_in_child(path_, command_.workload, steps);
  }

  // --only run: steps and some generation, so that the memory is that of a training program.
  void measure_steps_only() {
    const std::int64_t steps = command_.steps > 0 ? command_.steps : 40;
    StepTimer& step_timer = timer(command_.workload);
    step_timer.warm_up(1);
    results_.first_step_clock = clock_ns();
    step_timer.warm_up(warm_up_steps(steps) - 1);
    step_timer.measure(steps);
    results_.step = step_timer.ms();
    results_.peak_mb = peak_mb();
    results_.generate_tokens_per_s = step_timer.generation_rate(200);
  }

  const BenchCommand& command_;
  const std::string& path_;
  const Corpus& corpus_;
  const ShowProgress& show_;
  const std::int64_t rounds_;
  const int cores_ = num_threads();
  std::list<StepTimer> timers_;
  std::vector<Destination> destinations_;
  BenchResults results_;
};

}  // namespace

BenchResults measure(const BenchCommand& command, const std::string& path, const Corpus& corpus,
                     const ShowProgress& show) {
  return Bench(command, path, corpus, show).run();
}

}  // namespace heed::app
