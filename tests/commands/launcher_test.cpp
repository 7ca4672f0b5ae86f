// launcher_test.cpp: the script `heed` with fake programs instead of cmake, ctest, apt-get and gdb.

#include "commands/machine.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;
namespace fs = std::filesystem;

namespace {

const std::string install_line = "apt-get update && apt-get install -y --no-install-recommends";

}  // namespace

TEST_CASE("heed without a command, help, --help and -h print the same help and start nothing",
          "[commands][launcher]") {
  const Machine machine;
  fs::remove_all(machine / "bin");
  const Finished help = machine.heed({"help"});
  CHECK(help.code == 0);
  CHECK(help.err == "");
  for (const char* command : {"train [TEXT]", "sample RUN", "inspect FILE", "bench", "lesson [N]",
                              "exercise [N]", "debug N", "test", "setup"})
    CHECK(has(help.out, std::string("\n  ./heed ") + command + " "));
  for (const Arguments& arguments : {Arguments{}, Arguments{"--help"}, Arguments{"-h"}})
    CHECK(machine.heed(arguments).out == help.out);
  CHECK(machine.files() == 3);  // only the folders project, tools and include
}

TEST_CASE("an unknown command is a usage error in one line", "[commands][launcher]") {
  const Machine machine;
  const Finished run = machine.heed({"trian", "x"});
  CHECK(run.code == 2);
  CHECK(run.out == "");
  CHECK(run.err == "heed: error: unknown command 'trian'; did you mean 'train'?\n");
  CHECK(has(machine.heed({"exersice"}).err, "; did you mean 'exercise'?\n"));
  CHECK(has(machine.heed({"comple"}).err, "; did you mean 'completion'?\n"));
  for (const std::string far : {"", "x", "--nosuch", "trombone"})
    CHECK(machine.heed({far}).err ==
          "heed: error: unknown command '" + far + "'; see ./heed --help\n");
  CHECK(has(machine.heed({"tr\nian\033[2J"}).err, "unknown command 'tr?ian?[2J'; see"));
  CHECK(machine.log() == "");
}

TEST_CASE("each command of the launcher has a help in the form of the programs",
          "[commands][launcher]") {
  const Machine machine;
  fs::remove_all(machine / "bin");
  for (const std::string command :
       {"lesson", "exercise", "debug", "test", "docs", "setup", "completion"}) {
    const Finished help = machine.heed({command, "--help"});
    INFO(help.out);
    CHECK(help.code == 0);
    CHECK(help.out.rfind("heed " + command + ": ", 0) == 0);
    for (const char* part : {"\n\nUsage: ./heed ", "\n\nOptions:\n", "\n\nExample",
                             "\n  -h, --help            print this help\n"})
      CHECK(has(help.out, part));
    for (const std::string& line : heed::lines_of(help.out)) CHECK(line.size() <= 80);
    CHECK(machine.heed({command, "-h"}).out == help.out);
  }
  for (const Arguments& arguments :
       {Arguments{"lesson", "1", "--help"}, Arguments{"help", "lesson"}})
    CHECK(machine.heed(arguments).out == machine.heed({"lesson", "-h"}).out);
}

TEST_CASE("--version prints the version of the project without a build", "[commands][launcher]") {
  const Machine machine;
  CHECK(machine.heed({"--version"}).out == "heed 3.7\n");
  CHECK(machine.log() == "");
}

TEST_CASE("lesson lists every lesson with its number, name and topic", "[commands][launcher]") {
  const Machine machine;
  const Finished list = machine.heed({"lesson"});
  CHECK(list.code == 0);
  CHECK(list.out ==
        "  01  first                       about 01_first.\n"
        "  02  second_sight                about 02_second_sight.\n"
        "  03  section                     about 03_section.\n");
  CHECK(machine.log() == "");
}

TEST_CASE("a lesson is found by its number, its name or both", "[commands][launcher]") {
  const Machine machine;
  for (const char* name : {"2", "02", "second_sight", "02_second_sight"}) {
    INFO(name);
    CHECK(machine.heed({"lesson", name, "a b", ""}).out ==
          "02_second_sight|a b||" + machine.root.string() + "|");
  }
  CHECK(has(machine.log(), "--target 02_second_sight\n"));
  CHECK(machine.heed({"lesson", "2", "--double", "a"}).out ==
        "02_second_sight_double|a|" + machine.root.string() + "|");
  CHECK(has(machine.log(), "--target 02_second_sight_double\n"));
}

TEST_CASE("lesson N --write builds the lesson and calls heed book for its README",
          "[commands][launcher]") {
  const Machine machine;
  CHECK(machine.heed({"lesson", "2", "--write"}).out ==
        "heed|book|02_second_sight|--readme|" + machine.root.string() + "|");
  CHECK(has(machine.log(), "--target heed_book_program 02_second_sight\n"));
}

TEST_CASE("lesson N --all prints the appendices of the lesson", "[commands][launcher]") {
  const Machine machine;
  const Finished run = machine.heed({"lesson", "2", "--all", "a"});
  CHECK(run.out == "02_second_sight|a|" + machine.root.string() + "|");
  CHECK(has(content(machine.root / "tools/launcher/lessons.sh"), "export HEED_APPENDICES=1"));
}

