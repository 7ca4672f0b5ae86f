// source_location.hpp: the line of the reader's program that made a value.
#pragma once

#include <string>

namespace heed {

// A place in a source file. As the default argument of a function, here() is the place of the
// call:  Tensor softmax(const Tensor& x, int axis, Where where = Where::here());
struct SourceLocation {
  const char* file = "";
  int line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
    return {file, line};
  }
};

std::string str(SourceLocation location);  // "lessons/05_query_key_value.cpp:41"

}  // namespace heed
