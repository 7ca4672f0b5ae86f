// child_program.cpp: running another program, with an environment of its own, to its end.

#include "heed/app/child_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

#include "heed/array/error.hpp"
#include "heed/report/format.hpp"

extern char** environ;

namespace heed::app {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary_file() {
  File file(std::tmpfile(), std::fclose);
  if (!file) refuse("no temporary file: ", std::strerror(errno));
  return file;
}

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  return text;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
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

// The child's side: only calls that are safe after fork in a program with threads.
[[noreturn]] void become(char** arguments, char** environment, int out, int err) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  const int in = open("/dev/null", O_RDONLY);
  if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
    _exit(126);
  environ = environment;
  execvp(arguments[0], arguments);
  _exit(errno == ENOENT ? 127 : 126);
}

int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 126;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A program may say what went wrong in several lines; the last one says what it is.
std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  text = text.substr(text.find_last_of('\n') + 1);
  const std::string own = "heed: error: ";
  return visible(text.rfind(own, 0) == 0 ? text.substr(own.size()) : text);
}

}  // namespace

ChildResult run_child(std::vector<std::string> words, const EnvironmentChanges& changes) {
  const File out = temporary_file(), err = temporary_file();
  std::vector<std::string> environment = changed_environment(changes);
  const std::vector<char*> arguments = pointers(words), settings = pointers(environment);
  const pid_t child = fork();
  if (child < 0) refuse(words[0], ": cannot be started: ", std::strerror(errno));
  if (child == 0)
    become(const_cast<char**>(arguments.data()), const_cast<char**>(settings.data()),
           fileno(out.get()), fileno(err.get()));
  const int code = exit_code_of(child);
  return {code, contents(out.get()), contents(err.get())};
}

std::string output_of(const std::string& who, const std::vector<std::string>& words,
                      const EnvironmentChanges& changes) {
  const ChildResult result = run_child(words, changes);
  if (result.code == 0) return result.out;
  const std::string said = last_line(result.err);
  refuse(who, ": ", said.empty() ? "ended with code " + std::to_string(result.code) : said);
}

}  // namespace heed::app
