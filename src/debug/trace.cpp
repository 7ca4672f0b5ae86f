// trace.cpp: the options of HEED_TRACE, their observers, and the output of trace lines.

#include "heed/debug/trace.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <utility>
#include <vector>

#include "debug/backward_table.hpp"
#include "debug/node_check.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/debug/nan_check.hpp"
#include "heed/debug/provenance.hpp"
#include "heed/debug/timer.hpp"

namespace HEED_NAMESPACE {

constexpr std::pair<std::string_view, TraceOption> all_options[] = {
    {"backward", TraceOption::backward},
    {"nan", TraceOption::nan},
    {"provenance", TraceOption::provenance},
    {"time", TraceOption::time},
    {"check", TraceOption::check}};

static std::atomic<unsigned> enabled{0};  // one bit for each option
// The value of HEED_TRACE until the first operation, which throws if it has an error: an exception
// before main would end the program.
static std::atomic<const char*> unread{nullptr};

static unsigned bit(TraceOption option) { return 1u << static_cast<unsigned>(option); }

// The observers are never freed, because destructors of static objects may run operations.
static Observer& observer_of(TraceOption option) {
  static Observer* const observers[] = {new BackwardTable, new NanCheck, new Provenance, new Timer,
                                        new GradientCheck};
  return *observers[static_cast<unsigned>(option)];
}

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

// A value that is not finite must be recorded and written before NanCheck throws, so that NanCheck
// comes after Provenance and BackwardTable.
static Observer* observers_of(unsigned bits) {
  Observer* first = nullptr;
  for (const TraceOption option : {TraceOption::time, TraceOption::check, TraceOption::nan,
                                   TraceOption::backward, TraceOption::provenance})
    if ((bits & bit(option)) != 0) {
      observer_of(option).next = first;
      first = &observer_of(option);
    }
  return first;
}

static void read_environment() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const char* const options = unread) set_trace(options);
}

namespace {

// Reads the options at the first operation or backward pass, which the observers that follow see.
struct OptionReader : Observer {
  void begin(std::string_view, Phase) override { read_environment(); }
  void begin_pass(const NodeList&) override { read_environment(); }
};

}  // namespace

static OptionReader& option_reader() {
  static OptionReader* const reader = new OptionReader;
  return *reader;
}

void set_trace(std::string_view options) {
  unsigned bits = 0;
  for (const std::string& part : split(options, ','))
    if (const std::string_view option = trimmed(part); !option.empty()) bits |= bit_of(option);
  enabled = bits;
  observers_of_all_threads = option_reader().next = observers_of(bits);
  unread = nullptr;
}

// Runs before main. The linker option -u names this function, and so takes this file into every
// program, also one that includes no header of debug.
bool start_trace() {
  unread = std::getenv("HEED_TRACE");
  if (unread != nullptr) observers_of_all_threads = &option_reader();
  return true;
}
[[maybe_unused]] static const bool started = start_trace();

bool trace_enabled(TraceOption option) {
  read_environment();
  return (enabled & bit(option)) != 0;
}

std::string trace_options() {
  std::vector<std::string> names;
  for (const auto& [name, option] : all_options)
    if (trace_enabled(option)) names.emplace_back(name);
  return joined(names, ",");
}

static std::function<void(const std::string&)>& output() {
  static std::function<void(const std::string&)> function;
  return function;
}

void set_trace_output(std::function<void(const std::string&)> function) {
  output() = std::move(function);
}

void trace_line(const std::string& line) {
  if (output())
    output()(line);
  else
    std::cerr << line + '\n';  // a single write, so that lines of several threads do not mix
}

}  // namespace HEED_NAMESPACE
