// test_program.cpp: what the instrumented test programs need besides their tests.
//
// * A listener writes to HEED_MUTANTS_LOG, for each test: 1 if it passed, its seconds, the numbers
//   of the mutants that it has reached, its source file, and its name.
// * exec, wrapped by the linker, starts the instrumented program HEED_MUTANTS_PROGRAM where tests
//   start HEED_BUILT_PROGRAM, and keeps the environment variables of the switches.

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Listener = Catch::EventListenerBase;
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES  // declares listeners
#include <catch2/catch.hpp>
using Listener = Catch::TestEventListenerBase;
#endif

namespace heed_mutants {

extern volatile char* reached;
extern std::size_t reached_size;

struct ReachedByTests : Listener {
  using Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    Listener::testCaseStarting(test);
    for (std::size_t id = 0; id < reached_size; ++id) reached[id] = 0;
    began_ = std::chrono::steady_clock::now();
  }
  void testCaseEnded(const Catch::TestCaseStats& test) override {
    Listener::testCaseEnded(test);
    const char* const log = std::getenv("HEED_MUTANTS_LOG");
    std::FILE* const file = log == nullptr ? nullptr : std::fopen(log, "a");
    if (file == nullptr) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began_;
    std::fprintf(file, "%d\t%.3f\t", test.totals.assertions.failed == 0, seconds.count());
    for (std::size_t id = 0; id < reached_size; ++id)
      if (reached[id]) std::fprintf(file, "%zu ", id);
    std::fprintf(file, "\t%s\t%s\n", test.testInfo.lineInfo.file, test.testInfo.name.c_str());
    std::fclose(file);
  }
  std::chrono::steady_clock::time_point began_;
};
CATCH_REGISTER_LISTENER(ReachedByTests)

static std::string redirected(std::string word) {
  const char* const to = std::getenv("HEED_MUTANTS_PROGRAM");
  const std::string from = HEED_BUILT_PROGRAM;
  for (std::size_t at = 0; to != nullptr && (at = word.find(from, at)) != word.npos;) {
    const std::size_t end = at + from.size();
    const bool whole = end == word.size() || std::strchr(" '\";", word[end]) != nullptr;
    if (whole) word.replace(at, from.size(), to);
    at += whole ? std::strlen(to) : 1;
  }
  return word;
}

static std::vector<char*> copies(char* const* words, bool is_environment) {
  std::vector<char*> result;
  for (; *words != nullptr; ++words) {
    const bool is_switch = std::strncmp(*words, "HEED_MUTANT", 11) == 0;
    if (!is_environment)
      result.push_back(strdup(redirected(*words).c_str()));
    else if (!is_switch)
      result.push_back(*words);
  }
  for (char** entry = environ; is_environment && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, "HEED_MUTANT", 11) == 0) result.push_back(*entry);
  result.push_back(nullptr);
  return result;
}

}  // namespace heed_mutants

extern "C" {
int __real_execve(const char*, char* const*, char* const*);
int __real_execvp(const char*, char* const*);
int __wrap_execve(const char* path, char* const* words, char* const* variables) {
  return __real_execve(heed_mutants::redirected(path).c_str(),
                       heed_mutants::copies(words, false).data(),
                       heed_mutants::copies(variables, true).data());
}
int __wrap_execvp(const char* path, char* const* words) {
  return __real_execvp(heed_mutants::redirected(path).c_str(),
                       heed_mutants::copies(words, false).data());
}
}
