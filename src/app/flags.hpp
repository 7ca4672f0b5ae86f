// flags.hpp: the flags of one command: what they are called, what values they take, and what for.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "heed/app/options.hpp"
#include "heed/base/text.hpp"

namespace heed::app {

using Words = std::vector<std::string>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double most = 1e9;  // for sizes: beyond it nothing fits anywhere
constexpr const char* trust_help =
    "load a checkpoint that has no checksum of heed's, as other programs write it";

// Throws UsageError "FLAG VALUE: WHY".
[[noreturn]] void wrong(const std::string& flag, const std::string& value, const std::string& why);

// A word of the command line as an error shows it: in full, unless it would fill the screen.
std::string brief(const std::string& word);

// Where values of a flag may lie.
struct Span {
  double low, high;
  bool open_low = false, open_high = false;  // the end itself is out
  bool contains(double v) const {
    return (open_low ? v > low : v >= low) && (open_high ? v < high : v <= high);
  }
  std::string text() const;  // "at least 1 and below 2"
};

// The number a text holds; throws UsageError, which names the flag and the span.
std::uint64_t whole_number(const std::string& flag, const std::string& text, Span span);
double real_number(const std::string& flag, const std::string& text, Span span);

// Each command has Flags of its own, not a subcommand of CLI11's: among those, `heed sample train`
// would be two commands, and not a run called train.
class Flags {
 public:
  using Set = std::function<void(const std::string&)>;

  Flags(const std::string& about, const std::string& command, const std::string& footer = "");
  ~Flags();

  // What follows is listed by --help in the order it is declared, under the group's name.
  void group(const std::string& name);
  // The one word without a flag.
  void word(const std::string& name, std::string& target, const std::string& help);
  void text(const std::string& flag, const std::string& type, const std::string& help, Set set) {
    add(flag, type, "", help, std::move(set));
  }
  template <class T>
  void whole(const std::string& flag, T& target, Span span, const std::string& help) {
    add(flag, "N", std::to_string(target), help, [=, &target](const std::string& text) {
      target = static_cast<T>(whole_number(flag, text, span));
    });
  }
  // The same, where no number at all is an answer too.
  template <class T>
  void maybe(const std::string& flag, std::optional<T>& target, Span span,
             const std::string& help) {
    add(flag, "N", "", help, [=, &target](const std::string& text) {
      target = static_cast<T>(whole_number(flag, text, span));
    });
  }
  void real(const std::string& flag, double& target, Span span, const std::string& help) {
    add(flag, "X", exact(target), help,
        [=, &target](const std::string& text) { target = real_number(flag, text, span); });
  }
  void threads(std::optional<int>& target) {
    maybe("--threads", target, {1, 1024}, "threads to use; every core unless given");
  }
  void yes(const std::string& flag, bool& target, const std::string& help);  // true when written
  void no(const std::string& flag, bool& target, const std::string& help);   // false when written

  // Sets what the words say, or gives the text for --help if they ask for it. Throws UsageError.
  std::optional<ShowText> read(const Words& words);
  // The flags with a value that were written.
  const std::set<std::string>& given() const { return given_; }

 private:
  struct App;
  struct Entry {
    std::string flag;
    std::vector<std::string> texts;
    Set set;
  };

  void add(const std::string& flag, const std::string& type, const std::string& standard,
           const std::string& help, Set set);
  bool known(const std::string& flag) const;
  bool takes_value(const std::string& flag) const;
  // "--lr=1" as "--lr" "1", since CLI11 takes the next word where nothing follows the "=".
  Words separated(const Words& words) const;
  void convert();
  void throw_if_unknown() const;
  std::string nearest(const std::string& flag) const;

  std::unique_ptr<App> app_;  // CLI11's, which only flags.cpp includes
  std::vector<std::string> names_{"--help"};
  std::set<std::string> given_;
};

// What `heed` does without a command: the text for --help or --version, or UsageError. Commands are
// pairs of a name and what it is about.
ShowText read_without_command(const Words& words,
                              const std::vector<std::pair<std::string, std::string>>& commands);

}  // namespace heed::app
