// sessions.hpp: runs gdb and LLDB with heed's commands, and compares what they print with
// transcripts.
//
// A transcript (*.txt) has the program on its first line, then the commands after "(gdb)" and their
// output. NAME_O2.txt, of a session at -O2, has the output of `diff NAME.txt` only. Numbers must
// agree to four digits; line numbers of source files may differ. If HEED_WRITE_TRANSCRIPTS is set,
// the tests write the transcripts; review the changes afterwards. Write those at -Og before those
// at -O2.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "catch.hpp"
#include "commands/child.hpp"
#include "heed/base/text.hpp"
#include "lessons/programs.hpp"
#include "scratch_folder.hpp"

namespace heed_test {

using Lines = std::vector<std::string>;

inline const std::string programs = HEED_BINARY_DIR "/tests/debug/";

// The path of a program in PATH, or "".
inline std::string path_of(const std::string& program) {
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : heed::split(path != nullptr ? path : "", ':'))
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return folder + "/" + program;
  return "";
}

// Runs these commands in gdb, which prints each one before its output.
inline Finished gdb(const std::filesystem::path& folder, const Arguments& program,
                    const Lines& commands) {
  Arguments arguments = {"/bin/sh",
                         "-c",
                         "exec \"$@\" 2>&1",
                         "sh",
                         path_of("gdb"),
                         "-q",
                         "-nx",
                         "-batch",
                         "-iex",
                         "set pagination off",
                         "-iex",
                         "set debuginfod enabled off",
                         "-iex",
                         "set confirm off",
                         "-iex",
                         "set width 0"};
  for (const std::string& line : commands)
    arguments = arguments + Arguments{"-ex", "echo \\n(gdb) " + line + "\\n", "-ex", line};
  return run({arguments + Arguments{"--args"} + program,
              folder,
              "",
              {{"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"NO_COLOR", "1"}}});
}

// The reason why gdb cannot be tested on this machine, or "".
inline std::string reason_to_skip() {
  if (path_of("gdb").empty()) return "gdb is not installed";
  const std::string out = gdb("/", {"/bin/true"}, {"python print(6 * 7)", "run"}).out;
  if (!has(out, "\n42\n")) return "this gdb has no Python";
  return has(out, "exited normally") ? "" : "gdb may not trace programs here";
}

inline bool can_debug() {
  static const std::string reason = reason_to_skip();
  if (!reason.empty()) WARN("skipped: " + reason);
  return reason.empty();
}

// Whether gdb can call functions of the program. gdb before version 14 cannot write the registers
// of processors with AMX.
inline bool can_call() {
  if (!can_debug()) return false;
  static const Finished written =
      gdb("/", {"/bin/true"}, {"starti", "print $xmm0.v4_int32[0] = 1"});
  const bool possible = !has(written.out + written.err, "extended state");
  if (!possible) WARN("skipped: this gdb cannot call functions on this processor (AMX)");
  return possible;
}

// Replaces paths, addresses and line numbers, which depend on the machine or on source edits, and
// "x=x@entry=1" by "x=1", since the compiler decides which values at entry gdb knows.
inline std::string normalized(std::string text) {
  const std::string root = HEED_SOURCE_DIR "/";
  for (std::size_t i; (i = text.find(root)) != text.npos;) text.erase(i, root.size());
  text = std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0x");
  text = std::regex_replace(text, std::regex("([ch]pp):[0-9]+"), "$1:N");
  text = std::regex_replace(text, std::regex("\n[0-9]+\t"), "\nN\t");
  text = std::regex_replace(text, std::regex("line = [0-9]+"), "line = N");
  text = std::regex_replace(text, std::regex("\\b([a-z_]+)=\\1@entry="), "$1=");
  return std::regex_replace(text, std::regex("process [0-9]+"), "process N");
}

// Whether gdb itself printed this line. Transcripts omit such lines.
inline bool is_gdb_message(const std::string& line) {
  for (const char* start : {"[Thread debugging", "Using host lib", "[New ", "[Thread ",
                            "warning: ", "Core was generated", "Saved corefile", "[Detaching",
                            "[Current thread", "Program terminated", "Breakpoint "})
    if (line.rfind(start, 0) == 0) return true;
  return line.empty() || std::regex_search(line, std::regex("^#[0-9]+ +0x in "));
}

inline Lines session_lines(const std::string& output) {
  Lines result;
  for (const std::string& line : lines_of(normalized(output)))
    if (!is_gdb_message(line)) result.push_back(line);
  return result;
}

// The line without the worst element of a gradient that agrees with central differences: which one
// is worst depends on the last digits.
inline std::string without_worst(const std::string& line) {
  const std::size_t worst = line.find("; worst at ");
  return line.find("agrees with central differences") == line.npos ? line : line.substr(0, worst);
}

// Whether two lines are equal up to the last digits of numbers with a decimal point.
inline bool near_line(const std::string& line, const std::string& other) {
  const std::string a = without_worst(line), b = without_worst(other);
  static const std::regex number("-?[0-9]+\\.[0-9]+(e[-+][0-9]+)?");
  const auto without_numbers = [](const std::string& text) {
    return std::regex_replace(std::regex_replace(text, number, "#"), std::regex(" +"), " ");
  };
  if (without_numbers(a) != without_numbers(b)) return false;
  const std::sregex_iterator end;
  std::sregex_iterator x(a.begin(), a.end(), number), y(b.begin(), b.end(), number);
  for (; x != end; ++x, ++y) {
    const double p = std::stod(x->str()), q = std::stod(y->str());
    if (std::abs(p - q) > 1.01e-4 * std::max({1.0, std::abs(p), std::abs(q)}) &&
        std::abs(p - q) > 1e-3 * std::abs(q))
      return false;
  }
  return true;
}

inline std::string transcript_path(const std::string& name) {
  return HEED_SOURCE_DIR "/tests/debug/" + name + ".txt";
}

struct Transcript {
  Arguments program;
  Lines commands, lines;  // `lines` has the commands and their output
};

// Applies the output of `diff`: 2c2,3, the lines that go after "< ", and the lines that come after
// "> ".
inline Lines applied(const Lines& text, const Lines& difference) {
  static const std::regex command("([0-9]+)(,[0-9]+)?[acd].*");
  Lines result;
  std::size_t next = 0;  // the first line of `text` that is not yet in the result
  for (const std::string& line : difference) {
    std::smatch match;
    if (std::regex_match(line, match, command)) {
      const std::size_t first = std::stoul(match[1]);
      const std::size_t end = line.find('a') == line.npos ? first - 1 : first;
      while (next < end) result.push_back(text.at(next++));
    } else if (line.rfind("< ", 0) == 0) {
      INFO("the transcript at -Og has changed; write the one at -O2 again");
      REQUIRE(text.at(next++) == line.substr(2));
    } else if (line.rfind("> ", 0) == 0) {
      result.push_back(line.substr(2));
    }
  }
  while (next < text.size()) result.push_back(text[next++]);
  return result;
}

// The name of the transcript at -Og if `name` is one at -O2, otherwise "".
inline std::string at_Og(const std::string& name) {
  const std::size_t level = name.rfind("_O2");
  return level == name.npos ? "" : name.substr(0, level);
}

inline Lines transcript_lines(const std::string& name) {
  const Lines lines = lines_of(content(transcript_path(name)));
  return at_Og(name).empty() ? lines : applied(transcript_lines(at_Og(name)), lines);
}

inline Transcript read_transcript(const std::string& name) {
  Transcript result;
  for (const std::string& line : transcript_lines(name)) {
    if (line.rfind("$ ", 0) == 0) {
      result.program = heed::split(line.substr(2), ' ');
      continue;
    }
    if (line.rfind("(gdb) ", 0) == 0) result.commands.push_back(line.substr(6));
    if (!line.empty()) result.lines.push_back(line);
  }
  return result;
}

inline void write_transcript(const std::string& name, const Transcript& expected,
                             const Lines& lines) {
  const ScratchFolder folder;
  std::ofstream file(folder / "whole.txt");
  file << "$ " << heed::joined(expected.program, " ") << '\n';
  for (const std::string& line : lines) {
    if (line.rfind("(gdb) ", 0) == 0) file << '\n';
    file << line << '\n';
  }
  file.close();
  const std::string base = at_Og(name).empty() ? "" : transcript_path(at_Og(name));
  const LessonRun run = run_in(folder.path, base.empty() ? "cat" : "diff", base + " whole.txt");
  std::ofstream(transcript_path(name)) << run.output;
}

inline void compare(const std::string& name, const Transcript& expected, const Lines& lines) {
  if (std::getenv("HEED_WRITE_TRANSCRIPTS") != nullptr)
    return write_transcript(name, expected, lines);
  for (std::size_t i = 0; i < std::max(lines.size(), expected.lines.size()); ++i) {
    const std::string line = i < lines.size() ? lines[i] : "(no more lines)";
    const std::string wanted = i < expected.lines.size() ? expected.lines[i] : "(no more lines)";
    INFO(name << ", line " << i + 1 << "\n  expected " << wanted << "\n  printed  " << line);
    // At -O2, and after a call in backward(), the line at which gdb stops depends on the
    // processor's instructions.
    const bool in_backward = i > 0 && has(expected.lines.at(i - 1), "#0  heed::backward (");
    const bool any_line =
        (has(name, "_O2") || in_backward) && has(line, "N\t") && has(wanted, "N\t");
    REQUIRE((any_line || near_line(line, wanted)));
  }
}

// A folder for a session, with a link to the project's tools, or to the folder HEED_TEST_TOOLS.
struct SessionFolder : ScratchFolder {
  SessionFolder() {
    const char* const tools = std::getenv("HEED_TEST_TOOLS");
    std::filesystem::create_directory_symlink(tools != nullptr ? tools : HEED_SOURCE_DIR "/tools",
                                              path / "tools");
  }
};

inline Lines session(const std::filesystem::path& folder, const Arguments& program,
                     Lines commands) {
  commands.insert(commands.begin(), "source tools/debugger/heed_gdb.py");
  return session_lines(gdb(folder, program, commands).out);
}

inline std::string text_of(const Lines& lines) { return heed::joined(lines, "\n"); }

// Removes source lines: which line of a function comes first depends on the optimisation level.
inline Lines without_source(const Lines& lines) {
  Lines result;
  for (const std::string& line : lines)
    if (line.rfind("N\t", 0) != 0) result.push_back(line);
  return result;
}

// The output of the transcript's commands, in the transcript's program unless one is given.
inline Lines replayed(const std::string& name, const std::filesystem::path& folder,
                      Arguments program) {
  const Transcript expected = read_transcript(name);
  REQUIRE(!expected.commands.empty());
  if (program.empty()) {
    program = expected.program;
    program[0] = programs + program[0];
  }
  const Finished finished = gdb(folder, program, expected.commands);
  CHECK(finished.out.find("Traceback") == std::string::npos);
  return session_lines(finished.out);
}

inline void check_transcript(const std::string& name) {
  const SessionFolder folder;
  compare(name, read_transcript(name), replayed(name, folder.path, {}));
}

}  // namespace heed_test
