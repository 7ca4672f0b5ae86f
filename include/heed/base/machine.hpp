// machine.hpp: how many processor cores and how much memory this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace heed {

// The number of cores this process may use: its processor affinity, limited by the processor quota
// of its cgroup (rounded up). At least 1.
int usable_cores();

// Bytes of memory that this process can still allocate within the machine's memory, the limit of
// its cgroup and its data limit (ulimit -d).
std::uint64_t usable_memory();

// Bytes of virtual address space that this process can still reserve (ulimit -v); 2^62 without a
// limit.
std::uint64_t usable_addresses();

// The limits in cpu.max and memory.max of cgroup v2 (the kernel's
// Documentation/admin-guide/cgroup-v2.rst): the smallest limit of the process's cgroup and its
// ancestors; nullopt without a limit. Reads `root`/proc/self/cgroup and `root`/sys/fs/cgroup.
// Both functions throw nothing.
std::optional<double> cgroup_cores(const std::filesystem::path& root = "/");
std::optional<std::uint64_t> cgroup_memory(const std::filesystem::path& root = "/");

}  // namespace heed
