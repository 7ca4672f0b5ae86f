// run.hpp: runs the gradient checks of rows at random shapes and reports what failed.
#pragma once

#include <string>
#include <string_view>

#include "cases.hpp"
#include "heed/array/parallel.hpp"

namespace heed::test {

// Every rank is combined with every size twice.
inline constexpr std::size_t checks_per_row = 2 * (max_rank + 1) * (max_size + 1);

// The results of all checks of one row.
struct Report {
  Coverage coverage;
  std::size_t checks = 0, failed = 0;
  std::size_t max_elements = 0;  // largest number in all inputs of one check
  double max_error = 0;          // the largest error as a multiple of its tolerance
  std::string failure;           // of the first check that failed; "" when all passed
};

// Every check has its own generator, so that no check changes what another one draws.
Draw draw_of(std::uint32_t seed, const Row& row, std::size_t number, std::size_t check);
std::string text_of(const Row& row, const Case& drawn);
Report report_of(std::uint32_t seed, const Row& row, std::size_t number);

// Uses one thread while it exists: on small arrays, waiting for a second one takes longer.
struct OneThread {
  OneThread() { set_num_threads(1); }
  ~OneThread() { set_num_threads(before); }
  int before = num_threads();
};

// ---- this run: its seed comes from the environment variable HEED_SEED, else from the clock

std::uint32_t seed_from(std::string_view text);
std::uint32_t this_run_seed();

// The rows of all families. A row's number, which its checks' seeds depend on, is its index here.
const Rows& all_rows();

// The report of this run on the row of that name in all_rows(). The first call runs the checks.
const Report& this_run(const std::string& name);

// Fails a test unless every check of every one of these rows passes.
void check(const Rows& rows);

}  // namespace heed::test
