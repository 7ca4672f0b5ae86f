// flags.hpp: Flags, the command-line flags of one command: names, value types, ranges and help.
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

using Arguments = std::vector<std::string>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double max_size = 1e9;  // larger models, batches and texts fit in no machine's memory
constexpr const char* trust_help =
    "load a checkpoint without heed's checksum, from another program";

// Throws UsageError "FLAG VALUE: REASON".
[[noreturn]] void throw_usage_error(const std::string& flag, const std::string& value,
                                    const std::string& reason);

// A command-line argument for an error message: cut after 60 columns.
std::string abbreviated(const std::string& argument);

// "a, b or c" for {"a", "b", "c"} and "or".
std::string listed(const std::vector<std::string>& parts, const std::string& conjunction);

// The interval that the values of a flag must lie in.
struct Bounds {
  double low, high;
  bool open_low = false, open_high = false;  // whether the end point is excluded
  bool contains(double v) const {
    return (open_low ? v > low : v >= low) && (open_high ? v < high : v <= high);
  }
  std::string text() const;  // "at least 1 and below 2"
};

// The number in a text. Throws UsageError, which names the flag and the bounds.
std::uint64_t parse_integer(const std::string& flag, const std::string& text, Bounds bounds);
double parse_number(const std::string& flag, const std::string& text, Bounds bounds);

// Each command has its own Flags. With subcommands of CLI11, `heed sample train` would mean two
// commands instead of a run named train.
class Flags {
 public:
  using Setter = std::function<void(const std::string&)>;

  Flags(const std::string& about, const std::string& command, const std::string& footer = "");
  ~Flags();

  // --help lists the flags declared after this call under the group's name.
  void group(const std::string& name);
  // The one argument without a flag.
  void positional(const std::string& name, std::string& target, const std::string& help);
  void text(const std::string& flag, const std::string& type, const std::string& help, Setter set) {
    add(flag, type, "", help, std::move(set));
  }
  template <class T>
  void integer(const std::string& flag, T& target, Bounds bounds, const std::string& help) {
    add(flag, "N", std::to_string(target), help, [=, &target](const std::string& text) {
      target = static_cast<T>(parse_integer(flag, text, bounds));
    });
  }
  template <class T>
  void optional_integer(const std::string& flag, std::optional<T>& target, Bounds bounds,
                        const std::string& help) {
    add(flag, "N", "", help, [=, &target](const std::string& text) {
      target = static_cast<T>(parse_integer(flag, text, bounds));
    });
  }
  void number(const std::string& flag, double& target, Bounds bounds, const std::string& help) {
    add(flag, "X", exact(target), help,
        [=, &target](const std::string& text) { target = parse_number(flag, text, bounds); });
  }
  void threads(std::optional<int>& target) {
    optional_integer("--threads", target, {1, 1024}, "number of threads; default: all cores");
  }
  void flag(const std::string& flag, bool& target, const std::string& help);          // sets true
  void negated_flag(const std::string& flag, bool& target, const std::string& help);  // sets false

  // Sets the targets from the arguments. Returns the help text if they contain --help. Throws
  // UsageError.
  std::optional<ShowText> read(const Arguments& arguments);
  // The flags with a value that were on the command line.
  const std::set<std::string>& given() const { return given_; }

 private:
  struct App;
  struct Entry {
    std::string flag;
    std::vector<std::string> texts;
    Setter set;
  };

  void add(const std::string& flag, const std::string& type, const std::string& default_text,
           const std::string& help, Setter set);
  bool known(const std::string& flag) const;
  bool takes_value(const std::string& flag) const;
  // Splits "--lr=1" into "--lr" "1": for "--lr=", CLI11 would take the next argument as the value.
  Arguments separated(const Arguments& arguments) const;
  void convert();
  void throw_if_unknown() const;
  std::string nearest(const std::string& flag) const;

  std::unique_ptr<App> app_;  // wraps CLI11, which only flags.cpp includes
  std::vector<std::string> names_{"--help"};
  std::set<std::string> given_;
};

// `heed` without a known command: returns the text for --help or --version, or throws UsageError.
// `commands` are pairs of a name and a description.
ShowText read_without_command(const Arguments& arguments,
                              const std::vector<std::pair<std::string, std::string>>& commands);

}  // namespace heed::app
