// machine_test.cpp: usable cores and memory, on fake machines and on this one.

#include "base/machine.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "sanitized.hpp"
#include "scratch_folder.hpp"

namespace {

const double no_limit = HUGE_VAL;

double cgroup_cores(const std::filesystem::path& root) {
  return heed::cgroup_limit("cpu.max", root);
}
double cgroup_memory(const std::filesystem::path& root) {
  return heed::cgroup_limit("memory.max", root);
}

// A temporary folder with the /proc and /sys files of a machine with cgroup v2.
struct FakeMachine : heed_test::ScratchFolder {
  void write(const std::string& name, const std::string& line) const {
    std::filesystem::create_directories((path / name).parent_path());
    heed_test::put(path / name, line + "\n");
  }
  void set_group(const std::string& group) const { write("proc/self/cgroup", "0::" + group); }
};

}  // namespace

TEST_CASE("a machine without cgroups sets no limit", "[base][machine]") {
  const FakeMachine machine;
  CHECK(cgroup_cores(machine.path) == no_limit);
  CHECK(cgroup_memory(machine.path) == no_limit);
  CHECK(cgroup_cores(machine / "missing") == no_limit);
  machine.set_group("/");
  CHECK(cgroup_cores(machine.path) == no_limit);
  CHECK(cgroup_memory(machine.path) == no_limit);
}

TEST_CASE("cpu.max and memory.max of the cgroup are limits", "[base][machine]") {
  const FakeMachine machine;
  machine.set_group("/user/heed");
  machine.write("sys/fs/cgroup/user/heed/cpu.max", "250000 100000");
  machine.write("sys/fs/cgroup/user/heed/memory.max", "536870912");
  CHECK(cgroup_cores(machine.path) == 2.5);
  CHECK(cgroup_memory(machine.path) == 536870912u);
  machine.write("sys/fs/cgroup/user/heed/cpu.max", "max 100000");
  machine.write("sys/fs/cgroup/user/heed/memory.max", "max");
  CHECK(cgroup_cores(machine.path) == no_limit);
  CHECK(cgroup_memory(machine.path) == no_limit);
}

TEST_CASE("the smallest limit of the cgroup and its ancestors counts", "[base][machine]") {
  const FakeMachine machine;
  machine.set_group("/a/b/c");
  machine.write("sys/fs/cgroup/a/cpu.max", "50000 100000");
  machine.write("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
  machine.write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000");
  machine.write("sys/fs/cgroup/a/memory.max", "3000");
  machine.write("sys/fs/cgroup/a/b/memory.max", "1000");
  machine.write("sys/fs/cgroup/a/b/c/memory.max", "2000");
  machine.write("sys/fs/cgroup/other/memory.max", "10");
  machine.write("sys/fs/cgroup/a/b/c/below/memory.max", "10");
  CHECK(cgroup_cores(machine.path) == 0.5);
  CHECK(cgroup_memory(machine.path) == 1000u);
}

TEST_CASE("in a container, the limits of the mounted cgroup count", "[base][machine]") {
  const FakeMachine machine;
  machine.write("sys/fs/cgroup/cpu.max", "300000 100000");
  machine.write("sys/fs/cgroup/memory.max", "80000");
  machine.write("sys/fs/host/memory.max", "10");  // outside of /sys/fs/cgroup
  for (const std::string group : {"/", "/docker/4f", "/../host"}) {
    machine.set_group(group);
    CHECK(cgroup_cores(machine.path) == 3.0);
    CHECK(cgroup_memory(machine.path) == 80000u);
  }
}

TEST_CASE("cgroup files with invalid content set no limit", "[base][machine]") {
  const FakeMachine machine;
  machine.set_group("/x");
  for (const std::string line : {"", "many", "-5", "0", "nan 100000", "100000 0"}) {
    machine.write("sys/fs/cgroup/x/cpu.max", line);
    CHECK(cgroup_cores(machine.path) == no_limit);
  }
  machine.write("sys/fs/cgroup/x/memory.max", "4096");
  machine.write("proc/self/cgroup", "what is this\n1:name=systemd:/x");
  CHECK(cgroup_memory(machine.path) == no_limit);
}

#if defined(__linux__)
TEST_CASE("the CPU affinity of the process limits the usable cores", "[base][machine]") {
  cpu_set_t before, one;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  const int cores = heed::usable_cores();
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const int limited = heed::usable_cores();
  ::sched_setaffinity(0, sizeof before, &before);
  CHECK(limited == 1);
  CHECK(heed::usable_cores() == cores);
}
#endif

TEST_CASE("this machine has cores and memory, and a resource limit reduces the memory",
          "[base][machine]") {
  CHECK(heed::usable_cores() >= 1);
  const std::uint64_t before = heed::usable_memory();
  CHECK(before > 1000000);
  CHECK(heed::usable_memory(4) < before / 3);
#if defined(__linux__)
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_DATA, &old_limit) == 0);
  rlimit limit = old_limit;
  limit.rlim_cur = rlim_t{1} << 40;
  ::setrlimit(RLIMIT_DATA, &limit);
  CHECK(heed::usable_memory() <= rlim_t{1} << 40);
  // A limit below the machine's memory is not divided among the processes.
  limit.rlim_cur = rlim_t{1} << 31;
  if (!heed_test::sanitized && before > rlim_t{1} << 33) {
    ::setrlimit(RLIMIT_DATA, &limit);
    const std::uint64_t own = heed::usable_memory(4);
    ::setrlimit(RLIMIT_DATA, &old_limit);
    CHECK(own > rlim_t{1} << 30);
  }
  limit.rlim_cur = 4096;
  std::uint64_t limited = 0;
  if (!heed_test::sanitized) {  // AddressSanitizer itself needs more memory than this limit
    ::setrlimit(RLIMIT_DATA, &limit);
    limited = heed::usable_memory();
  }
  ::setrlimit(RLIMIT_DATA, &old_limit);
  CHECK(limited == 0);
#endif
}
