// machine.hpp: a small project with the launcher, and fake programs for it to start.
#pragma once

#include "catch.hpp"
#include "commands/child.hpp"
#include "scratch_folder.hpp"

namespace heed_test {

namespace fs = std::filesystem;

// A project with only the launcher and its files, three lessons and an exercise, and folders with
// fake headers and programs. The fake programs append their arguments to the file log.
struct Machine : ScratchFolder {
  explicit Machine(const std::string& project = "project") : root(path / project) {
    for (const fs::path& folder : {root, path / "bin", path / "tools"})
      fs::create_directories(folder);
    fs::create_directories(root / "tools");
    fs::copy(HEED_SOURCE_DIR "/tools/launcher", root / "tools/launcher");
    fs::copy(HEED_SOURCE_DIR "/heed", root / "heed");
    fs::permissions(root / "heed", fs::perms::owner_all);
    replace("packages.sh", "/usr/include");
    replace("packages.txt", "/usr/lib/python3/dist-packages");
    put(root / "CMakeLists.txt", "project(heed VERSION 3.7 LANGUAGES CXX)\n");
    for (const std::string lesson : {"01_first", "02_second_sight", "03_section"}) {
      fs::create_directories(root / "lessons" / lesson);
      put(root / "lessons" / lesson / "lesson.cpp", "// " + lesson.substr(0, 2) + " " +
                                                        lesson.substr(3) + ": about " + lesson +
                                                        ".\nint x;\n");
    }
    put(root / "lessons/01_first/exercise.cpp", "// 01 mean: about 01_mean.\n");
    put(root / "lessons/01_first/hints.md", "# Hints\n\n## Exercise 1\n\n1. Divide.\n2. By two.\n");
    put(root / "lessons/01_first/exercise_solution.cpp",
        "a\n// Your part begins here.\nhalf\n"
        "// Your part ends here.\nb\n");
    for (const char* tool :
         {"sh", "awk", "basename", "cat", "date", "dirname", "find", "grep", "mkdir", "readlink",
          "rm", "sed", "tail", "touch", "tr", "wc", "chmod"})
      link_tool(tool);
    if (fs::exists("/usr/bin/flock")) link_tool("flock");  // the launcher works without it
    install_everything();
  }

  void link_tool(const std::string& name) const {
    for (const char* folder : {"/usr/bin/", "/bin/"})
      if (fs::exists(folder + name))
        return fs::create_symlink(folder + name, path / "tools" / name);
    FAIL("this machine has no " << name);
  }
  void program(const std::string& name, const std::string& script) const {
    put(path / "bin" / name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(path / "bin" / name, fs::perms::owner_all);
  }
  // Replaces a folder of the system, in a file of the launcher, by one of the machine.
  void replace(const std::string& file, const std::string& folder) const {
    const fs::path name = root / "tools/launcher" / file;
    std::string text = content(name);
    for (std::size_t i; (i = text.find(folder)) != text.npos;)
      text.replace(i, folder.size(), (path / fs::path(folder).filename()).string());
    put(name, text);
  }
  void remove(const std::string& name) const { REQUIRE(fs::remove(path / name)); }

  void install_everything() const {
    for (const char* name : {"c++", "ninja", "gnuplot", "dot", "gdb"}) program(name, "exit 99");
    program("uname", "echo x86_64");
    program("ctest", "echo ctest \"$@\" >>\"$LOG\"");
    program("apt-get", "echo apt-get \"$@\" >>\"$LOG\"; exit 99");
    as_user(1000);
    program("cmake", fake_cmake);
    for (const char* header :
         {"xtl/xtl_config.hpp", "xtensor/core/xtensor_config.hpp", "xtensor-blas/xlinalg.hpp",
          "openblas-pthread/openblas_config.h", "xsimd/xsimd.hpp", "catch2/catch_all.hpp",
          "nlohmann/json.hpp", "xxhash.h", "utf8proc.h", "zlib.h", "libxsmm.h", "dnnl.h"}) {
      fs::create_directories((path / "include" / header).parent_path());
      put(path / "include" / header, "");
    }
  }
  void as_user(int id) const { program("id", "echo " + std::to_string(id)); }

  Finished sh(const Arguments& arguments, const fs::path& folder) const {
    return run({Arguments{"/bin/sh"} + arguments,
                folder,
                "",
                {{"PATH", (path / "bin").string() + ":" + (path / "tools").string()},
                 {"LOG", (path / "log").string()}}});
  }
  Finished heed(const Arguments& arguments) const {
    return sh(Arguments{"heed"} + arguments, root);
  }
  std::string log() const { return content(path / "log"); }  // the calls of the fake programs
  void forget() const { fs::remove(path / "log"); }

  fs::path root;

  // A fake cmake. It configures with --preset, and builds programs that print their arguments.
  static const char* const fake_cmake;
};

inline const char* const Machine::fake_cmake = R"(
echo cmake "$@" >>"$LOG"
if [ "$1" = --preset ]; then touch "build/$2/build.ninja"; exit; fi
name=$4
[ "$name" != all ] || exit 0
folder=$2
case $name in heed_*_program) name=heed ;; *) folder=$2/lessons ;; esac
mkdir -p "$folder"
printf '#!/bin/sh\nprintf "%%s|" "${0##*/}" "$@" "$PWD"\nexit 7\n' >"$folder/$name"
chmod +x "$folder/$name")";

}  // namespace heed_test
