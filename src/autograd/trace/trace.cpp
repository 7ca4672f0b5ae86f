// trace.cpp: the options of HEED_TRACE, and the output of trace lines.

#include "heed/autograd/trace/trace.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "autograd/trace/backward_trace.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

constexpr std::pair<std::string_view, TraceOption> all_options[] = {
    {"backward", TraceOption::backward},
    {"nan", TraceOption::nan},
    {"provenance", TraceOption::provenance},
    {"time", TraceOption::time},
    {"check", TraceOption::check}};

// The enabled options of HEED_TRACE, one bit per option.
constexpr unsigned not_read_yet = ~0u;
static std::atomic<unsigned> enabled{not_read_yet};

static std::function<void(const std::string&)>& output() {
  static std::function<void(const std::string&)> function;
  return function;
}

static unsigned bit(TraceOption option) { return 1u << static_cast<unsigned>(option); }

static std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

static unsigned bit_of(std::string_view option) {
  std::vector<std::string> names;
  for (const auto& [name, value] : all_options) {
    if (name == option) return bit(value);
    names.emplace_back(name);
  }
  throw_error("HEED_TRACE: ", in_quotes(option), " is none of its options: ", joined(names, ", "));
}

void set_trace(std::string_view options) {
  unsigned bits = 0;
  for (const std::string& part : split(options, ','))
    if (const std::string_view option = trimmed(part); !option.empty()) bits |= bit_of(option);
  enabled = bits;
}

void set_trace_output(std::function<void(const std::string&)> function) {
  output() = std::move(function);
}

bool trace_enabled(TraceOption option) {
  if (enabled == not_read_yet) {
    const char* const options = std::getenv("HEED_TRACE");
    set_trace(options == nullptr ? "" : options);
  }
  return (enabled & bit(option)) != 0;
}

std::string trace_options() {
  std::vector<std::string> names;
  for (const auto& [name, option] : all_options)
    if (trace_enabled(option)) names.emplace_back(name);
  return joined(names, ",");
}

void trace_line(const std::string& line) {
  if (output())
    output()(line);
  else
    std::cerr << line + '\n';  // a single write, so that lines of several threads do not mix
}

std::string short_label(const Node& node) {
  return (node.name.empty() ? std::string(node.op) : node.name) + " " + str(node.value.shape());
}

}  // namespace HEED_NAMESPACE
