// error.hpp: refusing bad input in one line that says what, which value, and what to do instead.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace heed {

// Anything the caller can mend: shapes that do not fit, an axis or an index out of range.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Error with its arguments written one after the other:
// refuse("reshape: ", str(from), " cannot become ", str(to)).
template <class... Parts>
[[noreturn]] void throw_error(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

}  // namespace heed
