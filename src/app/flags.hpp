// flags.hpp: Flags, the command-line flags of one command: names, value types, ranges and help.
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

#include "heed/app/options.hpp"

namespace heed::app {

using Arguments = std::vector<std::string>;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double max_size = 1e9;  // no machine has the memory for larger models or texts

// Throws UsageError "FLAG VALUE: REASON".
[[noreturn]] void throw_usage_error(const std::string& flag, const std::string& value,
                                    const std::string& reason);

// Returns "a, b or c" for the parts {"a", "b", "c"} and the conjunction "or".
std::string listed(const std::vector<std::string>& parts, const std::string& conjunction);

// The number as text. Integers have no exponent, as in 1000000000 instead of 1e+09.
std::string number_text(double value);

// The interval that the values of a flag must lie in.
struct Bounds {
  double low, high;
  bool open_low = false, open_high = false;  // whether the interval excludes the end point
  bool contains(double v) const {
    return (open_low ? v > low : v >= low) && (open_high ? v < high : v <= high);
  }
  std::string text() const;  // "at least 1 and below 2"
};

// Parses a number. Throws UsageError with the flag and the bounds if the text is invalid.
std::uint64_t parse_integer(const std::string& flag, const std::string& text, Bounds bounds);
double parse_number(const std::string& flag, const std::string& text, Bounds bounds);

// The flags of one command. (heed uses no CLI11 subcommands, because CLI11 would parse `heed sample
// train` as two commands, but train is the name of a run in this example.) A flag with a value may
// be given once.
class Flags {
 public:
  Flags(std::string command, std::string about)
      : command_(std::move(command)), about_(std::move(about)) {}

  // --help lists the flags declared after this call under the group's name.
  void group(const std::string& name) { group_ = name; }
  void footer(const std::string& text) { footer_ = text; }  // text at the end of the --help output
  // Declares the positional argument; every command has one. If the argument is required, `needed`
  // describes it in the error message about a missing argument.
  void positional(const std::string& name, std::string& target, const std::string& help,
                  const std::string& needed = "") {
    positional_ = {name, help, needed, &target};
  }
  template <class T>  // T is std::string or std::optional<std::string>
  void text(const std::string& flag, const std::string& type, const std::string& help, T& target) {
    add(flag, type, help, [&target](const std::string& value) { target = value; });
  }
  // Declares a flag whose value is a path. `kind` is what error messages call it ("folder").
  void path(const std::string& flag, const std::string& type, const std::string& help,
            const std::string& kind, std::string& target) {
    add(flag, type, help, [=, &target](const std::string& value) {
      if (value.empty()) throw_usage_error(flag, value, "needs the name of a " + kind);
      target = value;
    });
  }
  void choice(const std::string& flag, const std::string& type, const std::string& help,
              const std::vector<std::string>& choices, std::string& target);
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
  // --help shows the initial value of `target` as the default, unless it is out of bounds.
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
  std::string nearest(const std::string& name) const;

  std::string command_, about_, footer_, group_ = "Options";
  Positional positional_{};
  std::vector<Flag> flags_;
  std::set<std::string> given_;
};

// A command of heed: its description in --help, and the function that parses its arguments.
struct CommandEntry {
  std::string name, about;
  Command (*parse)(Flags flags, const Arguments& arguments);
};

// Returns the text of --help or --version for arguments without a command, or throws UsageError.
ShowText read_without_command(const Arguments& arguments,
                              const std::vector<CommandEntry>& commands);

// Throws UsageError if the number of heads does not divide the embedding width.
void check_heads(const nn::GptConfig& model);

// Declares the flags of heed bench, and checks the flags that depend on each other.
void declare_flags(Flags& flags, BenchCommand& command);
void check_flags(const BenchCommand& command, const std::set<std::string>& given);

}  // namespace heed::app
