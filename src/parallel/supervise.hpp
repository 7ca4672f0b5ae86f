// supervise.hpp: forks the processes (ranks) of a run, and waits for them.
#pragma once

#include <functional>
#include <string>

#include "heed/parallel/shared_memory.hpp"

namespace heed {

// How a run of several processes has ended.
struct RunEnd {
  int code = 0;            // the exit code of the program
  std::string error = {};  // how a rank ended that could not report its error, or ""
};

// Forks a rank for each process of the memory and waits for them. A rank calls body() with its
// communicator and ends with the returned exit code. Call supervise() before any thread is started,
// because fork() copies only the calling thread. body() must not throw. The exit code is 0 if all
// ranks return 0, 128 + the signal if a signal stopped the run, otherwise that of rank 0, at
// least 1. If a rank fails, sets Status::failed, and kills the others if they do not end within
// some seconds. SIGINT, SIGTERM and SIGHUP set Status::stop_signal; a second SIGINT kills all
// ranks. Throws Error if a process cannot be forked.
RunEnd supervise(SharedMemory& memory, const std::function<int(Communicator&)>& body);

}  // namespace heed
