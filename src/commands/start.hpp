// start.hpp: initialisation that the programs of all commands and heed_mpi share.
#pragma once

namespace heed::app {

// Opens closed standard streams, ignores the signal of a full disk quota, sets variables of
// OpenBLAS and OpenMP and restarts the program if they were not set. Call it before any other code.
void start_program(char** argv);

// Throws Error if the limit on the stack (ulimit -s) is too low, and UsageError for an unknown
// value of HEED_ISA or HEED_GEMM, or an unknown option in HEED_TRACE, which trace_enabled() parses.
void check_environment();

}  // namespace heed::app
