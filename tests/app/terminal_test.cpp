// terminal_test.cpp: what heed train shows on a terminal, and what it leaves there.

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;

namespace {

// What is left to see when everything has been sent to a terminal, lines that were wiped and
// overwritten being gone.
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

// The lines that were shown to be wiped again.
std::vector<std::string> live_lines(const std::string& sent) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; (begin = sent.find('\r', begin)) != sent.npos; ++begin) {
    const std::size_t end = sent.find("\x1b[K", begin);
    if (end != begin + 1 && end != sent.npos)
      lines.push_back(sent.substr(begin + 1, end - begin - 1));
  }
  return lines;
}

// The line of what is on the screen that begins with these words.
std::string line_of(const std::string& shown, const std::string& words) {
  const std::size_t begin = ("\n" + shown).find("\n" + words);
  return begin == shown.npos ? "" : shown.substr(begin, shown.find('\n', begin) - begin);
}

std::string sent_to_terminal(const Desk& desk, std::size_t columns, const Words& words) {
  Call call = desk.call(words);
  call.terminal = columns;
  const Finished finished = run(call);
  CHECK(finished.code == 0);
  CHECK(finished.err == "");
  return finished.out;
}

}  // namespace

TEST_CASE("on a terminal one line shows how far a run is, fits it, and is gone at the end",
          "[app][terminal]") {
  if (!has_terminals()) return;
  const Desk desk;
  for (const std::size_t columns : {18u, 40u, 120u}) {
    INFO(columns << " columns");
    const std::string sent = sent_to_terminal(desk, columns, train_tiny);
    const std::vector<std::string> lines = live_lines(sent);
    REQUIRE(!lines.empty());
    CHECK(has(lines[0], " 1/20"));
    CHECK(has(lines[0], " loss ") == (columns >= 40));
    CHECK(has(lines[0], " tokens/s  ") == (columns == 120));
    for (const std::string& line : lines) CHECK(heed::display_width(line) < columns);
    const std::string left = screen(sent);
    CHECK_FALSE(has(left, "/20"));
    CHECK(line_of(left, "text ") != "");
    CHECK(line_of(left, "step  1") == "");  // rows without validation are for loss.csv
    const std::size_t width = heed::display_width(line_of(left, "step 20  t"));
    CHECK((columns == 120 ? width > 36 && width < columns : width == columns - 1));
    CHECK(has(left, content(desk / "o/sample.txt")));
  }
}

TEST_CASE("lines are cut to the terminal's width, or to 80 where it does not know it",
          "[app][terminal]") {
  if (!has_terminals()) return;
  const Desk desk;
  std::string wide;
  for (int i = 0; i < 1000; ++i)  // U+4E00 to U+4E3F, two columns each
    wide += {'\xe4', '\xb8', static_cast<char>(0x80 + i * 7 % 64)};
  put(desk / "in.txt", wide);
  for (const std::size_t columns : {50u, 0u}) {
    const std::string left = screen(sent_to_terminal(desk, columns, train_tiny));
    const std::string line = line_of(left, "step 20  train ");
    INFO(line);
    const std::size_t least = columns == 0 ? 78 : 48, width = heed::display_width(line);
    CHECK((width == least || width == least + 1));
    CHECK(has(line, "\u2026"));
  }
}

TEST_CASE("with only its progress on a terminal, a run writes whole lines to the file",
          "[app][terminal]") {
  if (!has_terminals()) return;
  const Desk desk;
  Call call = desk.call({});
  call.words =
      Words{"/bin/sh", "-c", "exec \"$0\" \"$@\" >out.txt", HEED_BINARY_DIR "/heed"} + train_tiny;
  call.terminal = 40;
  const Finished finished = run(call);
  CHECK(finished.code == 0);
  REQUIRE(!live_lines(finished.out).empty());
  CHECK_FALSE(has(screen(finished.out), "20"));
  const std::string written = content(desk / "out.txt");
  CHECK(written.rfind("text   in.txt: ", 0) == 0);
  CHECK(line_of(written, "step  1  train ") != "");
  CHECK(heed::display_width(line_of(written, "step 20  train ")) > 40);
  CHECK_FALSE(has(written, "\r"));
}

TEST_CASE("on a terminal the curve is shown at the end, or what to install for it",
          "[app][terminal]") {
  if (!has_terminals()) return;
  const Desk desk;
  CHECK(has(screen(sent_to_terminal(desk, 80, train_tiny)), "\n\ngnuplot is not installed"));
  Call call = desk.call(train_tiny);
  call.terminal = 80;
  call.environment.clear();
  const std::string left = screen(run(call).out);
  INFO(left);
  const bool drawn = desk.has_file("o/loss.svg");
  CHECK(has(left, "\n\nlearning in.txt\nloss (nats per symbol)") == drawn);
  CHECK(has(left, "validation  " + line_of(left, "validation loss ").substr(16, 6)) == drawn);
}

TEST_CASE("an interrupt on a terminal wipes the line and says how to go on", "[app][terminal]") {
  if (!has_terminals()) return;
  const Desk desk;
  Call call = desk.call({"train", "in.txt", "--out", "o", "--layers", "1", "--embed-dim", "16",
                         "--heads", "2", "--block-size", "16", "--steps", "1000000000"});
  call.terminal = 120;
  Child child(call);
  child.until(" loss ");
  child.kill(SIGINT);
  const Finished stopped = child.finish();
  CHECK(stopped.code == 130);
  const std::string left = screen(stopped.out);
  CHECK(line_of(left, "heed: interrupted after step ") != "");
  CHECK(has(left, ", all saved; to resume: ./heed train in.txt --resume --out o\n"));
  CHECK_FALSE(has(left, "/1000000000"));
}
