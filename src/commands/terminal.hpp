// terminal.hpp: terminal output (notes, the live progress line) and signal handlers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include "draw/progress.hpp"

namespace heed::app {

bool stdout_is_terminal();
bool stderr_is_terminal();
std::size_t terminal_width();  // the width of the terminal on stderr, in columns; 80 if unknown

void note(const std::string& text);  // prints "heed: note: TEXT" on stderr
void mute_notes();                   // makes note() print nothing: only rank 0 of a run prints

// Returns a path as a word of a command line, quoted if necessary: `it's here.txt` becomes
// `'it'\''s here.txt'`. A path with characters that cannot be printed is quoted as
// $'caf\xe9.txt', which bash and zsh read. `-x`, which a program would take for a flag, becomes
// `./-x`; `-` stays as it is.
std::string shell_path(const std::string& path);

// Writes text of a model or a user to stdout. On a terminal, every character that is not printable,
// except newline and tab, is replaced by an escape sequence: the text could contain commands to the
// terminal. In a pipe or a file, the bytes are unchanged.
class TextWriter {
 public:
  ~TextWriter() { finish(); }
  void write(const std::string& text);  // holds back the beginning of an incomplete character
  void finish();                        // writes what write() has held back

 private:
  bool escapes_ = stdout_is_terminal();
  std::string pending_;
};

// A status line at the bottom of the terminal, redrawn in place. Prints nothing unless stderr is a
// terminal.
class LiveLine {
 public:
  ~LiveLine();
  void show(const ProgressState& state);      // redraws at most ten times per second
  void show(const std::string& text);         // truncates the text to the terminal's width
  void print_above(const std::string& line);  // prints a line above the progress line, on stderr
  void wipe();                                // erases the progress line; call before other output

 private:
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// Installs a SIGINT handler that erases the live progress line and ends the program.
void exit_at_interrupt();

// Installs handlers that record SIGINT, SIGTERM and SIGHUP instead of ending the program. A second
// SIGINT ends the program. If SIGHUP is ignored (nohup), it stays ignored. SIGPIPE (the reader of a
// pipe has ended) is recorded too, unless another signal was received before.
void catch_stop_signals();
int received_signal();  // the number of the recorded signal, or 0 if none was received
// Makes received_signal() return *signal too, which another process may set in shared memory.
void watch_stop_signal(const std::atomic<int>* signal);

}  // namespace heed::app
