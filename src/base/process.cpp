// process.cpp: run_child (fork and exec), with temporary files as input and outputs.

#include "base/process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/machine.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

extern char** environ;

namespace heed {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
using Files = std::array<File, 3>;  // standard input, output and error: file descriptors 0, 1, 2

File temporary_file() {
  File file(std::tmpfile(), std::fclose);
  if (!file) throw_error("cannot create a temporary file: ", std::strerror(errno));
  return file;
}

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  return text;
}

std::vector<char*> c_strings(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> changed_environment(const EnvironmentChanges& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string line = *entry;
    if (changes.count(line.substr(0, line.find('='))) == 0) result.push_back(line);
  }
  for (const auto& [name, value] : changes)
    if (value) result.push_back(name + "=" + *value);
  return result;
}

// The absolute path of a program, which is searched in the folders of PATH if its name has no
// slash. Returns "" if there is no such program.
std::string resolved(const std::string& name) {
  std::error_code error, ignored;
  if (name.find('/') != name.npos) return std::filesystem::absolute(name, error).string();
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const auto file = std::filesystem::absolute(folder.empty() ? "." : folder, error) / name;
    if (!error && access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, ignored))
      return file.string();
  }
  return "";
}

// Runs in the child process, where only async-signal-safe functions are allowed before exec.
[[noreturn]] void exec_program(const char* path, char* const* arguments, char** environment,
                               const char* folder, const Files& files) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  unbind_thread();
  bool ready = folder[0] == '\0' || chdir(folder) == 0;
  int descriptor = 0;
  for (const File& file : files) ready = ready && dup2(fileno(file.get()), descriptor++) >= 0;
  environ = environment;
  if (ready) execvp(path, arguments);
  _exit(ready && errno == ENOENT ? 127 : 126);
}

int exit_code_of(pid_t child, int (*stop_signal)()) {
  int status = 0;
  bool stopped = false;
  for (pid_t ended = 0; ended != child;) {
    ended = waitpid(child, &status, stop_signal == nullptr ? 0 : WNOHANG);
    if (ended < 0 && errno != EINTR) return 126;
    if (ended != 0) continue;
    if (!stopped && stop_signal() != 0) stopped = kill(child, SIGTERM) == 0;
    usleep(20'000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string ChildResult::last_error() const {
  std::string text = err;
  text.erase(text.find_last_not_of(" \n") + 1);
  return printable(text.substr(text.find_last_of('\n') + 1));
}

ChildResult run_child(ChildProgram program) {
  if (program.words.empty()) throw_error("run_child: words is empty; give the name of a program");
  const Files files{temporary_file(), temporary_file(), temporary_file()};
  const auto& [in, out, err] = files;
  std::fwrite(program.input.data(), 1, program.input.size(), in.get());
  std::rewind(in.get());
  std::vector<std::string> environment = changed_environment(program.environment);
  const std::vector<char*> arguments = c_strings(program.words);
  std::vector<char*> variables = c_strings(environment);
  const std::string file = resolved(program.words[0]);
  if (file.empty()) return {127, "", ""};
  const pid_t child = fork();
  if (child < 0) throw_error(program.words[0], ": cannot be started: ", std::strerror(errno));
  if (child == 0)
    exec_program(file.c_str(), arguments.data(), variables.data(), program.folder.c_str(), files);
  const int code = exit_code_of(child, program.stop_signal);
  return {code, contents(out.get()), contents(err.get())};
}

}  // namespace heed
