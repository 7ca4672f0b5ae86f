// terminal.hpp: terminal output (notes, the live progress line) and signal handlers.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "heed/report/progress.hpp"

namespace heed::app {

bool stdout_is_terminal();
bool stderr_is_terminal();
std::size_t terminal_width();  // columns of the terminal on stderr, 80 if unknown

void note(const std::string& text);  // prints "heed: note: TEXT" on stderr

// The word, quoted for a shell if necessary: it's here.txt becomes 'it'\''s here.txt'.
std::string shell_word(const std::string& word);

// A line at the bottom of the terminal that is redrawn in place. Prints nothing unless stderr is a
// terminal.
class LiveLine {
 public:
  ~LiveLine();
  void show(const ProgressState& state);      // draws at most ten times a second
  void show(const std::string& text);         // cuts the text at the terminal's width
  void print_above(const std::string& line);  // prints a permanent line on stderr
  void wipe();                                // erases the line; call it before other output

 private:
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// Installs a SIGINT handler that wipes the live line and ends the program.
void exit_at_interrupt();

// Installs handlers that record SIGINT, SIGTERM and SIGHUP instead of ending the program. A second
// SIGINT ends the program. If SIGHUP is ignored (nohup), it stays ignored. Ignores SIGPIPE.
void catch_stop_signals();
int received_signal();  // 0 if no signal was received

}  // namespace heed::app