TEST_CASE("the error for an unknown lesson names a similar one", "[commands][launcher]") {
  const Machine machine;
  const auto error_of = [&](const std::string& lesson) {
    const Finished run = machine.heed({"lesson", lesson});
    CHECK(run.code == 2);
    CHECK(run.out == "");
    return run.err;
  };
  const std::string none = " does not exist; did you mean ";
  CHECK(error_of("firsts") == "heed: error: lesson firsts" + none + "first?\n");
  CHECK(error_of("02_secnd_sigth") ==
        "heed: error: lesson 02_secnd_sigth" + none + "02_second_sight?\n");
  CHECK(error_of("Secti") ==
        "heed: error: lesson Secti does not exist; see ./heed lesson, which "
        "lists all\n");
  CHECK(error_of("sect") == "heed: error: lesson sect" + none + "section?\n");
  for (const std::string odd : {"99", "*", "[", "-e", "0?", "sec.."})
    CHECK(error_of(odd) ==
          "heed: error: lesson " + odd + " does not exist; see ./heed lesson, which lists all\n");
  CHECK(machine.log() == "");
}

TEST_CASE("exercise runs the checks, and prints the exercise's path if they fail",
          "[commands][launcher]") {
  const Machine machine;
  const Finished run = machine.heed({"exercise", "1"});
  CHECK(run.code == 1);
  CHECK(run.out == "exercise_01|" + machine.root.string() + "|");
  CHECK(
      has(run.err, "Your part is in lessons/01_first/exercise.cpp; ./heed exercise 1 checks it\n"));
  CHECK(has(machine.log(), "--target exercise_01\n"));
}

TEST_CASE("without a solution, exercise does not offer one", "[commands][launcher]") {
  const Machine machine;
  CHECK(has(machine.heed({"exercise", "1"}).err,
            "again; add --hint for a hint, --solution for a solution.\n"));
  fs::remove(machine.root / "lessons/01_first/exercise_solution.cpp");
  CHECK(has(machine.heed({"exercise", "1"}).err, "again; add --hint for a hint.\n"));
  const Finished run = machine.heed({"exercise", "1", "--solution"});
  CHECK(run.code == 1);
  CHECK(run.err == "heed: error: exercise 01_mean has no file exercise_solution.cpp\n");
}

TEST_CASE("exercise N FILE checks another file than the reader's", "[commands][launcher]") {
  const Machine machine("my [own] project's *");
  fs::create_directory(machine / "of ada");
  put(machine / "of ada" / "01.cpp", "int x;\n");
  const Finished run =
      machine.sh({machine.root / "heed", "exercise", "mean", "of ada/01.cpp"}, machine.path);
  CHECK(run.code == 7);  // the program's exit code
  CHECK(run.out == "submission_01|" + machine.path.string() + "|");
  CHECK(run.err == "heed: building for the first time\n");
  CHECK(content(machine.root / "build/release/submissions/01.cpp") ==
        "#include \"" + (machine / "of ada" / "01.cpp").string() + "\"\n");
  CHECK(has(machine.log(), "--target submission_01\n"));
  machine.forget();
  const Finished none = machine.heed({"exercise", "1", "none.cpp"});
  CHECK(none.code == 2);
  CHECK(none.err == "heed: error: none.cpp: is not a file\n");
  CHECK(machine.log() == "");
}

TEST_CASE("01b is the second exercise of lesson 01, and 1b too", "[commands][launcher]") {
  const Machine machine;
  put(machine.root / "lessons/01_first/exercise_b.cpp", "// 01b median: about 01b_median.\n");
  CHECK(machine.heed({"exercise"}).out ==
        "  01  mean                        about 01_mean.\n"
        "  01b median                      about 01b_median.\n");
  for (const char* name : {"1b", "01b", "median", "01b_median"}) {
    INFO(name);
    const Finished run = machine.heed({"exercise", name});
    CHECK(run.out == "exercise_01b|" + machine.root.string() + "|");
    CHECK(has(run.err, "lessons/01_first/exercise_b.cpp; ./heed exercise 1b checks it\n"));
  }
  CHECK(has(machine.log(), "--target exercise_01b\n"));
  CHECK(machine.heed({"exercise", "1"}).out == "exercise_01|" + machine.root.string() + "|");
}

TEST_CASE("answers and the glossary are printed without a build", "[commands][launcher]") {
  const Machine machine;
  put(machine.root / "lessons/01_first/answers.md", "1. Two.\n");
  put(machine.root / "lessons/glossary.txt", "token | 01 | A word.\n");
  CHECK(machine.heed({"lesson", "first", "--answers"}).out == "1. Two.\n");
  put(machine.root / "lessons/01_first/answers.md", "1. Three.\n");
  CHECK(machine.heed({"lesson", "first", "--answers"}).out == "1. Three.\n");
  CHECK(machine.heed({"lesson", "--words"}).out == "token                         01  A word.\n");
  const Finished none = machine.heed({"lesson", "3", "--answers"});
  CHECK(none.code == 1);
  CHECK(none.err == "heed: error: lesson 03_section has no file answers.md\n");
  const Finished odd = machine.heed({"lesson", "1", "--answer"});
  CHECK(odd.code == 2);
  CHECK(odd.err == "heed: error: unknown option --answer; did you mean --answers?\n");
  const Finished test = machine.heed({"test", "--al"});
  CHECK(test.code == 2);
  CHECK(test.err == "heed: error: unknown option --al; did you mean --all?\n");
  CHECK(machine.heed({"debug", "exercise"}).err ==
        "heed: error: debug exercise needs a number: ./heed debug exercise 6\n");
  CHECK_FALSE(fs::exists(machine.root / "build"));
}

