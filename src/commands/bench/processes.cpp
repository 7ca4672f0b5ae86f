// processes.cpp: heed bench --processes, which times training steps in several processes.

#include "commands/bench/processes.hpp"

#include <sys/mman.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>

#include "commands/ranks.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/draw/table.hpp"
#include "heed/train/data_parallel.hpp"

namespace heed::app {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Measurements of rank 0.
struct Measured {
  double ms, exchange_ms, waiting_ms, bytes;  // ms and bytes per step
  double array_mb;                            // peak memory of all arrays of a rank
};

// Memory that the ranks share with this process, which forks them.
Measured& shared_result() {
  static void* const memory =
      mmap(nullptr, sizeof(Measured), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw_error("heed bench: no memory to share with its processes");
  return *static_cast<Measured*>(memory);
}

// Runs body() in each rank, with one thread, and returns the result of rank 0.
Measured measure_in_ranks(std::size_t processes,
                          const std::function<Measured(Communicator&)>& body) {
  Measured& result = shared_result();
  const int code = run_processes(processes, [&](Communicator& communicator) {
    set_num_threads(1);
    const Measured own = body(communicator);
    if (communicator.rank() == 0) result = own;
    return received_signal() == 0 ? 0 : 128 + received_signal();
  });
  if (code != 0) throw_error("heed bench: a process has ended with code ", code);
  return result;
}

// A configuration in which training steps are timed.
struct Plan {
  std::size_t processes, shards;
  bool overlap = true, zero = false;
  std::vector<Measured> rounds = {};

  std::string name() const {
    return std::to_string(processes) + (overlap ? "" : ", no overlap") + (zero ? ", ZeRO" : "");
  }
  double median(double Measured::*member) const {
    std::vector<double> values;
    for (const Measured& round : rounds) values.push_back(round.*member);
    return percentile(values, 0.5);
  }
};

TrainOptions endless_training(std::size_t batch_size, std::size_t shards) {
  TrainOptions options;
  options.batch_size = batch_size;
  options.shards = shards;
  options.steps = options.eval_every = options.log_every = std::numeric_limits<std::int64_t>::max();
  return options;
}

// Times steps until a signal stops them. `parallel` is the trainer, or null if it has one shard.
Measured time_steps(Trainer& trainer, const DataParallel* parallel, std::int64_t steps) {
  const auto goes_on = [&] {  // all processes must stop after the same step
    return (parallel != nullptr ? parallel->stop_signal() : received_signal()) == 0;
  };
  for (std::int64_t i = 0; i < steps / 5 + 2 && goes_on(); ++i) trainer.step();
  const auto statistics = [&] {
    return parallel != nullptr ? parallel->exchange_statistics() : ExchangeStatistics();
  };
  const ExchangeStatistics before = statistics();
  std::vector<double> ms;
  for (std::int64_t i = 0; i == 0 || (i < steps && goes_on()); ++i) {
    const auto start = Clock::now();
    trainer.step();
    ms.push_back(ms_since(start));
  }
  const ExchangeStatistics after = statistics();
  const auto n = static_cast<double>(steps);
  return {percentile(ms, 0.5), 1e3 * (after.exchange_seconds - before.exchange_seconds) / n,
          1e3 * (after.waiting_seconds - before.waiting_seconds) / n,
          (after.bytes_sent - before.bytes_sent) / n,
          static_cast<double>(peak_allocated_bytes()) / 0x1p20};
}

Measured measure(const Plan& plan, const Workload& workload, const Corpus& corpus,
                 std::int64_t steps) {
  return measure_in_ranks(plan.processes, [&](Communicator& communicator) {
    Distribution distribution{&communicator, {}, plan.zero, received_signal};
    distribution.exchange.overlap = plan.overlap;
    const auto trainer = make_trainer(
        corpus, workload.model, endless_training(workload.batch_size, plan.shards), distribution);
    return time_steps(*trainer, dynamic_cast<const DataParallel*>(trainer.get()), steps);
  });
}

// The latency and the time per byte of an exchange in which both partners send and receive.
struct Link {
  double a = 0, b = 0;  // latency in seconds, seconds per byte
};

double exchange_ms(Communicator& communicator, std::size_t bytes, int repetitions) {
  std::vector<char> sent(bytes), received(bytes);
  std::vector<double> ms;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    communicator.exchange(1 - communicator.rank(), sent.data(), bytes, received.data(), bytes);
    ms.push_back(ms_since(start));
  }
  return percentile(ms, 0.5);
}

Link measure_link() {
  constexpr std::size_t large = 4'000'000;
  const Measured link = measure_in_ranks(2, [&](Communicator& communicator) {
    const double small_ms = exchange_ms(communicator, 8, 2000);
    return Measured{small_ms, exchange_ms(communicator, large, 60), 0, 0, 0};
  });
  const double a = 1e-3 * link.ms;
  return {a, std::max(0.0, 1e-3 * link.exchange_ms - a) / large};
}

// T(P) = T(1) / P + 2 a log2 P + 2 (P - 1) / P n b, in milliseconds.
double model_ms(double alone_ms, double bytes, double P, const Link& link) {
  return alone_ms / P + 1e3 * (2 * link.a * std::log2(P) + 2 * (P - 1) / P * bytes * link.b);
}

std::string row(const std::vector<std::string>& cells) {
  std::string line = pad_right(cells[0], 22);
  for (std::size_t i = 1; i < cells.size(); ++i) line += pad_left(cells[i], 12);
  return line + "\n";
}

std::string measured_table(const std::vector<Plan>& plans) {
  std::string text = row({"processes", "shards", "ms/step", "speed-up", "exchange ms", "waiting",
                          "sent MB", "arrays MB"});
  const double alone = plans[0].median(&Measured::ms);
  for (const Plan& plan : plans) {
    const double ms = plan.median(&Measured::ms);
    text += row({plan.name(), std::to_string(plan.shards), decimal(ms, 1), decimal(alone / ms, 2),
                 decimal(plan.median(&Measured::exchange_ms), 2),
                 decimal(100 * plan.median(&Measured::waiting_ms) / ms, 1) + " %",
                 decimal(plan.median(&Measured::bytes) * 1e-6, 2),
                 decimal(plan.median(&Measured::array_mb), 1)});
  }
  return text;
}

std::string model_table(double alone_ms, double bytes, const Link& measured) {
  const std::pair<std::string, Link> links[] = {{"this machine's memory", measured},
                                                {"25 Gbit/s, 20 us", {20e-6, 8 / 25e9}},
                                                {"1 Gbit/s, 100 us", {100e-6, 8 / 1e9}}};
  std::string text =
      "a model, not a measurement: T(P) = T(1) / P + 2 a log2 P + 2 (P - 1) / P n b, one process "
      "a node,\nwith n = " +
      decimal(bytes * 1e-6, 2) + " MB; measured here: a = " + decimal(1e6 * measured.a, 1) +
      " us, 1 / b = " + decimal(1e-9 / measured.b, 2) + " GB/s; the other links are assumed\n";
  text += row({"ms/step", "P = 1", "P = 2", "P = 4", "P = 8", "P = 64"});
  for (const auto& [name, link] : links) {
    std::vector<std::string> cells{name};
    for (const double P : {1, 2, 4, 8, 64})
      cells.push_back(decimal(model_ms(alone_ms, bytes, P, link), 1));
    text += row(cells);
  }
  return text;
}

std::vector<Plan> plans_for(std::size_t batch_size) {
  std::vector<Plan> plans;
  for (const Plan& plan : {Plan{1, 1}, Plan{1, 2}, Plan{1, 4}, Plan{2, 2}, Plan{2, 2, false},
                           Plan{2, 2, true, true}, Plan{2, 4}, Plan{4, 4}})
    if (batch_size % plan.shards == 0) plans.push_back(plan);
  return plans;
}

}  // namespace

