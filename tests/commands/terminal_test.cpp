// terminal_test.cpp: the output of heed train on a terminal.

#include "commands/terminal.hpp"

#include <atomic>
#include <sstream>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;

namespace {

// The visible text after a terminal has processed all output, including wiped lines.
std::string screen(const std::string& sent) {
  std::string lines, line;
  std::size_t cursor = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i] == '\n') {
      lines += line + "\n";
      line.clear();
      cursor = 0;
    } else if (sent[i] == '\r') {
      cursor = 0;
    } else if (sent.compare(i, 3, "\x1b[K") == 0) {
      line.resize(cursor);
      i += 2;
    } else {
      line.resize(std::max(line.size(), cursor + 1));
      line[cursor++] = sent[i];
    }
  }
  return lines + line;
}

// The lines that were wiped or overwritten later.
std::vector<std::string> live_lines(const std::string& sent) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; (begin = sent.find('\r', begin)) != sent.npos; ++begin) {
    const std::size_t end = sent.find("\x1b[K", begin);
    if (end != begin + 1 && end != sent.npos)
      lines.push_back(sent.substr(begin + 1, end - begin - 1));
  }
  return lines;
}

// The line on the screen that begins with `prefix`.
std::string line_of(const std::string& shown, const std::string& prefix) {
  const std::size_t begin = ("\n" + shown).find("\n" + prefix);
  return begin == shown.npos ? "" : shown.substr(begin, shown.find('\n', begin) - begin);
}

std::string sent_to_terminal(const Sandbox& sandbox, std::size_t columns,
                             const Arguments& arguments) {
  Call call = sandbox.call(arguments + Arguments{"--replace"});
  call.terminal = columns;
  const Finished finished = run(call);
  CHECK(finished.code == 0);
  CHECK(finished.err == "");
  return finished.out;
}

}  // namespace

TEST_CASE("on a terminal a live line shows the progress, fits the width, and is wiped at the end",
          "[commands][terminal]") {
  if (!has_terminals()) return;
  const Sandbox sandbox;
  for (const std::size_t columns : {18u, 40u, 120u}) {
    INFO(columns << " columns");
    const std::string sent = sent_to_terminal(sandbox, columns, train_tiny);
    const std::vector<std::string> lines = live_lines(sent);
    REQUIRE(!lines.empty());
    CHECK(has(lines[0], " 1/20"));
    CHECK(has(lines[0], " loss ") == (columns >= 40));
    CHECK(has(lines[0], " tokens/s  ") == (columns == 120));
    for (const std::string& line : lines) CHECK(heed::display_width(line) < columns);
    const std::string left = screen(sent);
    CHECK_FALSE(has(left, "/20"));
    CHECK(line_of(left, "text ") != "");
    CHECK(line_of(left, "step  1") == "");  // only rows with a validation are printed
    const std::size_t width = heed::display_width(line_of(left, "step 20  t"));
    CHECK((columns == 120 ? width > 36 && width < columns : width == columns - 1));
    CHECK(has(left, content(sandbox / "o/sample.txt")));
  }
}

