// exchange_time.cpp: prints the median seconds in which two ranks of MPI exchange N bytes in both
// directions, for network_model.py:
//   mpirun -n 2 build/release/tests/heed_exchange_time N REPETITIONS

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "parallel/mpi/communicator.hpp"

int main(int argc, char** argv) {
  heed::MpiCommunicator communicator;
  if (argc != 3 || communicator.size() != 2) {
    std::cerr << "usage: mpirun -n 2 heed_exchange_time BYTES REPETITIONS\n";
    return 2;
  }
  using Clock = std::chrono::steady_clock;
  const auto bytes = static_cast<std::size_t>(std::atoll(argv[1]));
  const auto repetitions = static_cast<std::size_t>(std::max(1, std::atoi(argv[2])));
  std::vector<char> sent(bytes), received(bytes);
  std::vector<double> seconds;
  while (seconds.size() < repetitions) {
    const Clock::time_point start = Clock::now();
    communicator.exchange(1 - communicator.rank(), sent.data(), bytes, received.data(), bytes);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  if (communicator.rank() == 0) std::cout << seconds[repetitions / 2] << "\n";
  return 0;
}
