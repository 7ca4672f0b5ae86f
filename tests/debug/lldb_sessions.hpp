// lldb_sessions.hpp: runs LLDB with heed's commands.
#pragma once

#include "debug/sessions.hpp"

namespace heed_test {

inline std::string lldb_path() {
  for (const char* name :
       {"lldb", "lldb-14", "lldb-15", "lldb-16", "lldb-17", "lldb-18", "lldb-19"})
    if (const std::string path = path_of(name); !path.empty()) return path;
  return "";
}

// The folders of LLDB's Python module and of the module six, which Debian's LLDB does not find by
// itself (six only if another Python is first in PATH).
inline std::string module_folders() {
  const auto library = std::filesystem::canonical(lldb_path()).parent_path().parent_path() / "lib";
  if (std::filesystem::is_directory(library))
    for (const auto& python : std::filesystem::directory_iterator(library))
      for (const char* packages : {"dist-packages", "site-packages"})
        if (std::filesystem::exists(python.path() / packages / "lldb/__init__.py"))
          return (python.path() / packages).string() + ":/usr/lib/python3/dist-packages";
  return "";
}

// Runs these commands in LLDB, after `main` was reached, and returns what it printed.
inline std::string lldb(const std::filesystem::path& folder, const Arguments& program,
                        Lines commands) {
  Lines lines = {"script lldb.debugger.SetAsync(False)", "settings set use-color false",
                 "command script import tools/debugger/heed_lldb.py"};
  lines.insert(lines.end(), commands.begin(), commands.end());
  const Arguments start = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", lldb_path(), "-x", "--"};
  return run({start + program,
              folder,
              heed::joined(lines, "\n") + "\n",
              {{"PYTHONPATH", module_folders()},
               {"OMP_NUM_THREADS", "1"},
               {"OPENBLAS_NUM_THREADS", "1"},
               {"HEED_TRACE", "provenance"}}})
      .out;
}

inline bool can_use_lldb() {
  static const bool result = [] {
    if (lldb_path().empty()) return false;
    const std::string out = lldb("/", {"/bin/true"}, {"script print(6 * 7)", "run"});
    return has(out, "\n42\n") && has(out, "exited with status = 0");
  }();
  if (!result)
    WARN("skipped: LLDB is not installed, has no Python, or may not trace programs here");
  return result;
}

}  // namespace heed_test
