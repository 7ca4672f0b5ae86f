// suite.hpp: checks a whole golden file and lists the cases that fail.
#pragma once

#include "catch.hpp"
#include "golden/runner.hpp"

namespace golden {

// The cases of the file that the environment variable names, else of `file` in this folder.
inline std::vector<Case> cases(const char* variable, const std::string& file) {
  const char* const path = std::getenv(variable);
  return read_file(path != nullptr ? path : std::string(HEED_TESTS_DIR) + "/golden/" + file);
}

inline void check(const std::vector<Case>& cases, bool errors) {
  std::size_t run = 0, failed = 0;
  for (const Case& c : cases) {
    if (c.error.has_value() != errors) continue;
    ++run;
    const std::string why = problem(c);
    if (why.empty()) continue;
    ++failed;
    FAIL_CHECK(c.id << ": " << why);
  }
  INFO(failed << " of " << run << " fail");
  CHECK(run > 0);
  CHECK(failed == 0);
}

inline void check_agreement(const std::vector<Case>& cases) { check(cases, false); }
inline void check_errors(const std::vector<Case>& cases) { check(cases, true); }

}  // namespace golden
