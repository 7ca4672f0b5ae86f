// guess.hpp: asks the reader for a number before the lesson measures it.
#pragma once

#include <optional>
#include <string>

#include "heed/base/source_location.hpp"

namespace heed {

// The reader's guess:
//   const Guess guess("milliseconds for 8192 tokens");  // after opening(), whose text asks for it
//   guess.compare(decimal(milliseconds, 1));            // "  | your guess: 40   measured: 27.3"
class Guess {
 public:
  // Asks for a number if the lesson's input and output are a terminal; an empty line is no guess.
  // Otherwise takes it from the environment variable HEED_GUESS, which `./heed lesson N --guess 40`
  // sets. Throws an Error if that is no number.
  explicit Guess(const std::string& quantity);

  // Prints the guess beside what was measured, after a bar, since it depends on the reader.
  void compare(const std::string& measured,
               SourceLocation location = SourceLocation::current()) const;

 private:
  std::optional<std::string> number_;
};

}  // namespace heed
