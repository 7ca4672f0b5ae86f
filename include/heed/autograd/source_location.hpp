// source_location.hpp: the file and line of the call that made a value.
#pragma once

#include <string>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// As the default argument of a function, current() is the location of the call (C++20 has
// std::source_location):  Tensor relu(const Tensor& x,
//                                     SourceLocation location = SourceLocation::current());
struct SourceLocation {
  const char* file = "";
  int line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
    return {file, line};
  }
};

std::string str(SourceLocation location);  // "lessons/05_query_key_value.cpp:41"

}  // namespace HEED_NAMESPACE
