// terminal.cpp: terminal output (notes, the live progress line) and signal handlers.

#include "commands/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace heed::app {
namespace {

volatile std::sig_atomic_t last_signal = 0;
const std::atomic<int>* other_signal = nullptr;  // see watch_stop_signal()
bool notes_muted = false;

void record_signal(int signal) {
  if (signal == SIGINT && last_signal == SIGINT) _exit(130);
  if (signal != SIGPIPE || last_signal == 0) last_signal = signal;
}

// Restarts interrupted system calls, and runs the handler on a stack of its own, which the calling
// thread gets. On the thread's stack, a handler corrupted memory if the signal came during a
// product by oneDNN; probably its compiled kernels use memory below the stack pointer.
void handle(int signal, void (*handler)(int)) {
  static char stack[1 << 16];
  stack_t own_stack{};
  own_stack.ss_sp = stack;
  own_stack.ss_size = sizeof stack;
  sigaltstack(&own_stack, nullptr);
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

void wipe_line_and_exit(int) { _exit(write(STDERR_FILENO, "\r\x1b[K", 4) < 0 ? 1 : 130); }

// The number of bytes at the end of the text that begin a UTF-8 character without its last byte.
std::size_t incomplete_bytes(const std::string& text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(3, text.size()); ++size) {
    const auto byte = static_cast<unsigned char>(text[text.size() - size]);
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;  // a continuation byte
    const std::size_t needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return size < needed ? size : 0;
  }
  return 0;
}

std::string quoted_for_bash(const std::string& word) {
  std::string quoted = "$'";
  for (std::size_t i = 0; i < word.size();) {
    const std::string_view character = character_at(word, i);
    i += character.size();
    if (character == "'" || character == "\\")
      quoted += "\\" + std::string(character);
    else if (escaped(character) == character)
      quoted += character;
    else
      for (const char byte : character)
        quoted += hexadecimal("\\x%02llx", static_cast<unsigned char>(byte));
  }
  return quoted + "'";
}

}  // namespace

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void mute_notes() { notes_muted = true; }

void note(const std::string& text) {  // escapes control characters in file names
  if (notes_muted) return;
  std::cerr << "heed: note: " << printable(text) << std::endl;
}

std::string shell_path(const std::string& path) {
  const std::string word = path.size() > 1 && path[0] == '-' ? "./" + path : path;
  const char* const unquoted =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:,@%=";
  if (!word.empty() && word.find_first_not_of(unquoted) == word.npos) return word;
  if (escaped(word) != word) return quoted_for_bash(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

void TextWriter::write(const std::string& text) {
  if (!escapes_) {
    std::cout << text << std::flush;
    return;
  }
  pending_ += text;
  const std::size_t complete = pending_.size() - incomplete_bytes(pending_);
  std::cout << escaped_lines(pending_.substr(0, complete)) << std::flush;
  pending_.erase(0, complete);
}

void TextWriter::finish() {
  std::cout << escaped_lines(pending_) << std::flush;
  pending_.clear();
}

LiveLine::~LiveLine() { wipe(); }

void LiveLine::show(const ProgressState& state) {
  const auto now = std::chrono::steady_clock::now();
  if (!stderr_is_terminal() || (shown_ && now - last_ < std::chrono::milliseconds(100))) return;
  show(progress_line(state, terminal_width() - 1));
  last_ = now;
}

void LiveLine::show(const std::string& text) {
  if (!stderr_is_terminal()) return;
  std::cerr << '\r' << truncated(text, terminal_width() - 1) << "\x1b[K" << std::flush;
  shown_ = true;
}

void LiveLine::print_above(const std::string& line) {
  wipe();
  std::cerr << line << std::endl;
}

void LiveLine::wipe() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

void exit_at_interrupt() {
  // If stderr is not a terminal, there is no progress line to erase.
  if (stderr_is_terminal()) handle(SIGINT, wipe_line_and_exit);
}

// If SIGHUP (by nohup) or SIGPIPE (by the program that started heed) is ignored, it stays ignored.
void catch_stop_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    const bool stays_ignored = (signal == SIGHUP || signal == SIGPIPE) && old.sa_handler == SIG_IGN;
    if (!stays_ignored) handle(signal, record_signal);
  }
}

int received_signal() {
  if (last_signal != 0 || other_signal == nullptr) return last_signal;
  return other_signal->load();
}

void watch_stop_signal(const std::atomic<int>* signal) { other_signal = signal; }

}  // namespace heed::app
