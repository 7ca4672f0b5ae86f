// source_location.cpp: source locations as text, and the thread's call site.

#include "heed/base/source_location.hpp"

#include <atomic>
#include <string_view>

namespace heed {

static std::atomic<bool> hidden{false};

std::string str(SourceLocation location) {
  return std::string(location.file) + ":" + std::to_string(location.line);
}

// Needs no length of the text, because every operation calls it several times.
static bool starts_with(const char* text, std::string_view start) {
  for (const char each : start)
    if (*text++ != each) return false;
  return true;
}

// Whether a file of the library has operations, initializers, or layers of one operation.
static bool has_operations(const char* file) {
  if (starts_with(file, "extra/")) return !starts_with(file, "extra/recurrent.cpp");
  return starts_with(file, "ops/") || starts_with(file, "nn/layers.cpp") ||
         starts_with(file, "nn/init.cpp");
}

// The folder of the library's sources as the compiler names it, such as "src/".
static constexpr std::string_view sources =
    std::string_view(__FILE__).substr(0, sizeof(__FILE__) - sizeof("base/source_location.cpp"));

CallSite::Calls& CallSite::innermost() {
  static thread_local Calls calls;  // line 0 means that there is no call site
  return calls;
}

CallSite::CallSite(SourceLocation location) : outer_(innermost()), calls_{location, location} {
  if (outer_.user.line != 0 && starts_with(location.file, sources)) {
    calls_.user = outer_.user;
    if (has_operations(location.file + sources.size())) calls_.operation = outer_.operation;
  }
  innermost() = calls_;
}

CallSite::~CallSite() { innermost() = outer_; }

std::string at_call_site() {
  const SourceLocation location = CallSite::user();
  return hidden || location.line == 0 ? "" : ", at " + str(location);
}

void hide_call_sites() { hidden = true; }

}  // namespace heed
