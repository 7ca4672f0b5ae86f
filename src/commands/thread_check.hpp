// thread_check.hpp: checks that the threads of matrix products can start and allocate their
// buffers.
#pragma once

#include <string>

#include "heed/array/parallel.hpp"

namespace heed::app {

// The address space in bytes that one thread reserves: its stack and a 128 MB buffer of OpenBLAS
// (in Debian's build). OpenBLAS hangs if it cannot allocate this buffer.
constexpr double addresses_per_thread = 150e6;

// A number of bytes, rounded up: "150 MB" or "1.3 GB".
std::string size_text(double bytes);

// Throws Error if OpenBLAS could not map a buffer for each of num_threads() threads: it would then
// try again forever.
void check_blas_buffers();

// Throws Error if so many threads cannot run at once: OpenMP would end the program. Prints a note
// if OMP_NUM_THREADS is larger than the maximum, 1024. Call it before OpenMP starts its threads.
void check_threads(int threads = num_threads());

}  // namespace heed::app
