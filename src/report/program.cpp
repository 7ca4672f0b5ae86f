// program.cpp: one child process per picture; its input and output are nameless temporary files.

#include "heed/report/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "heed/array/error.hpp"
#include "heed/report/format.hpp"

namespace heed {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary_file() { return File(std::tmpfile(), std::fclose); }

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  return text;
}

// A program may say where an error is in several lines; the last one says what it is.
std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return visible(text.substr(text.find_last_of('\n') + 1));
}

// The child's side: only calls that are safe after fork in a program with threads.
[[noreturn]] void become(char* const* arguments, const char* folder, int in, int out, int err) {
  const bool ready = (folder[0] == '\0' || chdir(folder) == 0) && dup2(in, STDIN_FILENO) >= 0 &&
                     dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0;
  if (ready) execvp(arguments[0], arguments);
  _exit(ready && errno == ENOENT ? 127 : 126);
}

int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 126 << 8;
  return status;
}

Plot result(const DrawingProgram& program, int status, const std::string& output,
            const std::string& errors) {
  if (WIFSIGNALED(status))
    return {false, program.name + " was stopped before it had drawn anything"};
  if (WEXITSTATUS(status) == 127)
    return {false,
            program.name + " is not installed, so nothing was drawn: install " + program.packages};
  if (WEXITSTATUS(status) == 126) return {false, program.name + " could not be started"};
  if (WEXITSTATUS(status) != 0) return {false, program.name + ": " + last_line(errors)};
  return {true, output};
}

}  // namespace

Plot run_program(const DrawingProgram& program, std::vector<std::string> command,
                 const std::string& folder, const std::string& input) {
  const std::string no_start = program.name + " could not be started: ";
  const File in = temporary_file(), out = temporary_file(), err = temporary_file();
  if (!in || !out || !err) return {false, no_start + "no temporary files"};
  std::fwrite(input.data(), 1, input.size(), in.get());
  std::rewind(in.get());
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return {false, no_start + strerror(errno)};
  if (child == 0)
    become(arguments.data(), folder.c_str(), fileno(in.get()), fileno(out.get()),
           fileno(err.get()));
  const int status = status_of(child);
  return result(program, status, contents(out.get()), contents(err.get()));
}

Plot draw_with(const DrawingProgram& program, std::vector<std::string> command,
               const std::string& folder, const std::string& name, const std::string& ending,
               const std::string& text) {
  if (name.empty() || name.find('/') != std::string::npos)
    refuse(program.name, ": a picture's name is a file name without a folder, got '", name, "'");
  const std::string failure = write_text(path_in(folder, name + ending), text);
  if (!failure.empty()) return {false, failure};
  const Plot plot = run_program(program, std::move(command), folder, "");
  if (!plot.ok) return plot;
  const std::string picture = path_in(folder, name + ".svg");
  if (access(picture.c_str(), R_OK) != 0)
    return {false, program.name + " did not write " + picture};
  return {true, picture};
}

std::string write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return "";
  return path + ": cannot be written" + (errno != 0 ? std::string(": ") + strerror(errno) : "");
}

std::string path_in(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder.back() == '/') return folder + name;
  return folder + "/" + name;
}

}  // namespace heed
