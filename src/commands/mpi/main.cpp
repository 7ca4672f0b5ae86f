// main.cpp: the main function of heed_mpi, which mpirun starts once for each rank:
//   mpirun -n 4 build/release/heed_mpi train --shards 4

#include <algorithm>
#include <iostream>

#include "commands/commands.hpp"
#include "commands/ranks.hpp"
#include "commands/start.hpp"
#include "commands/train/train.hpp"
#include "heed/base/error.hpp"
#include "heed/debug/timer.hpp"
#include "parallel/mpi/communicator.hpp"

namespace {

using namespace heed::app;

TrainCommand train_command(int argc, char** argv, bool& shows_text, bool is_first) {
  const Arguments arguments(argv + std::min(argc, 1), argv + argc);
  const auto show = [&](const ShowText& shown) {
    shows_text = true;
    if (is_first) std::cout << shown.text;
    return TrainCommand();
  };
  if (arguments.empty() || find_command(arguments[0]) == nullptr)
    return show(read_without_command(arguments));
  if (arguments[0] != "train")
    throw UsageError("heed_mpi runs only train; for other commands use heed");
  const auto parsed_command = parsed<TrainCommand>({arguments.begin() + 1, arguments.end()});
  if (const auto* const text = std::get_if<ShowText>(&parsed_command)) return show(*text);
  const auto& train = std::get<TrainCommand>(parsed_command);
  if (train.processes != 1)
    throw UsageError("--processes " + std::to_string(train.processes) +
                     ": mpirun has started the processes; leave it out");
  return train;
}

int train_with_mpi(int argc, char** argv, heed::MpiCommunicator& communicator) {
  const bool is_first = communicator.rank() == 0;
  if (!heed::is_power_of_two(communicator.size()))  // required by collective functions
    throw AgreedError(2, "mpirun has started " + std::to_string(communicator.size()) +
                             " ranks; start a power of two");
  TrainCommand command;
  bool shows_text = false;
  agree(communicator, [&] {
    command = train_command(argc, argv, shows_text, is_first);
    check_environment();
    return Facts{{"the command", shows_text ? "--help" : "train"}};
  });
  if (shows_text) return 0;
  command.overlap = command.overlap && communicator.allows_threads();
  return train(command, communicator);
}

}  // namespace

int main(int argc, char** argv) {
  start_program(argv);
  heed::MpiCommunicator communicator;
  const int code = run_rank(
      communicator, [] { return true; }, [&] { return train_with_mpi(argc, argv, communicator); });
  std::cout.flush();
  if (communicator.rank() != 0) heed::clear_operation_times();  // rank 0 prints HEED_TRACE=time
  if (communicator.abandoned()) communicator.end_all_ranks(code);
  return code;
}
