// mpirun.hpp: starts heed_mpi by mpirun. Tests are skipped unless the build has heed_mpi
// (HEED_MPI).
#pragma once

#include <string>

#include "commands/heed_program.hpp"

namespace heed_test {

inline bool has_mpi() {
  const bool usable = std::filesystem::exists(HEED_BINARY_DIR "/heed_mpi") &&
                      std::filesystem::exists("/usr/bin/mpirun");
  if (!usable) WARN("skipped: heed_mpi is not built; ./heed setup --mpi builds it");
  return usable;
}

// More ranks than cores, and as root: Open MPI needs permission for both.
inline Call mpirun_call(const Sandbox& sandbox, const Arguments& words) {
  Call call = sandbox.call({});
  call.arguments = Arguments{"/usr/bin/mpirun"} + words;
  call.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                      {"OMPI_MCA_hwloc_base_binding_policy", "none"}};
  return call;
}

inline Finished mpirun(const Sandbox& sandbox, const Arguments& words) {
  return run(mpirun_call(sandbox, words));
}

}  // namespace heed_test
