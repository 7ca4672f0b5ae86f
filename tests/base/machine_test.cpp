// machine_test.cpp: cores and memory, on made-up machines and on this one.

#include "heed/base/machine.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "io/file_tests.hpp"

using heed::cgroup_cores;
using heed::cgroup_memory;

namespace {

// A machine's /proc and /sys, as far as cgroups go.
struct MadeUp : heed_test::TemporaryFolder {
  void write(const std::string& name, const std::string& line) const {
    std::filesystem::create_directories((path / name).parent_path());
    heed_test::put(path / name, line + "\n");
  }
  // Version 2, seen from a process in the group.
  void version2(const std::string& group) const {
    write("proc/self/cgroup", "0::" + group);
    write("proc/self/mountinfo",
          "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
          "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw");
  }
  // Version 1; of the tree of groups, `seen` and below is mounted.
  void version1(const std::string& group, const std::string& seen) const {
    write("proc/self/cgroup",
          "5:memory:" + group + "\n3:cpu,cpuacct:" + group + "\n1:name=systemd:/");
    write("proc/self/mountinfo", "35 31 0:32 " + seen +
                                     " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 31 "
                                     "0:29 " +
                                     seen +
                                     " /sys/fs/cgroup/cpu,cpuacct rw master:9 - cgroup cgroup "
                                     "rw,cpu,cpuacct");
  }
  void v1_memory(const std::string& group, const std::string& bytes) const {
    write("sys/fs/cgroup/memory" + group + "/memory.limit_in_bytes", bytes);
  }
  void v1_cores(const std::string& group, const std::string& quota) const {
    write("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_quota_us", quota);
    write("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_period_us", "100000");
  }
};

}  // namespace

TEST_CASE("a machine without cgroups sets no limit", "[base][machine]") {
  const MadeUp machine;
  CHECK_FALSE(cgroup_cores(machine.path));
  CHECK_FALSE(cgroup_memory(machine.path));
  CHECK_FALSE(cgroup_cores(machine / "missing"));
  machine.version2("/");
  CHECK_FALSE(cgroup_cores(machine.path));
  CHECK_FALSE(cgroup_memory(machine.path));
}

TEST_CASE("version 2: a group's share of processor time and its memory are limits",
          "[base][machine]") {
  const MadeUp machine;
  machine.version2("/user/heed");
  machine.write("sys/fs/cgroup/user/heed/cpu.max", "250000 100000");
  machine.write("sys/fs/cgroup/user/heed/memory.max", "536870912");
  CHECK(cgroup_cores(machine.path) == 2.5);
  CHECK(cgroup_memory(machine.path) == 536870912u);
  machine.write("sys/fs/cgroup/user/heed/cpu.max", "max 100000");
  machine.write("sys/fs/cgroup/user/heed/memory.max", "max");
  CHECK_FALSE(cgroup_cores(machine.path));
  CHECK_FALSE(cgroup_memory(machine.path));
}

TEST_CASE("version 2: the smallest limit from the group up to the root counts", "[base][machine]") {
  const MadeUp machine;
  machine.version2("/a/b/c");
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

TEST_CASE("version 1: quota and period, and the memory's limit, are found by task",
          "[base][machine]") {
  const MadeUp machine;
  machine.version1("/jobs/7", "/");
  machine.v1_cores("/jobs/7", "150000");
  machine.v1_cores("/jobs", "-1");
  machine.v1_memory("/jobs/7", "9223372036854771712");
  CHECK(cgroup_cores(machine.path) == 1.5);
  CHECK_FALSE(cgroup_memory(machine.path));
  machine.v1_memory("/jobs", "70000");
  CHECK(cgroup_memory(machine.path) == 70000u);
}

TEST_CASE("in a container, whose own group is all it sees, that one's limits count",
          "[base][machine]") {
  const MadeUp machine;
  for (const std::string group : {"/docker/4f", "/elsewhere", "/../host"}) {
    machine.version1(group, "/docker/4f");
    machine.v1_cores("", "300000");
    machine.v1_memory("", "80000");
    machine.v1_memory("/../../elsewhere", "10");  // beside what is mounted: somebody else's
    machine.v1_memory("/../host", "10");
    machine.v1_memory("/../../../host", "10");
    CHECK(cgroup_cores(machine.path) == 3.0);
    CHECK(cgroup_memory(machine.path) == 80000u);
  }
}

TEST_CASE("a group's folder with a blank in its mount's name is found", "[base][machine]") {
  const MadeUp machine;
  machine.write("proc/self/cgroup", "0::/x");
  machine.write("proc/self/mountinfo", "30 22 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw");
  machine.write("my groups/x/memory.max", "4096");
  CHECK(cgroup_memory(machine.path) == 4096u);
}

TEST_CASE("files that make no sense set no limit", "[base][machine]") {
  const MadeUp machine;
  machine.version2("/x");
  for (const std::string line : {"", "many", "-5", "0", "nan 100000", "100000 0"}) {
    machine.write("sys/fs/cgroup/x/cpu.max", line);
    CHECK_FALSE(cgroup_cores(machine.path));
  }
  machine.write("proc/self/cgroup", "what is this");
  machine.write("proc/self/mountinfo", "30 22 0:26\n-\n\n- cgroup2");
  CHECK_FALSE(cgroup_memory(machine.path));
}

TEST_CASE("this machine has cores and memory, less when the process is limited",
          "[base][machine]") {
  CHECK(heed::usable_cores() >= 1);
  const std::uint64_t before = heed::usable_memory();
  CHECK(before > 1000000);
#if defined(__linux__)
  rlimit whole{};
  REQUIRE(::getrlimit(RLIMIT_DATA, &whole) == 0);
  rlimit little = whole;
  little.rlim_cur = rlim_t{1} << 40;
  ::setrlimit(RLIMIT_DATA, &little);
  CHECK(heed::usable_memory() <= rlim_t{1} << 40);
  little.rlim_cur = 4096;
  ::setrlimit(RLIMIT_DATA, &little);
  const std::uint64_t limited = heed::usable_memory();
  ::setrlimit(RLIMIT_DATA, &whole);
  CHECK(limited == 0);
#endif
}
