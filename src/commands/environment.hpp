// environment.hpp: the environment variables that OpenBLAS, LIBXSMM, oneDNN and OpenMP read when
// they are loaded.
#pragma once

namespace heed::app {

// Sets the environment variable, unless it is set already. Returns whether it was changed. Does
// nothing if `value` is null.
bool set_variable(const char* name, const char* value);

// Sets the variables for the threads of OpenBLAS and OpenMP and, with HEED_ISA=avx2, those that
// limit the libraries for matrix products to AVX2. Returns whether one was changed.
bool set_library_variables();

}  // namespace heed::app
