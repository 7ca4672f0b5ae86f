// machine.cpp: usable cores and memory, from the system, resource limits and cgroup v2.

#include "base/machine.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <sched.h>
#endif

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed {
namespace {

namespace fs = std::filesystem;

// The folders of the process's cgroup and of its parent cgroups. Only cgroup v2 is read: the kernel
// and systemd have deprecated version 1. /proc/self/cgroup has the line "0::/a/b" for version 2. In
// a container, /sys/fs/cgroup can be the container's own cgroup; it then has no subfolder a/b.
std::vector<fs::path> cgroup_folders(const fs::path& root) {
  std::vector<fs::path> folders{root / "sys/fs/cgroup"};
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 3, "0::") != 0) continue;
    for (const fs::path& part : fs::path(line.substr(3)).relative_path()) {
      if (part == "..") break;  // the process cannot see this cgroup
      folders.push_back(folders.back() / part);
    }
  }
  return folders;
}

double page_bytes() { return static_cast<double>(sysconf(_SC_PAGESIZE)); }

// One column of /proc/self/statm, in bytes: column 0 is the address space, 1 the resident memory, 5
// data and stack. Returns 0 if the file does not exist.
double bytes_in_use(std::size_t column) {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  for (std::size_t i = 0; i <= column; ++i)
    if (!(file >> pages)) return 0;
  return pages * page_bytes();
}

// A resource limit (getrlimit) minus the bytes in use (a column of /proc/self/statm).
double remaining_bytes(int resource, std::size_t column) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return HUGE_VAL;
  return static_cast<double>(limit.rlim_cur) - bytes_in_use(column);
}

std::uint64_t clamped_bytes(double bytes) {
  return static_cast<std::uint64_t>(std::clamp(bytes, 0.0, 0x1p62));
}

}  // namespace

// memory.max holds one number (bytes), cpu.max two (quota and period, whose ratio is the limit). A
// missing file or the word "max" means no limit.
double cgroup_limit(const char* name, const fs::path& root) {
  double smallest = HUGE_VAL;
  for (const fs::path& folder : cgroup_folders(root)) {
    std::ifstream file(folder / name);
    double limit = 0, period = 0;
    if (!(file >> limit)) continue;
    if (!(file >> period)) period = 1;
    if (limit > 0 && period > 0) smallest = std::min(smallest, limit / period);
  }
  return smallest;
}

std::string processor_name() {
  std::map<std::string, std::string> facts;  // properties of the first processor
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t key_end = line.find_first_of("\t:"), colon = line.find(": ");
    if (colon != line.npos) facts.emplace(line.substr(0, key_end), line.substr(colon + 2));
  }
  if (facts.count("model name") != 0) return facts["model name"];
  std::string name = "unknown";
  utsname machine{};
  if (uname(&machine) == 0) name = machine.machine;  // such as "aarch64"
  for (const char* key : {"CPU implementer", "CPU part"})
    if (facts.count(key) != 0) name += std::string(", ") + key + " " + facts[key];
  return name;
}

int usable_cores() {
#ifdef _OPENMP
  const double allowed = omp_get_num_procs();  // the processors in the affinity mask
#else
  const double allowed = 1;  // without OpenMP, heed has one thread
#endif
  return static_cast<int>(std::clamp(std::ceil(cgroup_limit("cpu.max")), 1.0, allowed));
}

void unbind_thread() {
#if defined(_OPENMP) && defined(__linux__)
  if (omp_get_proc_bind() == omp_proc_bind_false) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    int ids[CPU_SETSIZE];
    const int count = omp_get_place_num_procs(place);
    if (count > CPU_SETSIZE) return;
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < count; ++i) CPU_SET(ids[i], &cores);
  }
  sched_setaffinity(0, sizeof cores, &cores);
#endif
}

std::uint64_t usable_memory(std::size_t processes) {
  const double installed = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  const double total = std::min(installed, cgroup_limit("memory.max"));
  const double part = (total - bytes_in_use(1)) / static_cast<double>(processes);
  return clamped_bytes(std::min(part, remaining_bytes(RLIMIT_DATA, 5)));
}

std::uint64_t usable_addresses() { return clamped_bytes(remaining_bytes(RLIMIT_AS, 0)); }

void check_memory(double bytes, const std::string& what) {
  const auto available = static_cast<double>(std::min(usable_memory(), usable_addresses()));
  if (bytes > available)
    throw_error(what, " ", grouped(bytes), " bytes, but only ", grouped(available),
                " bytes of memory are available");
}

}  // namespace heed