TEST_CASE("hints and solutions are printed without a build", "[commands][launcher]") {
  const Machine machine;
  CHECK(machine.heed({"exercise"}).out == "  01  mean                        about 01_mean.\n");
  CHECK(machine.heed({"exercise", "mean", "--hint"}).out ==
        "Divide.\n(--hint 2 prints the next one)\n");
  CHECK(machine.heed({"exercise", "mean", "--hint", "2"}).out == "By two.\n");
  for (const std::string none : {"0", "3", "two", "99999999999999999999"})
    CHECK(machine.heed({"exercise", "1", "--hint", none}).err ==
          "heed: error: hint " + none + " does not exist; there are 2\n");
  CHECK(machine.heed({"exercise", "1", "--solution"}).out == "half\n");
  const Finished odd = machine.heed({"exercise", "1", "--answer"});
  CHECK(odd.code == 2);
  CHECK(odd.err == "heed: error: unknown option --answer; see ./heed exercise --help\n");
  CHECK(machine.heed({"exercise", "2"}).err ==
        "heed: error: exercise 2 does not exist; see ./heed exercise, which lists all\n");
  CHECK(machine.heed({"exercise", "maen"}).err ==
        "heed: error: exercise maen does not exist; did you mean mean?\n");
  CHECK(machine.log() == "");
}

TEST_CASE("debug builds with the debug preset and starts gdb at main with heed's commands",
          "[commands][launcher]") {
  const Machine machine;
  const std::string root = machine.root.string(), build = root + "/build/debug/";
  machine.remove("bin/gdb");
  CHECK(has(machine.heed({"debug", "2"}).err, "install -y --no-install-recommends gdb\n"));
  machine.program("gdb", R"(printf '%s|' "$HEED_TRACE" "$@")");
  const auto started = [&](const std::string& program) {
    return "provenance|-q|-iex|set debuginfod enabled off|-iex|set breakpoint pending "
           "on|-ex|source " +
           root + "/tools/debugger/heed_gdb.py|-ex|tbreak main|-ex|run|-ex|heed welcome|--args|" +
           build + program + "|";
  };
  CHECK(machine.heed({"debug", "2"}).out == started("lessons/02_second_sight"));
  CHECK(has(machine.log(), "--target 02_second_sight\n"));
  CHECK(machine.heed({"debug", "exercise", "mean"}).out == started("lessons/exercise_01"));
  CHECK(machine.heed({"debug", "train", "a b", "--steps"}).out ==
        started("commands/train") + "a b|--steps|");
  fs::create_directories(machine.root / "run/record");
  std::string replay = started("commands/replay");
  replay.replace(replay.find("main|"), 5, "heed::app::compute_last_step|");
  CHECK(machine.heed({"debug", "run", "--to", "3"}).out == replay + "run|--to|3|--near|");
  CHECK(has(machine.log(), "--target heed_replay_program heed_first_program heed_blame_program\n"));
  CHECK(machine.heed({"debug", "--build", "2"}).out == build + "lessons/02_second_sight\n");
  CHECK(has(machine.heed({"debug"}).err, "heed: error: debug needs an argument: ./heed debug 6"));
  CHECK(machine.heed({"debug", "--fast", "2"}).err ==
        "heed: error: unknown option --fast; see ./heed debug --help\n");
  CHECK(machine.heed({"debug", "--double", "2"}).out == started("lessons/02_second_sight_double"));
  CHECK(has(machine.log(), "--target 02_second_sight_double\n"));
  CHECK(machine.heed({"debug", "--build", "--double", "exercise", "mean"}).out ==
        build + "lessons/exercise_01_double\n");
  const Finished rejected = machine.heed({"debug", "--double", "train"});
  CHECK(rejected.err ==
        "heed: error: --double is for lessons and exercises; heed train computes in float\n");
  CHECK(rejected.code == 2);
  CHECK(machine.heed({"debug", "9"}).code == 2);
}

TEST_CASE("debug --lldb starts LLDB at main with heed's commands and its Python module",
          "[commands][launcher]") {
  const Machine machine;
  const std::string root = machine.root.string(), build = root + "/build/debug/";
  CHECK(
      has(machine.heed({"debug", "--lldb", "2"}).err, "install -y --no-install-recommends lldb\n"));
  machine.program("lldb", "echo no");
  CHECK(has(machine.heed({"debug", "--lldb", "2"}).err,
            "heed: error: this LLDB has no Python, which heed's commands need; on Debian "
            "12, apt install python3-lldb-14; or use gdb\n"));
  machine.program("lldb", R"([ "$1" != -b ] || { echo 42; exit; }; printf '%s|' "$@")");
  CHECK(machine.heed({"debug", "--lldb", "exercise", "mean"}).out ==
        "-o|command script import \"" + root +
            "/tools/debugger/heed_lldb.py\"|-o|breakpoint set -n main -K " +
            "false|-o|script lldb.debugger.SetAsync(False)|-o|run|-o|script "
            "lldb.debugger.SetAsync(True)|-o|heed|--|" +
            build + "lessons/exercise_01|");
  for (const Arguments& options : {Arguments{"--build", "--lldb"}, Arguments{"--lldb", "--build"}})
    CHECK(machine.heed(Arguments{"debug"} + options + Arguments{"2"}).out ==
          build + "lessons/02_second_sight\n");
}

