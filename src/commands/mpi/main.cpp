// main.cpp: the main function of heed_mpi, which mpirun starts once for each rank:
//   mpirun -n 4 build/release/heed_mpi train --shards 4

#include <iostream>

#include "commands/options.hpp"
#include "commands/ranks.hpp"
#include "commands/start.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "heed/base/error.hpp"
#include "parallel/mpi/communicator.hpp"

namespace {

using namespace heed::app;

TrainCommand train_command(int argc, char** argv, bool& shows_text, bool is_first) {
  Command command = parse_command_line(argc, argv);
  if (const auto* const text = std::get_if<ShowText>(&command)) {
    shows_text = true;
    if (is_first) std::cout << text->text;
    return {};
  }
  auto* const train = std::get_if<TrainCommand>(&command);
  if (train == nullptr) throw UsageError("heed_mpi runs only train; for other commands use heed");
  if (train->processes != 1)
    throw UsageError("--processes " + std::to_string(train->processes) +
                     ": mpirun has started the processes; leave it out");
  return *train;
}

int train_with_mpi(int argc, char** argv, heed::MpiCommunicator& communicator) {
  const bool is_first = communicator.rank() == 0;
  if (!heed::is_power_of_two(communicator.size()))  // collective functions need one
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
