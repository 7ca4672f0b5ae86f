// machine.hpp: how many processor cores and how much memory this process may use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace heed {

// The number of cores this process may use: the number of cores in its CPU affinity mask, or the
// CPU quota of its cgroup (rounded up) if the quota is smaller. The result is at least 1.
int usable_cores();

// Lets the calling thread use all cores of the places of OpenMP, if OpenMP has bound it to the
// first place (OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY). A program that the thread starts
// would otherwise inherit this core as its only one. Safe between fork() and exec.
void unbind_thread();

// The processor's name in /proc/cpuinfo, such as "AMD EPYC". Where it has none, the machine type
// and the processor's numbers: "aarch64, CPU implementer 0x41, CPU part 0xd0c".
std::string processor_name();

// The bytes this process can still allocate before it reaches the machine's memory, the memory
// limit of its cgroup, or its data limit (ulimit -d). If `processes` processes share the machine,
// each can use an equal part of the memory; the data limit is a limit of each process.
std::uint64_t usable_memory(std::size_t processes = 1);

// Bytes of virtual address space that this process can still reserve (ulimit -v); 2^62 if there is
// no limit.
std::uint64_t usable_addresses();

// Throws Error "WHAT 1,234 bytes, but only 567 bytes of memory are available" unless this process
// can allocate so many bytes. `what` is such as "PATH: has".
void check_memory(double bytes, const std::string& what);

// Reads "cpu.max" (in cores) or "memory.max" (in bytes) of cgroup v2 (the kernel's
// Documentation/admin-guide/cgroup-v2.rst). Returns the smallest limit of the process's cgroup and
// its ancestors, or infinity if there is no limit. Reads `root`/proc/self/cgroup and
// `root`/sys/fs/cgroup. Throws no exception.
double cgroup_limit(const char* name, const std::filesystem::path& root = "/");

}  // namespace heed