TEST_CASE("the live line shows the speed and the time left of the row's milliseconds",
          "[commands][terminal]") {
  if (!has_terminals()) return;
  const Sandbox sandbox;
  Call call = sandbox.call({"train", "in.txt", "--out", "o", "--layers", "4", "--steps", "40",
                            "--eval-batches", "1", "--log-every", "1", "--threads", "1"});
  call.terminal = 120;
  Child child(call);
  child.read_until("/40 ");
  // Several pauses, because a pause may fall between two steps: one of the steps that are left
  // takes more than a second.
  for (const useconds_t delay : {3'000, 7'000, 11'000}) {
    ::usleep(delay);
    child.kill(SIGSTOP);
    ::usleep(1'200'000);
    child.kill(SIGCONT);
  }
  const std::vector<std::string> lines = live_lines(child.finish().out);
  std::vector<std::string> rows;  // row k is that of step k
  std::istringstream csv(content(sandbox / "o/loss.csv"));
  for (std::string row; std::getline(csv, row);) rows.push_back(row);
  REQUIRE(rows.size() == 41);
  int slow = 0;
  for (const std::string& line : lines) {
    const std::size_t step = std::stoul(line.substr(line.find("/40 ") - 2, 2));
    const double ms = std::stod(rows[step].substr(rows[step].rfind(',') + 1));
    INFO(line << ", " << ms << " ms a step");
    CHECK(has(line, "  " + heed::grouped(12 * 64 * 1000 / ms) + " tokens/s  " +
                        heed::duration(static_cast<double>(40 - step) * ms / 1000) + " left"));
    slow += ms > 1000 ? 1 : 0;
  }
  CHECK(slow > 0);
}

TEST_CASE("lines are cut to the terminal's width, or to 80 if it is unknown",
          "[commands][terminal]") {
  if (!has_terminals()) return;
  const Sandbox sandbox;
  std::string wide;
  for (int i = 0; i < 1000; ++i)  // U+4E00 to U+4E3F, two columns each
    wide += {'\xe4', '\xb8', static_cast<char>(0x80 + i * 7 % 64)};
  put(sandbox / "in.txt", wide);
  for (const std::size_t columns : {50u, 0u}) {
    const std::string left = screen(sent_to_terminal(sandbox, columns, train_tiny));
    const std::string line = line_of(left, "step 20  train ");
    INFO(line);
    const std::size_t min_width = columns == 0 ? 78 : 48, width = heed::display_width(line);
    CHECK((width == min_width || width == min_width + 1));
    CHECK(has(line, "\u2026"));
  }
}

TEST_CASE("with stdout in a file, the terminal shows the progress and the file gets uncut lines",
          "[commands][terminal]") {
  if (!has_terminals()) return;
  const Sandbox sandbox;
  Call call = sandbox.call({});
  call.arguments =
      Arguments{"/bin/sh", "-c", "exec \"$0\" \"$@\" >out.txt", HEED_BINARY_DIR "/heed"} +
      train_tiny;
  call.terminal = 40;
  const Finished finished = run(call);
  CHECK(finished.code == 0);
  REQUIRE(!live_lines(finished.out).empty());
  CHECK_FALSE(has(screen(finished.out), "20"));
  const std::string written = content(sandbox / "out.txt");
  CHECK(written.rfind("text   in.txt: ", 0) == 0);
  CHECK(line_of(written, "step  1  train ") != "");
  CHECK(heed::display_width(line_of(written, "step 20  train ")) > 40);
  CHECK_FALSE(has(written, "\r"));
}

TEST_CASE("a rank receives the signal that stops the run, unless it has received one itself",
          "[commands][terminal]") {
  using namespace heed::app;
  std::atomic<int> signal{0};
  watch_stop_signal(&signal);
  CHECK(received_signal() == 0);
  signal = SIGTERM;
  CHECK(received_signal() == SIGTERM);
  watch_stop_signal(nullptr);
  CHECK(received_signal() == 0);
}

TEST_CASE("on a terminal the curve is plotted at the end, or the missing program is named",
          "[commands][terminal]") {
  if (!has_terminals()) return;
  const Sandbox sandbox;
  CHECK(has(screen(sent_to_terminal(sandbox, 80, train_tiny)), "\n\ngnuplot is not installed"));
  Call call = sandbox.call(train_tiny + Arguments{"--replace"});
  call.terminal = 80;
  call.environment.clear();
  const std::string left = screen(run(call).out);
  INFO(left);
  const bool plotted = sandbox.has_file("o/loss.svg");
  CHECK(has(left, "\n\ntraining on in.txt\nloss (nats per token)") == plotted);
  CHECK(has(left, "validation  " + line_of(left, "validation loss ").substr(16, 6)) == plotted);
}

TEST_CASE("an interrupt on a terminal wipes the live line and prints how to resume",
          "[commands][terminal]") {
  if (!has_terminals()) return;
  const Sandbox sandbox;
  Call call = sandbox.call({"train", "in.txt", "--out", "o", "--layers", "1", "--embed-dim", "16",
                            "--heads", "2", "--block-size", "16", "--steps", "1000000000"});
  call.terminal = 120;
  Child child(call);
  child.read_until(" loss ");
  child.kill(SIGINT);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 130);
  const std::string left = screen(stopped.out);
  CHECK(line_of(left, "heed: interrupted after step ") != "");
  CHECK(has(left, ", all saved; to resume: ./heed train in.txt --resume --out o\n"));
  CHECK_FALSE(has(left, "/1000000000"));
}
