// trace.cpp: the words of HEED_TRACE, and where the lines they ask for go.

#include "heed/autograd/trace/trace.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <utility>

#include "autograd/trace/backward_trace.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

constexpr std::pair<std::string_view, TraceOption> known[] = {
    {"backward", TraceOption::backward},
    {"nan", TraceOption::nan},
    {"provenance", TraceOption::provenance},
    {"time", TraceOption::time}};

// A bit for each word. State of the whole program, as its environment is.
constexpr unsigned unread = ~0u;
std::atomic<unsigned> given{unread};

std::function<void(const std::string&)>& output() {
  static std::function<void(const std::string&)> function;
  return function;
}

unsigned bit(TraceOption word) { return 1u << static_cast<unsigned>(word); }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

[[noreturn]] void throw_unknown_word(std::string_view word) {
  std::string shown(word), all;
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';  // an error is one line
  for (const auto& entry : known) all += (all.empty() ? "" : ", ") + std::string(entry.first);
  throw_error("HEED_TRACE: '", shown, "' is not one of its words: ", all);
}

unsigned bit_of(std::string_view word) {
  for (const auto& [name, meaning] : known)
    if (name == word) return bit(meaning);
  throw_unknown_word(word);
}

unsigned bits_of(std::string_view words) {
  unsigned bits = 0;
  while (!words.empty()) {
    const std::size_t comma = std::min(words.find(','), words.size());
    const std::string_view word = trimmed(words.substr(0, comma));
    if (!word.empty()) bits |= bit_of(word);
    words.remove_prefix(std::min(comma + 1, words.size()));
  }
  return bits;
}

}  // namespace

void set_trace(std::string_view words) { given = bits_of(words); }

void set_trace_output(std::function<void(const std::string&)> function) {
  output() = std::move(function);
}

bool trace_enabled(TraceOption word) {
  if (given == unread) {
    const char* const words = std::getenv("HEED_TRACE");
    set_trace(words == nullptr ? "" : words);
  }
  return (given & bit(word)) != 0;
}

std::string trace_options() {
  std::string words;
  for (const auto& [name, word] : known)
    if (trace_enabled(word)) words += (words.empty() ? "" : ",") + std::string(name);
  return words;
}

void tell(const std::string& line) {
  if (output())
    output()(line);
  else
    std::cerr << line + '\n';  // in one piece: other threads may be writing
}

std::string short_label(const Node& node) {
  return (node.name.empty() ? std::string(node.op) : node.name) + " " + str(node.value.shape());
}

}  // namespace heed
