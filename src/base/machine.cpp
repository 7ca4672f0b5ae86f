// machine.cpp: usable cores and memory, from the system, resource limits and cgroup v2.

#include "heed/base/machine.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace heed {
namespace {

namespace fs = std::filesystem;

// The folders of the process's cgroup and its ancestors. Only cgroup v2 is read: the kernel and
// systemd have deprecated version 1. /proc/self/cgroup has the line "0::/a/b" for version 2. In a
// container, /sys/fs/cgroup can be the container's own cgroup; then a and b do not exist below it.
std::vector<fs::path> cgroup_folders(const fs::path& root) {
  std::vector<fs::path> folders{root / "sys/fs/cgroup"};
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 3, "0::") != 0) continue;
    for (const fs::path& part : fs::path(line.substr(3)).relative_path()) {
      if (part == "..") break;  // the cgroup is outside of what the process can see
      folders.push_back(folders.back() / part);
    }
  }
  return folders;
}

// The smallest limit in the files with this name. A file holds one number (bytes) or two (quota
// and period, whose ratio is the limit); "max" and a missing file mean no limit.
std::optional<double> smallest_limit(const fs::path& root, const char* name) {
  std::optional<double> smallest;
  for (const fs::path& folder : cgroup_folders(root)) {
    std::ifstream file(folder / name);
    double limit = 0, period = 0;
    if (!(file >> limit)) continue;
    if (!(file >> period)) period = 1;
    if (limit > 0 && period > 0) smallest = std::min(smallest.value_or(HUGE_VAL), limit / period);
  }
  return smallest;
}

// The number of processors in the affinity mask.
int allowed_cores() {
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;  // without OpenMP, heed has one thread
#endif
}

double page_bytes() { return static_cast<double>(sysconf(_SC_PAGESIZE)); }

// One column of /proc/self/statm, in bytes: 0 address space, 1 resident memory, 5 data. Returns 0
// if the file does not exist.
double bytes_in_use(std::size_t column) {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  for (std::size_t i = 0; i <= column; ++i)
    if (!(file >> pages)) return 0;
  return pages * page_bytes();
}

// What a resource limit (getrlimit) leaves of the resource in a column of statm.
double remaining_bytes(int resource, std::size_t column) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return HUGE_VAL;
  return static_cast<double>(limit.rlim_cur) - bytes_in_use(column);
}

std::uint64_t clamped_bytes(double bytes) {
  return static_cast<std::uint64_t>(std::clamp(bytes, 0.0, 0x1p62));
}

}  // namespace

std::optional<double> cgroup_cores(const fs::path& root) { return smallest_limit(root, "cpu.max"); }

std::optional<std::uint64_t> cgroup_memory(const fs::path& root) {
  const std::optional<double> bytes = smallest_limit(root, "memory.max");
  return bytes ? std::optional(clamped_bytes(*bytes)) : std::nullopt;
}

int usable_cores() {
  const double quota = std::ceil(cgroup_cores().value_or(HUGE_VAL));
  return static_cast<int>(std::max(1.0, std::min<double>(allowed_cores(), quota)));
}

std::uint64_t usable_memory() {
  double total = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  if (const auto limit = cgroup_memory()) total = std::min(total, static_cast<double>(*limit));
  return clamped_bytes(std::min(total - bytes_in_use(1), remaining_bytes(RLIMIT_DATA, 5)));
}

std::uint64_t usable_addresses() { return clamped_bytes(remaining_bytes(RLIMIT_AS, 0)); }

}  // namespace heed
