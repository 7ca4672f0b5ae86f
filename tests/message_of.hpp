// message_of.hpp: the message of the Error that a call throws, and the call's location.
#pragma once

#include <regex>
#include <string>

#include "heed/base/error.hpp"

namespace heed::test {

// The message of the Error thrown by `call`; "" when it throws nothing.
template <class Call>
std::string full_message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The message of the Error thrown by `call`, without its location: ", at
// tests/ops/shape_test.cpp:12".
template <class Call>
std::string message_of(const Call& call) {
  static const std::regex location(R"(, at [^ ]+:\d+$)");
  return std::regex_replace(full_message_of(call), location, "");
}

}  // namespace heed::test
