// threads_as_ranks.hpp: runs a function in several threads, each as one rank of a communicator.
#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "heed/parallel/shared_memory.hpp"

namespace heed_test {

// Calls body(communicator) for each rank, in a thread of its own, and rethrows the first exception.
inline void run_ranks(std::size_t processes, const std::function<void(heed::Communicator&)>& body) {
  heed::SharedMemory memory(processes);
  std::vector<std::exception_ptr> failures(processes);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < processes; ++rank)
    threads.emplace_back([&, rank] {
      heed::SharedMemoryCommunicator communicator(memory, rank);
      try {
        body(communicator);
      } catch (const heed::PeerLost&) {  // another rank has the reason
      } catch (...) {
        failures[rank] = std::current_exception();
        communicator.abandon();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace heed_test
