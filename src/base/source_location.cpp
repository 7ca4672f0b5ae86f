// source_location.cpp: source locations as text, and the thread's outermost call site.

#include "heed/base/source_location.hpp"

#include <atomic>

namespace heed {

static thread_local SourceLocation outermost;  // if the line is 0, there is no call site
static std::atomic<bool> hidden{false};

std::string str(SourceLocation location) {
  return std::string(location.file) + ":" + std::to_string(location.line);
}

CallSite::CallSite(SourceLocation location) : is_outermost_(outermost.line == 0) {
  if (is_outermost_) outermost = location;
}

CallSite::~CallSite() {
  if (is_outermost_) outermost = {};
}

std::string at_call_site() { return hidden || outermost.line == 0 ? "" : ", at " + str(outermost); }

void hide_call_sites() { hidden = true; }

}  // namespace heed
