// machine.hpp: what this machine gives a process: cores and memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace heed {

// The cores this process may use at once: those it may run on, and no more than its cgroup's share
// of processor time, rounded up. At least 1.
int usable_cores();

// Bytes of memory this process can have beside those it has: the smallest of the machine's memory,
// its cgroup's limit and its own limit on data (ulimit -d).
std::uint64_t usable_memory();

// Bytes of addresses it can have beside those it has (ulimit -v), most of which need no memory;
// 2^62 without a limit.
std::uint64_t usable_addresses();

// What cgroups allow (the kernel's Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst): the
// smallest limit of the process's own group and of those it is in; nothing where there is none.
// Version 2: cpu.max, memory.max. Version 1: cpu.cfs_quota_us, memory.limit_in_bytes. Where the
// groups are is read from `root`/proc/self/cgroup and mountinfo. Throw nothing.
std::optional<double> cgroup_cores(const std::filesystem::path& root = "/");
std::optional<std::uint64_t> cgroup_memory(const std::filesystem::path& root = "/");

}  // namespace heed