TEST_CASE("debug starts LLDB if gdb is not installed and LLDB is", "[commands][launcher]") {
  const Machine machine;
  machine.program("lldb", R"([ "$1" != -b ] || { echo 42; exit; }; printf '%s|' "$@")");
  machine.program("gdb", "echo gdb");
  CHECK(machine.heed({"debug", "2"}).out == "gdb\n");
  machine.remove("bin/gdb");
  const Finished run = machine.heed({"debug", "2"});
  CHECK(has(run.out,
            "|-o|heed|--|" + machine.root.string() + "/build/debug/lessons/02_second_sight|"));
  CHECK(run.err == "heed: note: gdb is not installed, so heed takes LLDB\n");
  CHECK_FALSE(has(machine.log(), "apt-get"));
}

TEST_CASE("setup installs gdb too, or prints how to", "[commands][launcher]") {
  const Machine machine;
  machine.remove("bin/gdb");
  const std::string line = install_line + " gdb\n";
  const Finished found = machine.heed({"setup", "--packages"});
  CHECK(found.code == 0);
  CHECK(found.err ==
        "heed: note: some packages that heed can do without are missing; as root, run: " + line);
  CHECK(machine.heed({"lesson", "2"}).err == "heed: building for the first time\n");
  machine.as_user(0);
  machine.program("apt-get", "echo apt-get \"$@\" >>\"$LOG\"");
  CHECK(machine.heed({"setup"}).code == 0);
  CHECK(has(machine.log(), "apt-get install -y --no-install-recommends gdb\n"));
}

