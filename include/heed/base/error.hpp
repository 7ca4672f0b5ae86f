// error.hpp: the exception class Error, and throw_error, which throws it with a composed message.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "heed/base/source_location.hpp"

namespace heed {

// Thrown for errors that the caller can fix: mismatched shapes, an axis or index out of range, bad
// input. The message is one line with the function, the bad value, the remedy, and the location of
// the call that was wrong.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Undoes the conversion of a negative size to std::size_t: an error message shows -1, not 2^64 - 1.
template <class Part>
decltype(auto) as_given(const Part& part) {
  if constexpr (std::is_same_v<Part, std::size_t>)
    return static_cast<std::ptrdiff_t>(part);
  else
    return (part);
}

// Throws Error. Its message consists of the arguments and, if there is a call site, at_call_site():
// throw_error("reshape: ", str(from), " cannot become ", str(to)) throws, for example, "reshape:
// (2, 3) cannot become (7), at main.cpp:22".
template <class... Parts>
[[noreturn]] void throw_error(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << as_given(parts)) << at_call_site();
  throw Error(text.str());
}

}  // namespace heed
