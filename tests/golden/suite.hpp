// suite.hpp: checks a whole golden file and lists the cases that fail.
#pragma once

#include "catch.hpp"
#include "golden/runner.hpp"

namespace golden {

// Of the file that the environment variable names, else of the one in this folder.
inline std::vector<Case> cases(const char* variable, const std::string& file) {
  const char* const path = std::getenv(variable);
  return read_file(path != nullptr ? path : std::string(HEED_TESTS_DIR) + "/golden/" + file);
}

// Operations heed does not have: PyTorch's other learning rate schedules.
inline bool offered(const Case& c) { return c.op != "torch_schedule"; }

struct Tally {
  std::size_t run = 0, failed = 0;
  std::string in_part, not_run;
};

inline void check_case(const Case& c, Tally& tally) {
  const std::size_t comparable = c.error ? 1 : comparable_outputs(c);
  if (!offered(c) || comparable == 0) return static_cast<void>(tally.not_run += " " + c.id);
  if (!c.error && comparable < c.out.size()) tally.in_part += " " + c.id;
  ++tally.run;
  const std::string why = problem(c);
  if (why.empty()) return;
  ++tally.failed;
  FAIL_CHECK(c.id << ": " << why);
}

inline void check(const std::vector<Case>& cases, bool refusals) {
  Tally tally;
  for (const Case& c : cases)
    if (c.error.has_value() == refusals) check_case(c, tally);
  INFO(tally.failed << " of " << tally.run << " fail");
  CHECK(tally.run > 0);
  CHECK(tally.failed == 0);
  if (!tally.in_part.empty()) WARN("compared in part:" << tally.in_part);
  if (!tally.not_run.empty()) WARN("not run:" << tally.not_run);
}

inline void check_agreement(const std::vector<Case>& cases) { check(cases, false); }
inline void check_refusals(const std::vector<Case>& cases) { check(cases, true); }

}  // namespace golden