TEST_CASE("the development container copies all files that setup --packages reads",
          "[commands][launcher]") {
  const Machine machine;
  fs::remove_all(machine.root);
  fs::create_directory(machine.root);
  std::size_t copied = 0;
  for (const std::string& line :
       heed::lines_of(content(HEED_SOURCE_DIR "/.devcontainer/Dockerfile"))) {
    Arguments words;  // COPY FROM ... TO
    for (const std::string_view word : heed::words_of(line)) words.emplace_back(word);
    if (words.empty() || words[0] != "COPY") continue;
    const fs::path to = machine.root / fs::relative(words.back(), "/opt/heed");
    for (std::size_t i = 1; i + 1 < words.size(); ++i, ++copied) {
      const fs::path from = fs::path(HEED_SOURCE_DIR) / words[i];
      const bool into = words.back().back() == '/';
      fs::create_directories(to.parent_path());
      fs::copy(from, into ? to / from.filename() : to, fs::copy_options::recursive);
    }
  }
  CHECK(copied >= 3);
  machine.replace("packages.sh", "/usr/include");
  const Finished run = machine.heed({"setup", "--packages"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  CHECK(run.out.rfind("heed 0.", 0) == 0);
}

TEST_CASE("the first use builds, and installs nothing if all packages are installed",
          "[commands][launcher]") {
  const Machine machine;
  const std::string build = (machine.root / "build/release").string();
  const Finished first = machine.heed({"train", "in.txt", "--lr", "1", ""});
  CHECK(first.code == 7);  // the program's exit code
  CHECK(first.out == "heed|train|in.txt|--lr|1||" + machine.root.string() + "|");
  CHECK(first.err == "heed: building for the first time\n");
  CHECK(machine.log() ==
        "cmake --preset release\ncmake --build " + build + " --target heed_train_program\n");
  machine.forget();
  const Finished second = machine.heed({"inspect", "--help"});
  CHECK(second.out == "heed|inspect|--help|" + machine.root.string() + "|");
  CHECK(second.err == "");
  CHECK(machine.log() == "cmake --build " + build + " --target heed_inspect_program\n");
  CHECK(machine.heed({"bench", "--json"}).out ==
        "heed|bench|--json|" + machine.root.string() + "|");
}

TEST_CASE("test builds what the tests need and runs all tests; setup only builds",
          "[commands][launcher]") {
  const Machine machine;
  const std::string build = (machine.root / "build/release").string();
  const std::string built = "cmake --build " + build + " --target all\n";
  const Finished setup = machine.heed({"setup"});
  CHECK(setup.code == 0);
  CHECK(has(setup.out, "\nheed is built; next: ./heed lesson 1, or ./heed train\n"));
  CHECK(machine.log() == "cmake --preset release\n" + built);
  machine.forget();
  CHECK(machine.heed({"test", "-R", "x"}).code == 0);
  const std::string tests = "cmake --build " + build + " --target heed_test_all\n";
  const std::string tested = "ctest --test-dir " + build + " --output-on-failure --parallel 2";
  CHECK(machine.log() == tests + tested + " -R x\n");
  machine.forget();
  CHECK(machine.heed({"test", "--all", "-V"}).code == 0);
  CHECK(machine.log() == "cmake --build " + build + " --target heed_test_all heed_lessons\n" +
                             tested + " -C All -V\n");
}

TEST_CASE("test -R builds only the tests of a folder that runs no other program",
          "[commands][launcher]") {
  const Machine machine;
  const std::string build = "cmake --build " + (machine.root / "build/release").string();
  machine.heed({"test", "-R", "ops"});
  CHECK(has(machine.log(), build + " --target heed_tests\n"));
  machine.heed({"test", "-R", "double"});
  CHECK(has(machine.log(), build + " --target heed_double_tests\n"));
}

TEST_CASE("a build of more than three seconds prints how many files are done",
          "[commands][launcher]") {
  const Machine machine;
  machine.heed({"setup"});
  // A clock that goes on by 20 s each time it is read
  machine.program("date", "echo >>\"$LOG.clock\"; echo $(($(wc -l <\"$LOG.clock\") * 20))");
  machine.program("cmake", R"(for i in 1 9 10 20; do echo "[$i/40] Building CXX object"; done)");
  CHECK(machine.heed({"setup"}).err ==
        "heed: building: 1 of 40 files after 20 s\n"
        "heed: building: 10 of 40 files after 60 s\n");
}

TEST_CASE("warnings of the compiler are printed", "[commands][launcher]") {
  const Machine machine;
  machine.heed({"setup"});
  machine.program("cmake", "echo '[1/2] Building CXX object'; echo 'a.cpp:7: warning: unused x'");
  CHECK(machine.heed({"setup"}).err == "a.cpp:7: warning: unused x\n");
}

TEST_CASE("if a function of heed is missing, lessons link the whole library",
          "[commands][launcher]") {
  const Machine machine;
  machine.heed({"setup"});
  machine.forget();
  machine.program("cmake", R"(echo cmake "$@" >>"$LOG"
if [ "$1" = --build ] && [ ! -e "$LOG.linked" ]; then
  touch "$LOG.linked"
  echo "01_walk.cpp: undefined reference to 'heed::tsne(int)'"
  exit 1
fi)");
  const Finished run = machine.heed({"setup"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  const std::string build = (machine.root / "build/release").string();
  const std::string built = "cmake --build " + build + " --target all\n";
  CHECK(machine.log() == built + "cmake -DHEED_ALL_WINGS=ON " + build + "\n" + built);
}

TEST_CASE("programs get settings of OpenMP and OpenBLAS unless they are set",
          "[commands][launcher]") {
  const Machine machine;
  machine.program("ctest", R"(echo "$GOMP_SPINCOUNT $OPENBLAS_NUM_THREADS")");
  const auto settings = [&](const std::string& given) {
    return machine.sh(
        {"-c", "unset GOMP_SPINCOUNT OPENBLAS_NUM_THREADS; " + given + " ./heed test"},
        machine.root);
  };
  CHECK(settings("").out == "10000 1\n");
  CHECK(settings("GOMP_SPINCOUNT=7 OPENBLAS_NUM_THREADS=2").out == "7 2\n");
}

TEST_CASE("setup prints the machine, the compiler and what was found", "[commands][launcher]") {
  const Machine machine;
  machine.program("uname", "[ \"$1\" = -m ] && echo x86_64 || echo Linux 6.1 x86_64");
  machine.program("c++", "echo c++ 12.2.0; echo no warranty");
  machine.program("dpkg-query", R"(echo "$4" | sed -n 's/^cmake$/3.25.1-1/p' | grep .)");
  machine.program("getconf", "echo 4");
  machine.program("lldb", "exit 99");
  machine.remove("bin/gdb");
  machine.remove("include/libxsmm.h");
  const std::string found = machine.heed({"setup", "--packages"}).out;
  INFO(found);
  CHECK(found.rfind("heed 3.7 on Linux 6.1 x86_64, 4 cores", 0) == 0);
  for (const char* line :
       {"c++ 12.2.0", "  cmake                3.25.1-1", "  libopenblas-dev      found",
        "  libxsmm-dev          not found: slower training",
        "  gdb                  not found: no ./heed debug", "  lldb                 found",
        "  libdnnl-dev          found", "  gnuplot-nox          found",
        "  graphviz             found", "  chromium             not found: no tests in a browser"})
    CHECK(has(found, std::string("\n") + line + "\n"));
  CHECK(heed::lines_of(found).size() < 34);  // one screen
  CHECK_FALSE(has(found, "heed is built"));
}

TEST_CASE("setup prints what was found even if a package is missing", "[commands][launcher]") {
  const Machine machine;
  machine.remove("bin/ninja");
  const Finished run = machine.heed({"setup"});
  CHECK(run.code == 1);
  CHECK(has(run.out, "\n  ninja-build          not found: no build\n"));
  CHECK(has(run.err, "heed: error: some packages are missing; as root, run: "));
  CHECK(machine.log() == "");
}

TEST_CASE("setup --mpi builds heed_mpi too and prints how to start it", "[commands][launcher]") {
  const Machine machine;
  machine.program("mpicxx", "exit 99");
  machine.program("mpirun", "exit 99");
  const std::string build = (machine.root / "build/release").string();
  const Finished setup = machine.heed({"setup", "--mpi"});
  CHECK(setup.code == 0);
  CHECK(has(setup.out, "next: mpirun -n 4 ./heed train --shards 4\n"));
  CHECK(machine.log() == "cmake --preset release\ncmake -DHEED_MPI=ON " + build +
                             "\ncmake --build " + build + " --target all\n");
}

TEST_CASE("setup --mpi installs Open MPI or prints how to", "[commands][launcher]") {
  const Machine machine;
  CHECK(machine.heed({"setup", "--mpi"}).err ==
        "heed: error: some packages are missing; as root, run: " + install_line +
            " libopenmpi-dev openmpi-bin\n");
  CHECK(machine.log() == "");
  machine.as_user(0);
  machine.program("apt-get", "echo apt-get \"$@\" >>\"$LOG\"");
  CHECK(machine.heed({"setup", "--mpi"}).code == 0);
  CHECK(has(machine.log(),
            "apt-get install -y --no-install-recommends libopenmpi-dev openmpi-bin\n"));
}

TEST_CASE("docs runs Doxygen and Sphinx, and prints the site's first page",
          "[commands][launcher]") {
  const Machine machine;
  machine.remove("bin/c++");  // which docs does not need
  CHECK(machine.heed({"docs"}).err ==
        "heed: error: some packages are missing; as root, run: " + install_line +
            " doxygen python3-sphinx python3-breathe python3-myst-parser furo\n");
  machine.program("doxygen", "cat >\"$LOG\"");
  machine.program("sphinx-build", "echo sphinx-build \"$@\" >>\"$LOG\"");
  for (const std::string module : {"breathe", "myst_parser", "furo"}) {
    fs::create_directories(machine.path / "dist-packages" / module);
    put(machine.path / "dist-packages" / module / "__init__.py", "");
  }
  fs::create_directories(machine.root / "docs/doxygen");
  put(machine.root / "docs/doxygen/Doxyfile", "INPUT = include\n");
  const Finished docs = machine.heed({"docs"});
  CHECK(docs.code == 0);
  CHECK(docs.err == "");
  const std::string root = machine.root.string(), build = root + "/build";
  CHECK(docs.out == build + "/docs/index.html\n");
  CHECK(machine.log() ==
        "INPUT = include\nOUTPUT_DIRECTORY = build/site\nsphinx-build -q -j auto -c " + root +
            "/docs/site -d " + build + "/site/doctrees " + build + "/site/pages " + build +
            "/docs\n");
  CHECK(machine.heed({"docs", "x"}).code == 2);
}

TEST_CASE("without apt-get, docs says what it needs", "[commands][launcher]") {
  const Machine machine;
  machine.remove("bin/apt-get");
  const Finished docs = machine.heed({"docs"});
  CHECK(docs.code == 1);
  CHECK(docs.err ==
        "heed: error: docs needs doxygen, and Sphinx with three extensions: "
        "pip install sphinx breathe myst-parser furo\n");
}

TEST_CASE("test --coverage runs the tests of a separate build and prints gcovr's table",
          "[commands][launcher]") {
  const Machine machine;
  const std::string root = machine.root.string(), build = root + "/build/coverage";
  CHECK(
      has(machine.heed({"test", "--coverage"}).err, "install -y --no-install-recommends gcovr\n"));
  machine.program("gcovr", "echo gcovr \"$@\" >>\"$LOG\"; echo a table");
  const Finished run = machine.heed({"test", "--coverage"});
  CHECK(run.code == 0);
  CHECK(run.out == "a table\n");
  CHECK(machine.log() == "cmake --preset coverage\ncmake --build " + build +
                             " --target all\nctest --test-dir " + build +
                             " --output-on-failure\ngcovr --root " + root + " --filter " + root +
                             "/src/ --exclude-throw-branches " + build + "\n");
}

TEST_CASE("without root, a missing package is an error with the command to run",
          "[commands][launcher]") {
  const Machine machine;
  for (const char* name : {"bin/ninja", "bin/gnuplot", "include/catch2/catch_all.hpp",
                           "include/openblas-pthread/openblas_config.h"})
    machine.remove(name);
  for (const char* command : {"train", "setup", "test"}) {
    const Finished run = machine.heed({command});
    CHECK(run.code == 1);
    CHECK(run.err == "heed: error: some packages are missing; as root, run: " + install_line +
                         " ninja-build libopenblas-dev catch2 gnuplot-nox\n");
  }
  CHECK(machine.log() == "");
  CHECK_FALSE(fs::exists(machine.root / "build"));
}

TEST_CASE("every package is detected by its files", "[commands][launcher]") {
  const Machine machine;
  fs::remove_all(machine / "include");
  for (const char* name :
       {"bin/c++", "bin/cmake", "bin/ninja", "bin/gnuplot", "bin/dot", "bin/gdb"})
    machine.remove(name);
  CHECK(machine.heed({"setup"}).err ==
        "heed: error: some packages are missing; as root, run: " + install_line +
            " g++ cmake ninja-build xtl-dev libxtensor-dev libxtensor-blas-dev libopenblas-dev "
            "libxsimd-dev catch2 nlohmann-json3-dev libxxhash-dev libutf8proc-dev "
            "zlib1g-dev gnuplot-nox graphviz libxsmm-dev libdnnl-dev gdb\n");
}

TEST_CASE("LIBXSMM and oneDNN are installed on x86-64 only", "[commands][launcher]") {
  const Machine machine;
  machine.as_user(0);
  machine.remove("include/libxsmm.h");
  machine.program("uname", "echo aarch64");
  machine.heed({"setup", "--packages"});
  CHECK_FALSE(has(machine.log(), "apt-get"));
  machine.program("uname", "echo x86_64");
  machine.heed({"setup", "--packages"});
  CHECK(has(machine.log(), "apt-get"));
}

TEST_CASE("without root, a missing gnuplot or LIBXSMM is not an error", "[commands][launcher]") {
  const Machine machine;
  machine.remove("bin/gnuplot");
  machine.remove("include/libxsmm.h");
  CHECK(machine.heed({"train"}).code == 7);
  CHECK_FALSE(has(machine.log(), "apt-get"));
}

TEST_CASE("root installs missing packages, prints the command, and continues",
          "[commands][launcher]") {
  const Machine machine;
  machine.as_user(0);
  machine.remove("bin/ninja");
  machine.remove("include/xxhash.h");
  machine.program("apt-get", "echo apt-get \"$@\" >>\"$LOG\"; echo talk");
  const Finished run = machine.heed({"train"});
  CHECK(run.code == 7);
  CHECK(run.out == "heed|train|" + machine.root.string() + "|");
  CHECK(run.err == "heed: installing: " + install_line +
                       " ninja-build libxxhash-dev\ntalk\ntalk\n"
                       "heed: building for the first time\n");
  CHECK(machine.log().rfind("apt-get update\napt-get install -y --no-install-recommends "
                            "ninja-build libxxhash-dev\ncmake --preset release\n",
                            0) == 0);
}

TEST_CASE("if a package for speed or pictures cannot be installed, heed goes on without it",
          "[commands][launcher]") {
  const Machine machine;
  machine.as_user(0);
  machine.remove("include/libxsmm.h");
  machine.remove("bin/gnuplot");
  CHECK(machine.heed({"train"}).code == 7);
  CHECK(has(
      machine.heed({"train"}).err,
      "heed: note: some packages that heed can do without are missing: gnuplot-nox libxsmm-dev\n"));
}

TEST_CASE("a failed installation is an error, and nothing is built", "[commands][launcher]") {
  const Machine machine;
  machine.as_user(0);
  machine.remove("bin/ninja");
  const Finished run = machine.heed({"train"});
  CHECK(run.code == 1);
  CHECK(has(run.err, "heed: error: the packages could not be installed; is there a network?\n"));
  CHECK(machine.log() == "apt-get update\n");
  CHECK_FALSE(fs::exists(machine.root / "build"));
}

TEST_CASE("without apt-get, cmake names the missing package", "[commands][launcher]") {
  const Machine machine;
  machine.remove("bin/apt-get");
  machine.remove("include/xsimd/xsimd.hpp");
  machine.program("cmake", "echo 'heed needs xsimd: brew install xsimd'; exit 1");
  const Finished run = machine.heed({"train"});
  CHECK(run.code == 1);
  CHECK(run.err ==
        "heed: building for the first time\nheed needs xsimd: brew install "
        "xsimd\n"
        "heed: error: cmake failed to configure the build: heed needs xsimd: brew install xsimd\n");
}

TEST_CASE("a failed build is an error after the end of the build's output",
          "[commands][launcher]") {
  const Machine machine;
  REQUIRE(machine.heed({"setup"}).code == 0);
  machine.program("cmake", "echo 'x.cpp:1: expected ;'; exit 1");
  const Finished run = machine.heed({"lesson", "1"});
  CHECK(run.code == 1);
  CHECK(run.out == "");
  CHECK(run.err == "x.cpp:1: expected ;\nheed: error: the build failed: x.cpp:1: expected ;\n");
}

TEST_CASE("a failed build names the first error", "[commands][launcher]") {
  const Machine machine;
  REQUIRE(machine.heed({"setup"}).code == 0);
  const auto error_after = [&](const std::string& output) {
    put(machine / "output", output);
    machine.program("cmake", "cat '" + (machine / "output").string() + "'; exit 1");
    const std::string err = machine.heed({"lesson", "1"}).err;
    return err.substr(err.rfind("heed: error: "));
  };
  const std::string begin = "heed: error: the build failed: ";
  CHECK(error_after("[1/9] c++ -Werror=x a.cpp\na.cpp:1:2: error: expected ;\nb.cpp:3:4: error: "
                    "other\nninja: build stopped: subcommand failed.\n") ==
        begin + "a.cpp:1:2: error: expected ;\n");
  CHECK(error_after("a.cpp:1:10: fatal error: x.hpp: No such file or directory\nstopped\n") ==
        begin + "a.cpp:1:10: fatal error: x.hpp: No such file or directory\n");
  CHECK(error_after("a.o: in function main:\na.cpp:7: undefined reference to 'f'\nld failed\n") ==
        begin + "a.cpp:7: undefined reference to 'f'\n");
  CHECK(error_after("-- ok\nCMake Error at CMakeLists.txt:3 (message):\n\n  install it\n\nx\n") ==
        begin + "CMake Error at CMakeLists.txt:3 (message): install it\n");
}

TEST_CASE("a copied or moved project is configured afresh", "[commands][launcher]") {
  const Machine machine;
  const fs::path build = machine.root / "build/release";
  REQUIRE(machine.heed({"setup"}).code == 0);
  const auto log_with_home = [&](const std::string& home) {
    put(build / "CMakeCache.txt", "A:B=c\nCMAKE_HOME_DIRECTORY:INTERNAL=" + home + "\n");
    machine.forget();
    const Finished run = machine.heed({"setup"});
    CHECK(run.code == 0);
    CHECK(fs::exists(build / "CMakeCache.txt") == (run.err == ""));
    return machine.log().substr(0, machine.log().find('\n'));
  };
  const std::string built = "cmake --build " + build.string() + " --target all";
  fs::create_directory_symlink(machine.root, machine / "link");
  CHECK(log_with_home(machine.root.string()) == built);
  CHECK(log_with_home((machine / "link").string()) == built);
  CHECK(log_with_home(machine.path.string()) == "cmake --preset release");
  CHECK(log_with_home("/gone") == "cmake --preset release");
}

TEST_CASE("two first builds at once wait for one another", "[commands][launcher]") {
  const Machine machine;
  if (!fs::exists(machine / "tools/flock")) return;
  machine.link_tool("sleep");
  machine.program("cmake", "echo begin >>\"$LOG\"; sleep 0.3; touch " +
                               (machine.root / "build/release/build.ninja").string() +
                               "; echo end >>\"$LOG\"");
  const Finished both = machine.sh({"-c", "sh heed setup & sh heed setup; wait"}, machine.root);
  CHECK(both.code == 0);
  CHECK(machine.log() == "begin\nend\nbegin\nend\nbegin\nend\n");
  CHECK(has(both.err, "heed: waiting for another ./heed, which is building\n"));
}

TEST_CASE("launchers that mpirun has started build heed_mpi once, one after the other",
          "[commands][launcher]") {
  const Machine machine;
  if (!fs::exists(machine / "tools/flock")) return;
  for (const char* tool : {"sleep", "mv"}) machine.link_tool(tool);
  machine.program("cmake", R"(echo begin "$1" >>"$LOG"; sleep 0.1
case $1 in
  --preset) touch build/release/build.ninja ;;
  -DHEED_MPI=ON) echo HEED_MPI:BOOL=ON >>"$2/CMakeCache.txt" ;;
  --build)
    printf '#!/bin/sh\necho "$@"\n' >"$2/new"; chmod +x "$2/new"; mv "$2/new" "$2/heed_mpi" ;;
esac
echo end >>"$LOG")");
  const Finished both = machine.sh(
      {"-c",
       "OMPI_COMM_WORLD_RANK=0 sh heed train --shards 2 & PMI_RANK=1 sh heed train --shards 2; "
       "wait"},
      machine.root);
  CHECK(both.err == "heed: building for the first time\n");
  CHECK(both.out == "train --shards 2\ntrain --shards 2\n");
  CHECK(machine.log() ==
        "begin --preset\nend\nbegin -DHEED_MPI=ON\nend\nbegin --build\nend\nbegin "
        "--build\nend\n");
}

TEST_CASE("the launcher works from another folder and keeps it as the working directory",
          "[commands][launcher]") {
  const Machine machine;
  fs::create_directory(machine / "home");
  const std::string home = (machine / "home").string();
  CHECK(machine.sh({"../project/heed", "train"}, home).out == "heed|train|" + home + "|");
  CHECK(machine.sh({machine.root / "heed", "lesson", "1"}, home).out == "01_first|" + home + "|");
  CHECK(fs::is_empty(home));
}

TEST_CASE("the launcher works through symbolic links", "[commands][launcher]") {
  const Machine machine;
  fs::create_directory(machine / "home");
  const std::string home = (machine / "home").string();
  fs::create_symlink(machine.root / "heed", machine / "home" / "absolute");
  fs::create_symlink("../project/heed", machine / "home" / "relative");
  fs::create_symlink("relative", machine / "home" / "twice");
  fs::create_directory_symlink(machine.root, machine / "home" / "link");
  for (const char* name : {"./absolute", "relative", "./twice", "link/heed"}) {
    INFO(name);
    CHECK(machine.sh({name, "train"}, home).out == "heed|train|" + home + "|");
    CHECK(machine.sh({name, "lesson"}, home).out == machine.heed({"lesson"}).out);
  }
}

TEST_CASE("the launcher works in a folder whose name has spaces and special characters",
          "[commands][launcher]") {
  const Machine machine("my [own] project's *");
  CHECK(machine.heed({"lesson"}).out == Machine().heed({"lesson"}).out);
  CHECK(machine.heed({"train"}).out == "heed|train|" + machine.root.string() + "|");
  CHECK(machine.heed({"lesson", "3"}).out == "03_section|" + machine.root.string() + "|");
  CHECK(has(machine.heed({"lesson", "secton"}).err, "; did you mean section?\n"));
  const std::string build = (machine.root / "build/release").string();
  CHECK(has(machine.log(), "cmake --build " + build + " --target 03_section\n"));
}

TEST_CASE("CDPATH and a strange IFS change nothing", "[commands][launcher]") {
  const Machine machine;
  const Finished run = machine.sh(
      {"-c", "CDPATH=/:$PWD:..; IFS=_; export CDPATH IFS; sh project/heed lesson 2"}, machine.path);
  CHECK(run.out == "02_second_sight|" + machine.path.string() + "|");
}

TEST_CASE("the launcher has all packages that CMake searches for", "[commands][launcher]") {
  const std::string packages = content(HEED_SOURCE_DIR "/tools/launcher/packages.txt");
  const std::string build = content(HEED_SOURCE_DIR "/cmake/packages.cmake") +
                            content(HEED_SOURCE_DIR "/cmake/program_packages.cmake") +
                            content(HEED_SOURCE_DIR "/CMakeLists.txt");
  for (const std::string package : {"xtl-dev", "libxtensor-dev", "libxtensor-blas-dev",
                                    "libopenblas-dev", "libxsimd-dev", "nlohmann-json3-dev"}) {
    CHECK(has(build, package));
    CHECK(has(packages, "\n" + package + " "));
  }
}
