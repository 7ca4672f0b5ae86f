// coverage_test.cpp: the gradient checks at random shapes cover all operations, ranks and sizes.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <regex>

#include "catch.hpp"
#include "readme.hpp"
#include "run.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed::test;
using Names = std::set<std::string>;

Coverage total_coverage() {
  Coverage all;
  for (const Row& row : all_rows()) all.merge(this_run(row.name).coverage);
  return all;
}

// Every match of the pattern in the files of a folder, written in the format.
Names found_in(const char* folder, const char* pattern, const char* format) {
  const std::regex regex(pattern);
  Names found;
  const std::filesystem::path root(HEED_SOURCE_DIR);
  for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
    const std::string text = heed_test::content(entry.path());
    for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i)
      found.insert(i->format(format));
  }
  return found;
}

// The operations of src/ops and src/extra, by the names that their nodes carry.
Names operation_names() {
  const char* const name = R"rx(static constexpr std::string_view name = "(\w+)";)rx";
  Names names = found_in("src/ops", name, "$1");
  names.merge(found_in("src/extra", name, "$1"));
  names.insert("Result");  // of an operation with several results
  return names;
}

// The functions of include/heed/ops and extra that return tensors, alone or with more: "softmax";
// operators as "a + b" or "-x".
Names function_names() {
  const char* const folder = "include/heed/ops";
  const char* const function = R"(\n(?:[\w:]+<)?(?:Tensor|TopK|AttentionResult)[\w<>, ]* (\w+)\()";
  Names names = found_in(folder, function, "$1");
  names.merge(found_in("include/heed/extra", function, "$1"));
  names.erase("record_several");  // unbind is checked instead, which calls it
  names.merge(
      found_in(folder, R"(\nTensor operator(.)\([^,)]*?(\w+), [^,)]*?(\w+)\);)", "$2 $1 $3"));
  names.merge(found_in(folder, R"(\nTensor operator(.)\([^,)]*?(\w+)\);)", "$1$2"));
  return names;
}

// The functions that the rows check. For example, the row "gelu, erf" checks gelu.
Names checked_functions() {
  Names names;
  for (const Row& row : all_rows()) names.insert(row.name.substr(0, row.name.find(',')));
  return names;
}

std::string missing(const Names& required, const Names& present) {
  std::vector<std::string> absent;
  std::set_difference(required.begin(), required.end(), present.begin(), present.end(),
                      std::back_inserter(absent));
  return absent.empty() ? "" : listed(absent);
}

}  // namespace

TEST_CASE("a run makes all gradient checks at random shapes, and none fails",
          "[double][random_shapes][all_rows]") {
  std::size_t checks = 0, failed = 0;
  double max_error = 0;
  Names names;
  for (const Row& row : all_rows()) {
    const Report& report = this_run(row.name);
    checks += report.checks;
    failed += report.failed;
    max_error = std::max(max_error, report.max_error);
    names.insert(row.name);
  }
  CHECK(failed == 0);  // the tests of the rows print the failures
  const std::string sentence = "at " + heed::grouped(double(checks)) + " random shapes, ";
  INFO("docs/testing.md must say: " << sentence);
  CHECK(heed_test::has(heed_test::one_line(heed_test::documentation()), sentence));
  CHECK(checks == all_rows().size() * checks_per_row);
  CHECK(names.size() == all_rows().size());  // this_run finds rows by name
  std::cout << "random shapes: seed " << this_run_seed() << ", " << checks
            << " checks, the largest error " << max_error
            << " of its tolerance; HEED_SEED=" << this_run_seed() << " repeats them\n";
}

TEST_CASE("the gradients are right at the random shapes of thirty more seeds",
          "[double][random_shapes][.long]") {
  const OneThread one_thread;
  const std::uint32_t seed = this_run_seed();
  for (std::uint32_t more = 1; more <= 30; ++more)
    for (std::size_t i = 0; i < all_rows().size(); ++i)
      CHECK(report_of(seed + more, all_rows()[i], i).failure == "");
}

// The seed of a run may leave out one size of a row, but hardly two.
TEST_CASE("every operation is checked at all of its ranks and five of six sizes or all",
          "[double][random_shapes][all_rows]") {
  const std::set<std::size_t> sizes{0, 1, 2, 3, 4, 5};
  for (const Row& row : all_rows()) {
    INFO(row.name);
    const Coverage& coverage = this_run(row.name).coverage;
    CHECK(coverage.sizes.size() >= 5);
    CHECK(std::includes(sizes.begin(), sizes.end(), coverage.sizes.begin(), coverage.sizes.end()));
    for (std::size_t rank = row.min_rank; rank <= row.max_rank; ++rank)
      CHECK(coverage.ranks.count(rank) == 1);
    CHECK(this_run(row.name).max_elements <= 600);
  }
}

TEST_CASE("every operation of two shapes is checked with all twelve ways to broadcast",
          "[double][random_shapes][all_rows]") {
  for (const char* name : {"a + b", "a - b", "a * b", "a / b", "where", "cosine_similarity",
                           "maximum", "minimum", "pow"})
    CHECK(this_run(name).coverage.patterns.size() == 12);
}

TEST_CASE("every axis is checked, counted from either end", "[double][random_shapes][all_rows]") {
  const Coverage coverage = total_coverage();
  for (int rank = 0; rank <= 4; ++rank)
    for (int axis = -std::max(rank, 1); axis < std::max(rank, 1); ++axis)
      CHECK(coverage.axes.count({rank, axis}) == 1);
}

TEST_CASE("every operation that src/ops and src/extra record is checked",
          "[double][random_shapes][all_rows]") {
  const Names checked = total_coverage().operations;
  INFO("each operation needs a row in tests/double/random_shapes/*_test.cpp");
  CHECK(missing(operation_names(), checked) == "");
  CHECK(missing(checked, operation_names()) == "");  // operation_names() misses none
}

TEST_CASE("every function that include/heed/ops and extra declare has its row",
          "[double][random_shapes][all_rows]") {
  INFO("each function needs a row in tests/double/random_shapes/*_test.cpp");
  CHECK(missing(function_names(), checked_functions()) == "");
  CHECK(missing(checked_functions(), function_names()) == "{one tensor on both sides}");
}
