// run.cpp: runs the gradient checks of rows at random shapes and reports what failed.

#include "run.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>

#include "catch.hpp"

namespace heed::test {

namespace {

// The result of gradcheck; adds the names of all recorded operations to `operations`.
GradcheckResult checked(const Case& drawn, std::uint64_t upstream_seed,
                        std::set<std::string>& operations) {
  const Function watched = [&](X x) {
    const Tensor y = drawn.f(x);
    if (y.requires_grad())
      for (const auto& node : topological_order(y))
        if (node->depth > 0) operations.insert(std::string(node->op));
    return y;
  };
  GradcheckOptions options;
  options.seed = upstream_seed;
  return gradcheck(watched, drawn.inputs, options);
}

// "" when all gradients are right, else a message about the wrong one.
std::string gradient_error(const Case& drawn, Draw& d, Report& report) {
  std::set<std::string> operations;
  const GradcheckResult result = checked(drawn, d.seed(), operations);
  std::size_t elements = 0;
  for (const Array& input : drawn.inputs) {
    elements += input.size();
    d.coverage.add(input.shape());
  }
  if (elements > 0) d.coverage.operations = operations;
  report.coverage.merge(d.coverage);
  report.max_elements = std::max(report.max_elements, elements);
  report.max_error = std::max(report.max_error, result.worst);
  if (!result.ok) return result.message;
  return result.checked == elements ? "" : "some elements were not checked";
}

Report new_report(const std::string& name) {
  const OneThread one_thread;
  for (std::size_t number = 0; number < all_rows().size(); ++number)
    if (all_rows()[number].name == name)
      return report_of(this_run_seed(), all_rows()[number], number);
  throw_error("no row of all_rows() has the name \"", name, '"');
}

}  // namespace

Draw draw_of(std::uint32_t seed, const Row& row, std::size_t number, std::size_t check) {
  const std::size_t ranks = row.max_rank - row.min_rank + 1, sizes = max_size + 1;
  const std::size_t round = check / ranks / sizes;  // selects other patterns and axes
  const Turn turn{row.min_rank + check % ranks, check / ranks % sizes,
                  seed + number + round * sizes};
  std::seed_seq mix{seed, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(check)};
  std::uint32_t mixed = 0;
  mix.generate(&mixed, &mixed + 1);
  return Draw(mixed, turn);
}

std::string text_of(const Row& row, const Case& drawn) {
  std::string text = row.name + ":";
  for (const Array& input : drawn.inputs) text += " " + str(input.shape());
  return text + (drawn.options.empty() ? "" : ", " + drawn.options);
}

Report report_of(std::uint32_t seed, const Row& row, std::size_t number) {
  Report report;
  for (; report.checks < checks_per_row; ++report.checks) {
    Draw d = draw_of(seed, row, number, report.checks);
    std::string text = row.name, error;
    try {
      const Case drawn = row.make(d);
      text = text_of(row, drawn);
      error = gradient_error(drawn, d, report);
    } catch (const std::exception& thrown) {
      error = words("threw ", thrown.what());
    }
    if (!error.empty() && ++report.failed == 1)
      report.failure = words(text, ": ", error, "; HEED_SEED=", seed, " repeats it");
  }
  if (report.failed > 1)
    report.failure += words(" (and ", report.failed - 1, " more of ", report.checks, " checks)");
  return report;
}

std::uint32_t seed_from(std::string_view text) {
  std::uint32_t seed = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || stop != text.data() + text.size())
    throw_error("HEED_SEED is \"", text, "\"; give a whole number from 0 to 4294967295");
  return seed;
}

std::uint32_t this_run_seed() {
  static const std::uint32_t seed = [] {
    if (const char* const text = std::getenv("HEED_SEED")) return seed_from(text);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto ticks = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    return static_cast<std::uint32_t>(ticks % 1'000'000'000);
  }();
  return seed;
}

const Rows& all_rows() {
  static const Rows all = [] {
    Rows rows;
    for (const auto family : {arithmetic_rows, activation_rows, softmax_rows, reduce_rows,
                              shape_rows, mask_rows, matmul_rows, einsum_rows, embedding_rows,
                              loss_rows, normalize_rows, attention_rows, extra_rows})
      for (const Row& row : family()) rows.push_back(row);
    return rows;
  }();
  return all;
}

const Report& this_run(const std::string& name) {
  static std::map<std::string, Report> reports;
  const auto found = reports.find(name);
  return found != reports.end() ? found->second : reports[name] = new_report(name);
}

void check(const Rows& rows) {
  for (const Row& row : rows) {
    CHECK(this_run(row.name).failure == "");
    CHECK(this_run(row.name).checks == checks_per_row);
  }
}

}  // namespace heed::test
