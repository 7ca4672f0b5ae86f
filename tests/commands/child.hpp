// child.hpp: starts a program as a child process and captures its output.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"

extern char** environ;

namespace heed_test {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Call {
  Arguments arguments;  // the program's full path, then its arguments
  std::filesystem::path folder;
  std::string input = {};                               // standard input
  std::map<std::string, std::string> environment = {};  // variables to add or to replace
  // If set, stdout and stderr are a terminal with this number of columns (0 if unknown).
  std::optional<std::size_t> terminal = {};
  bool typed = false;  // whether stdin is that terminal too, for Child::type()
};

#ifdef __APPLE__
inline constexpr std::size_t maxrss_unit = 1;  // in bytes
#else
inline constexpr std::size_t maxrss_unit = 1024;
#endif

struct Finished {
  int code = -1;  // 128 + the signal's number if a signal ended the child, as in a shell
  std::string out, err;
  std::size_t peak = 0;  // peak memory of the child or its own children, in bytes
};

// A running child process. An alarm ends it after two minutes.
class Child {
 public:
  explicit Child(const Call& call) {
    std::fwrite(call.input.data(), 1, call.input.size(), in_.get());
    std::rewind(in_.get());
    int ends[2];
    if (call.terminal)
      open_terminal(*call.terminal, ends);
    else if (::pipe(ends) != 0)
      throw std::runtime_error("no pipe");
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    out_ = ends[0];
    start(call, ends[1]);
    ::close(ends[1]);
  }
  ~Child() {
    close_output();
    if (id_ > 0) kill(SIGKILL);
    if (id_ > 0) wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Reads output until it contains `part` or the child ends.
  void read_until(const std::string& part) {
    while (output_.find(part) == output_.npos && read_more()) continue;
  }
  // Reads at least `bytes` bytes of output, fewer if the child ends.
  void read_bytes(std::size_t bytes) {
    while (output_.size() < bytes && read_more()) continue;
  }
  // Types the text at the terminal, which echoes it.
  void type(const std::string& text) {
    if (::write(out_, text.data(), text.size()) < 0) throw std::runtime_error("no terminal");
  }
  void kill(int signal) { ::kill(id_, signal); }
  pid_t process() const { return id_; }
  void close_output() {
    if (out_ >= 0) ::close(out_);
    out_ = -1;
  }
  // Reads output until the child ends.
  Finished finish() {
    while (out_ >= 0 && read_more()) continue;
    rusage used{};
    const int status = wait(&used);
    std::rewind(err_.get());
    std::string errors;
    for (int c; (c = std::fgetc(err_.get())) != EOF;) errors += static_cast<char>(c);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output_, errors,
            static_cast<std::size_t>(used.ru_maxrss) * maxrss_unit};
  }

 private:
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  static File temporary() { return File(std::tmpfile(), std::fclose); }

  // Opens a terminal that passes bytes unchanged. The child gets ends[1], this program ends[0].
  static void open_terminal(std::size_t columns, int* ends) {
    ends[0] = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (ends[0] < 0 || ::grantpt(ends[0]) != 0 || ::unlockpt(ends[0]) != 0)
      throw std::runtime_error("no terminal");
    ends[1] = ::open(::ptsname(ends[0]), O_RDWR | O_NOCTTY);
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    termios settings{};
    if (::ioctl(ends[1], TIOCSWINSZ, &size) != 0 || ::tcgetattr(ends[1], &settings) != 0)
      throw std::runtime_error("no terminal");
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ::tcsetattr(ends[1], TCSANOW, &settings);
  }
  void start(const Call& call, int out);
  bool read_more() {
    char buffer[256];
    const ssize_t n = ::read(out_, buffer, sizeof buffer);
    if (n > 0) output_.append(buffer, static_cast<std::size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
  }
  int wait(rusage* used = nullptr) {
    int status = 0;
    while (::wait4(id_, &status, 0, used) < 0 && errno == EINTR) continue;
    id_ = -1;
    return status;
  }

  File in_ = temporary(), err_ = temporary();
  int out_ = -1;
  pid_t id_ = -1;
  std::string output_;
};

inline std::vector<char*> pointers(Arguments& arguments) {
  std::vector<char*> result;
  for (std::string& argument : arguments) result.push_back(argument.data());
  result.push_back(nullptr);
  return result;
}

inline Arguments merged_environment(const std::map<std::string, std::string>& changes) {
  Arguments result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string line = *entry;
    if (changes.count(line.substr(0, line.find('='))) == 0) result.push_back(line);
  }
  for (const auto& [name, value] : changes) result.push_back(name + "=" + value);
  return result;
}

inline void Child::start(const Call& call, int out) {
  Arguments arguments = call.arguments, environment = merged_environment(call.environment);
  const std::vector<char*> argument_pointers = pointers(arguments),
                           settings = pointers(environment);
  const int err = call.terminal ? out : fileno(err_.get());
  // Until the child has other handlers, a signal would call Catch's, which can wait for ever.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  id_ = ::fork();
  if (id_ == 0)
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (id_ != 0) return;
  ::alarm(120);
  if (::chdir(call.folder.c_str()) == 0 && ::dup2(call.typed ? out : fileno(in_.get()), 0) >= 0 &&
      ::dup2(out, 1) >= 0 && ::dup2(err, 2) >= 0)
    ::execve(argument_pointers[0], argument_pointers.data(), settings.data());
  ::_exit(127);
}

// Whether a terminal can be opened. In a bare chroot this fails.
inline bool has_terminals() {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  const bool usable = terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0;
  if (terminal >= 0) ::close(terminal);
  if (!usable) WARN("skipped: no terminal can be opened here");
  return usable;
}

inline Finished run(const Call& call) { return Child(call).finish(); }

}  // namespace heed_test
