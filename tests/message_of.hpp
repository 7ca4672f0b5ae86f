// message_of.hpp: the message of the Error that a call throws.
#pragma once

#include <string>

#include "heed/base/error.hpp"

namespace heed::test {

// The message of the Error thrown by `call`; "" when it throws nothing.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace heed::test