void bench_processes(const BenchCommand& command, const Corpus& corpus, LiveLine& line,
                     const std::function<double(std::int64_t steps)>& peer_ms) {
  const std::int64_t steps = command.steps.value_or(20), rounds = command.rounds.value_or(5);
  std::vector<Plan> plans = plans_for(command.workload.batch_size);
  if (peer_ms) plans = {Plan{2, 2}};
  if (peer_ms && command.workload.batch_size % 2 != 0)
    throw_error("--batch-size ", command.workload.batch_size, ": two processes need an even one");
  std::vector<double> peers, ratios;
  for (std::int64_t round = 0; round < rounds; ++round) {
    line.show("measuring, round " + std::to_string(round + 1) + " of " + std::to_string(rounds));
    for (Plan& plan : plans) plan.rounds.push_back(measure(plan, command.workload, corpus, steps));
    if (!peer_ms) continue;
    peers.push_back(peer_ms(steps));
    ratios.push_back(plans[0].rounds.back().ms / peers.back());
  }
  line.wipe();
  if (peer_ms) {
    std::cout << "2 processes of 1 thread, median of " << rounds << " rounds of " << steps
              << " steps\nheed                        "
              << decimal(plans[0].median(&Measured::ms), 1)
              << " ms/step\nDistributedDataParallel     " << decimal(percentile(peers, 0.5), 1)
              << " ms/step\nratio                       " << decimal(percentile(ratios, 0.5), 3)
              << " (" << decimal(percentile(ratios, 0), 3) << " to "
              << decimal(percentile(ratios, 1), 3) << ")\n";
    return;
  }
  Parameters parameters;
  Generator generator(0);
  const nn::Gpt model(Scope(parameters, generator), command.workload.model);
  const double bytes = static_cast<double>(parameters.count() * sizeof(Real));
  std::cout << "each process has 1 thread; median of " << rounds << " rounds of " << steps
            << " steps\n"
            << measured_table(plans) << "\n"
            << model_table(plans[0].median(&Measured::ms), bytes, measure_link());
}

}  // namespace heed::app
