// terminal.hpp: what the person at the terminal sees, and how they stop the program.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "heed/report/progress.hpp"

namespace heed::app {

bool stdout_is_terminal();
bool stderr_is_terminal();
std::size_t terminal_width();  // columns of stderr's terminal, 80 when unknown

void note(const std::string& text);  // "heed: note: ..." on stderr

// A word as it is typed in a shell: it's here.txt as 'it'\''s here.txt'.
std::string shell_word(const std::string& word);

// The one live line at the bottom of a terminal, redrawn in place; silent in a pipe.
class LiveLine {
 public:
  ~LiveLine();
  void show(const ProgressState& state);      // at most ten times a second
  void show(const std::string& text);         // as it is, cut at the terminal's width
  void print_above(const std::string& line);  // a line that stays, on stderr
  void wipe();                                // before something else is printed

 private:
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// From now on SIGINT wipes the live line and ends the program at once.
void exit_at_interrupt();

// From now on SIGINT, SIGTERM and SIGHUP are remembered instead of ending the program (SIGHUP not
// under nohup, which says to ignore it), a second SIGINT ends it at once, and a closed pipe is no
// signal.
void remember_signals();
int remembered_signal();  // 0 for none

}  // namespace heed::app
