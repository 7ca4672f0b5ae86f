// book.hpp: heed book and its options.
#pragma once

#include <string>

#include "commands/flags.hpp"

namespace heed::app {

struct BookCommand : CommandOptions {
  static constexpr const char* name = "book";

  std::string lesson;   // the lesson to write, such as "5"; "" means all
  std::string out;      // the output folder; "" means the default one
  bool brief = false;   // run the lessons with fewer training steps
  bool readme = false;  // write the lesson's README.md, output.txt and pictures instead
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, BookCommand& command);

int run(const BookCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
