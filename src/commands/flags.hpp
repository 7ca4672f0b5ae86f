// flags.hpp: class Flags parses the command-line flags of one command and prints their --help.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "commands/options.hpp"

namespace heed::app {

using Arguments = std::vector<std::string>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double max_size = 1e9;  // upper limit of size flags; no machine has memory for more

// Throws UsageError with the message "FLAG VALUE: REASON".
[[noreturn]] void throw_usage_error(const std::string& flag, const std::string& value,
                                    const std::string& reason);

// Returns "a, b or c" for the parts {"a", "b", "c"} and the conjunction "or".
std::string listed(const std::vector<std::string>& parts, const std::string& conjunction);

// Formats a number. Integers have no exponent: "1000000000" instead of "1e+09".
std::string number_text(double value);

// The index of the value in `choices`. Throws UsageError with the choices if it is none of them.
std::size_t index_of_choice(const std::string& flag, const std::string& value,
                            const std::vector<std::string>& choices);

// The interval that the values of a flag must lie in.
struct Bounds {
  double low, high;
  bool open_low = false, open_high = false;  // whether the interval excludes `low` (`high`)
  bool contains(double v) const {
    return (open_low ? v > low : v >= low) && (open_high ? v < high : v <= high);
  }
  std::string text() const;  // "at least 1 and below 2"
};

// Parses a number. Throws UsageError with the flag and the bounds if the text is invalid.
std::uint64_t parse_integer(const std::string& flag, const std::string& text, Bounds bounds);
double parse_number(const std::string& flag, const std::string& text, Bounds bounds);

// The flags of one command. A flag that takes a value may be given only once. heed does not use
// CLI11's subcommands: CLI11 would parse `heed sample train` as two commands, although `train` can
// be the name of a run.
class Flags {
 public:
  Flags(std::string command, std::string about)
      : command_(std::move(command)), about_(std::move(about)) {}

  // Starts a group of flags: --help lists the flags declared after this call under this name.
  void group(const std::string& name) { group_ = name; }
  void footer(const std::string& text) { footer_ = text; }  // text at the end of the --help output
  // Declares a positional argument; every command has one or two. If the argument is required,
  // `needed` describes it in the error message about a missing argument.
  void positional(const std::string& name, std::string& target, const std::string& help,
                  const std::string& needed = "") {
    positionals_.push_back({name, help, needed, &target});
  }
  template <class T>  // T is std::string or std::optional<std::string>
  void text(const std::string& flag, const std::string& type, const std::string& help, T& target) {
    add(flag, type, help, [&target](const std::string& value) { target = value; });
  }
  // Declares a flag whose value is a path. Error messages call the path a `kind`, such as "folder".
  void path(const std::string& flag, const std::string& type, const std::string& help,
            const std::string& kind, std::string& target) {
    add(flag, type, help, [=, &target](const std::string& value) {
      if (value.empty()) throw_usage_error(flag, value, "needs the name of a " + kind);
      target = value;
    });
  }
  void choice(const std::string& flag, const std::string& type, const std::string& help,
              const std::vector<std::string>& choices, std::string& target);
  // Declares a flag whose value is one of `names`, the names of the values of an enumeration.
  template <class Enum>
  void enumeration(const std::string& flag, const std::string& help,
                   const std::vector<std::string>& names, Enum& target) {
    add(flag, "KIND", help, [=, &target](const std::string& value) {
      target = static_cast<Enum>(index_of_choice(flag, value, names));
    });
    flags_.back().default_text = names.at(static_cast<std::size_t>(target));
  }
  template <class T>  // T is an integer type, or std::optional of an integer type
  void integer(const std::string& flag, T& target, Bounds bounds, const std::string& help,
               const std::string& type = "N") {
    add_number(flag, type, target, bounds, help, parse_integer);
  }
  template <class T>  // T is double or std::optional<double>
  void number(const std::string& flag, T& target, Bounds bounds, const std::string& help) {
    add_number(flag, "X", target, bounds, help, parse_number);
  }
  // Declares a flag without a value. If the flag is given, `target` is set to `to`.
  void flag(const std::string& flag, bool& target, const std::string& help, bool to = true) {
    add(flag, "", help, [=, &target](const std::string&) { target = to; });
  }

  // Parses the arguments and stores each value in its flag's variable. Returns the help text if the
  // arguments contain --help. Throws UsageError if an argument is invalid.
  std::optional<ShowText> read(const Arguments& arguments);
  // The names of the flags that were given with a value on the command line.
  const std::set<std::string>& given() const { return given_; }

 private:
  using Setter = std::function<void(const std::string&)>;
  struct Positional {
    std::string name, help, needed;
    std::string* target;
  };
  struct Flag {
    std::string name, group, type;  // `type` is empty if the flag takes no value
    std::string default_text, help;
    Setter set;
  };

  void add(const std::string& flag, const std::string& type, const std::string& help, Setter set) {
    flags_.push_back({flag, group_, type, "", help, std::move(set)});
  }
  // --help shows the initial value of `target` as the default, unless that value is out of bounds.
  template <class T, class Parse>
  void add_number(const std::string& flag, const std::string& type, T& target, Bounds bounds,
                  const std::string& help, Parse parse) {
    add(flag, type, help, [=, &target](const std::string& value) {
      target = static_cast<T>(parse(flag, value, bounds));
    });
    if constexpr (std::is_arithmetic_v<T>)
      if (const auto value = static_cast<double>(target); bounds.contains(value))
        flags_.back().default_text = number_text(value);
  }
  const Flag* find(const std::string& name) const;  // null if no flag has this name
  bool known(const std::string& name) const { return name == "--help" || find(name) != nullptr; }
  Arguments separated(const Arguments& arguments) const;
  void check_no_extra(const Arguments& extras) const;
  std::vector<std::string> likely(const std::string& name) const;

  std::string command_, about_, footer_, group_ = "Options";
  std::vector<Positional> positionals_;
  std::vector<Flag> flags_;
  std::set<std::string> given_;
};

// A command of heed: its name, its description in --help and the parser of its arguments.
struct CommandEntry {
  std::string name, about;
  Command (*parse)(Flags flags, const Arguments& arguments);
};

// Handles a command line that names no command of heed. Returns the text of --help or --version if
// the arguments contain one of these flags, otherwise throws UsageError.
ShowText read_without_command(const Arguments& arguments,
                              const std::vector<CommandEntry>& commands);

// Throws UsageError if the number of heads does not divide the embedding width, if --kv-heads does
// not divide --heads, or if rotary positions need heads of even width.
void check_heads(const nn::GptConfig& model);

// declare_flags() declares the flags of heed bench. check_flags() throws UsageError for a wrong
// combination of these flags.
void declare_flags(Flags& flags, BenchCommand& command);
void check_flags(const BenchCommand& command, const std::set<std::string>& given);

}  // namespace heed::app
