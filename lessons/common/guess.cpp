// guess.cpp: asks the reader for a number before the lesson measures it.

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "guess.hpp"
#include "heed/base/error.hpp"
#include "lesson.hpp"

namespace heed {

namespace {

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size();
}

// Asks until the reader enters a number, an empty line or the end of the input.
std::optional<std::string> asked(const std::string& quantity) {
  std::string line;
  do {
    std::cout << "\nYour guess, " << quantity << " (Enter for none): " << std::flush;
    if (!std::getline(std::cin, line) || line.empty()) return std::nullopt;
  } while (!is_number(line));
  return line;
}

}  // namespace

Guess::Guess(const std::string& quantity) {
  const char* const given = std::getenv("HEED_GUESS");
  if (given == nullptr || *given == '\0') {
    if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) number_ = asked(quantity);
  } else if (is_number(given)) {
    number_ = given;
  } else {
    throw_error("--guess: '" + std::string(given) + "' is not a number; give " + quantity +
                ", such as --guess 2.5");
  }
}

void Guess::compare(const std::string& measured, SourceLocation location) const {
  quote("your guess: " + number_.value_or("none") + "   measured: " + measured, location);
}

}  // namespace heed
