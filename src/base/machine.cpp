// machine.cpp: cores and memory, as the system, the process's limits and its cgroups tell them.

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

// ---- where the cgroups of this process are

// A tree of groups: version 2 has one for everything, version 1 one or more with other tasks.
struct Tree {
  bool version2;
  std::string task;  // "memory" or "cpu", as version 1 lists it
};

bool lists(const std::string& names, const std::string& name) {
  return ("," + names + ",").find("," + name + ",") != std::string::npos;
}

// Of /proc/self/cgroup, lines such as "4:memory:/a/b" and, in version 2, "0::/a/b".
std::string group_in(const fs::path& root, const Tree& tree) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string tasks = line.substr(first + 1, second - first - 1);
    if (tree.version2 ? tasks.empty() : lists(tasks, tree.task)) return line.substr(second + 1);
  }
  return "";
}

// mountinfo writes a blank in a path as \040, and others likewise.
std::string unescaped(const std::string& text) {
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '7'; };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                  (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

struct Mount {
  std::string group;  // the group that is to be seen at `path`: in a container not always "/"
  std::string path;
};

// A line of mountinfo: id, parent, device, group, path, options, any more, "-", kind, source,
// tasks.
std::optional<Mount> mount_in(const std::string& line, const Tree& tree) {
  std::istringstream words(line);
  std::string skipped, kind, source, tasks;
  Mount mount;
  words >> skipped >> skipped >> skipped >> mount.group >> mount.path;
  while (words >> skipped && skipped != "-") continue;
  words >> kind >> source >> tasks;
  if (kind != (tree.version2 ? "cgroup2" : "cgroup")) return {};
  if (!tree.version2 && !lists(tasks, tree.task)) return {};
  return Mount{unescaped(mount.group), unescaped(mount.path)};
}

std::optional<Mount> find_mount(const fs::path& root, const Tree& tree) {
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);)
    if (const auto mount = mount_in(line, tree)) return mount;
  return {};
}

// The way from the mount to the group. Empty when the group lies outside of what is mounted, as in
// a container with a name of the machine's: then what is mounted is the container's own.
fs::path way(const Mount& mount, const std::string& group) {
  const fs::path relative = fs::path(group).lexically_relative(mount.group);
  const bool outside = relative.empty() || *relative.begin() == "..";
  return outside ? fs::path() : relative;
}

// The folders of the process's group and of those around it.
std::vector<fs::path> groups(const fs::path& root, const Tree& tree) {
  const auto mount = find_mount(root, tree);
  if (!mount) return {};
  std::vector<fs::path> result{root / fs::path(mount->path).relative_path()};
  for (const fs::path& part : way(*mount, group_in(root, tree))) {
    if (part == "." || part.empty()) continue;
    result.push_back(result.back() / part);
  }
  return result;
}

// ---- what they allow

std::string words_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "max", "-1" and what is not there are no limit.
std::optional<double> positive(const std::string& text) {
  std::istringstream words(text);
  double value = 0;
  return words >> value && value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<double> cores_of(const fs::path& group, bool version2) {
  std::string quota, period = "100000";
  if (version2) {
    std::istringstream(words_of(group / "cpu.max")) >> quota >> period;
  } else {
    quota = words_of(group / "cpu.cfs_quota_us");
    period = words_of(group / "cpu.cfs_period_us");
  }
  const auto part = positive(quota), whole = positive(period);
  return part && whole ? std::optional(*part / *whole) : std::nullopt;
}

std::optional<double> memory_of(const fs::path& group, bool version2) {
  return positive(words_of(group / (version2 ? "memory.max" : "memory.limit_in_bytes")));
}

template <class Limit>
std::optional<double> smallest(const fs::path& root, const std::string& task, const Limit& limit) {
  std::optional<double> least;
  for (const bool version2 : {true, false})
    for (const fs::path& group : groups(root, {version2, task}))
      if (const auto found = limit(group, version2))
        least = std::min(least.value_or(*found), *found);
  return least;
}

// ---- what the process may have, and has

int allowed_cores() {
#ifdef _OPENMP
  return omp_get_num_procs();  // those it may run on
#else
  return 1;  // heed's threads are OpenMP's
#endif
}

double page_bytes() { return static_cast<double>(sysconf(_SC_PAGESIZE)); }

// Of /proc/self/statm, in pages: 0 all addresses, 1 memory, 5 data. 0 where there is no such file.
double taken(std::size_t column) {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  for (std::size_t i = 0; i <= column; ++i)
    if (!(file >> pages)) return 0;
  return pages * page_bytes();
}

double left_of(int resource, std::size_t column) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return HUGE_VAL;
  return static_cast<double>(limit.rlim_cur) - taken(column);
}

std::uint64_t whole_bytes(double bytes) {
  return static_cast<std::uint64_t>(std::clamp(bytes, 0.0, 0x1p62));
}

}  // namespace

std::optional<double> cgroup_cores(const fs::path& root) { return smallest(root, "cpu", cores_of); }

std::optional<std::uint64_t> cgroup_memory(const fs::path& root) {
  const auto bytes = smallest(root, "memory", memory_of);
  if (!bytes || *bytes >= 0x1p62) return {};  // version 1 writes "none" as the largest number
  return static_cast<std::uint64_t>(*bytes);
}

int usable_cores() {
  const double share = std::ceil(cgroup_cores().value_or(HUGE_VAL));
  return static_cast<int>(std::max(1.0, std::min<double>(allowed_cores(), share)));
}

std::uint64_t usable_memory() {
  double whole = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  if (const auto limit = cgroup_memory()) whole = std::min(whole, static_cast<double>(*limit));
  return whole_bytes(std::min(whole - taken(1), left_of(RLIMIT_DATA, 5)));
}

std::uint64_t usable_addresses() { return whole_bytes(left_of(RLIMIT_AS, 0)); }

}  // namespace heed
