// source_location.hpp: SourceLocation (a file and line) and CallSite (the call named in an error).
#pragma once

#include <string>

namespace heed {

// A file and line. As the default argument of a function, current() is the location of the call
// (C++20 has std::source_location):
//   Tensor relu(const Tensor& x, SourceLocation location = SourceLocation::current());
struct SourceLocation {
  const char* file = "";  // the file name as the compiler gives it; "" if unknown
  int line = 0;           // the line number, counted from 1; 0 if unknown

  // Returns the location of the call, if the caller omits the arguments.
  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
    return {file, line};
  }
};

std::string str(SourceLocation location);  // "lessons/04_query_key_value/lesson.cpp:41"

// While a CallSite exists, the messages of throw_error on the same thread end with its location:
// "matmul: inner sizes differ: a (2, 3), b (4, 5), at main.cpp:22". Of nested CallSites, the
// innermost one outside the library counts, because only that call is in the user's code: a layer
// calls operations from inside the library. If all are inside, the outermost one counts.
class CallSite {
 public:
  explicit CallSite(SourceLocation location);                            // the location of the call
  CallSite(const CallSite& other) : CallSite(other.calls_.operation) {}  // the call of `other`
  ~CallSite();
  CallSite& operator=(const CallSite&) = delete;

  // The location of the call; within the library's operations and simple layers, the location of
  // the call of the operation or layer.
  SourceLocation location() const { return calls_.operation; }
  // The location that counts for errors; its line is 0 if no CallSite exists.
  static SourceLocation user() { return innermost().user; }

 private:
  // The innermost call from outside the library, and the one from outside its operations and simple
  // layers.
  struct Calls {
    SourceLocation user, operation;
  };
  static Calls& innermost();

  Calls outer_, calls_;
};

std::string at_call_site();  // ", at main.cpp:22", or "" if no CallSite exists

// Makes at_call_site() return "" from now on. Use this in a program whose users do not know its
// source code.
void hide_call_sites();

}  // namespace heed
