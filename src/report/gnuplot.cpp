// gnuplot.cpp: one child process per picture; its input and output are nameless temporary files.

#include "heed/report/gnuplot.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <locale>
#include <memory>
#include <sstream>
#include <vector>

#include "heed/array/error.hpp"
#include "heed/report/format.hpp"

namespace heed {
namespace {

constexpr const char* not_installed =
    "gnuplot is not installed, so nothing was drawn: install gnuplot-nox (apt) or gnuplot "
    "(brew, conda)";

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary_file() { return File(std::tmpfile(), std::fclose); }

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  return text;
}

// gnuplot says where the error is in several lines; the last one says what it is.
std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return visible(text.substr(text.find_last_of('\n') + 1));
}

// The child's side: only calls that are safe after fork in a program with threads.
[[noreturn]] void become_gnuplot(const char* folder, char* const* arguments, int in, int out,
                                 int err) {
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

Plot result(int status, const std::string& output, const std::string& errors) {
  if (WIFSIGNALED(status)) return {false, "gnuplot was stopped before it had drawn anything"};
  if (WEXITSTATUS(status) == 127) return {false, not_installed};
  if (WEXITSTATUS(status) == 126) return {false, "gnuplot could not be started"};
  if (WEXITSTATUS(status) != 0) return {false, "gnuplot: " + last_line(errors)};
  return {true, output};
}

// Runs gnuplot with an argument (a script's file name, or "-" for its standard input) and waits.
// The option -d keeps the user's own settings out of the picture.
Plot run(const std::string& folder, std::string argument, const std::string& input) {
  const File in = temporary_file(), out = temporary_file(), err = temporary_file();
  if (!in || !out || !err) return {false, "gnuplot could not be started: no temporary files"};
  std::fwrite(input.data(), 1, input.size(), in.get());
  std::rewind(in.get());
  std::string program = "gnuplot", option = "-d";
  char* const arguments[] = {program.data(), option.data(), argument.data(), nullptr};
  const pid_t child = fork();
  if (child < 0) return {false, std::string("gnuplot could not be started: ") + strerror(errno)};
  if (child == 0)
    become_gnuplot(folder.c_str(), arguments, fileno(in.get()), fileno(out.get()),
                   fileno(err.get()));
  const int status = status_of(child);
  return result(status, contents(out.get()), contents(err.get()));
}

}  // namespace

Plot draw_with_gnuplot(const std::string& folder, const std::string& name,
                       const std::string& script) {
  if (name.empty() || name.find('/') != std::string::npos)
    refuse("gnuplot: a picture's name is a file name without a folder, got '", name, "'");
  const std::string failure = write_text(path_in(folder, name + ".gp"), script);
  if (!failure.empty()) return {false, failure};
  const Plot plot = run(folder, "./" + name + ".gp", "");
  if (!plot.ok) return plot;
  const std::string picture = path_in(folder, name + ".svg");
  if (access(picture.c_str(), R_OK) != 0) return {false, "gnuplot did not write " + picture};
  return {true, picture};
}

Plot text_with_gnuplot(const std::string& script) { return run("", "-", script); }

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text == " " ? std::string(text) : visible(text))
    quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string gnuplot_number(double value) {
  if (value != value) return "NaN";
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(9);
  out << value;
  return out.str();
}

std::string gnuplot_range(double low, double high) {
  return "[" + gnuplot_number(low) + ":" + gnuplot_number(high) + "]";
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
