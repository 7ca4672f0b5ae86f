// flags.hpp: class Flags, which parses the command-line flags of one command and prints their
// --help.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/field.hpp"

namespace heed::app {

using Arguments = std::vector<std::string>;

// An error in the command line, for which heed exits with code 2. The message contains the flag,
// its value and the remedy.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ShowText {  // the text that --help or --version prints
  std::string text;
};

// The base of the struct of a command, whose members are the command's options.
struct CommandOptions {
  // Whether the program succeeds even if stdout cannot be written, because its results are files.
  static constexpr bool ignores_stdout_errors = false;
};

// Throws UsageError with the message "FLAG VALUE: REASON".
[[noreturn]] void throw_usage_error(const std::string& flag, const std::string& value,
                                    const std::string& reason);

// Cuts a command-line argument to 60 columns and at most 240 bytes, for an error message.
std::string abbreviated(const std::string& argument);

// Returns "a, b or c" for the parts {"a", "b", "c"} and the conjunction "or".
std::string listed(const std::vector<std::string>& parts, const std::string& conjunction);

// Formats a number. Integers have no exponent: "1000000000" instead of "1e+09".
std::string number_text(double value);

// The index of the value in `choices`. Throws UsageError with the choices if it is none of them.
std::size_t index_of_choice(const std::string& flag, const std::string& value,
                            const std::vector<std::string>& choices);

// An interval as text: "at least 1 and below 2".
std::string bounds_text(const Bounds& bounds);

// Parses a number. Throws UsageError with the flag and the bounds if the text is invalid.
std::uint64_t parse_integer(const std::string& flag, const std::string& text, Bounds bounds);
double parse_number(const std::string& flag, const std::string& text, Bounds bounds);

// The flag of a name: --min-lr for min_lr.
std::string flag_of(const std::string& name);
inline std::string flag_of(const Field& field) { return flag_of(field.name); }

// Throws UsageError, as for the flag of the field, if the value is out of its bounds.
template <class T>
void check_field(const Field& field, T value) {
  if constexpr (std::is_floating_point_v<T>)
    parse_number(flag_of(field), field_text(value), field.bounds);
  else
    parse_integer(flag_of(field), field_text(value), field.bounds);
}

// The flags of one command. A flag that takes a value may be given only once.
class Flags {
 public:
  explicit Flags(std::string command) : command_(std::move(command)) {}

  // Starts a group of flags: --help lists the flags declared after this call under this name.
  void group(const std::string& name) { group_ = name; }
  void footer(const std::string& text) { footer_ = text; }  // a paragraph of --help below the flags
  void example(const std::string& command) { examples_.push_back(command); }  // the last part
  // Declares a positional argument; every command has one or two. If the argument is required,
  // `needed` describes it in the error message about a missing argument.
  void positional(const std::string& name, std::string& target, const std::string& help,
                  const std::string& needed = "") {
    positionals_.push_back({name, help, needed, &target, nullptr});
  }
  // Declares the last positional argument, which can be given several times, and must be once.
  void positionals(const std::string& name, std::vector<std::string>& targets,
                   const std::string& help, const std::string& needed) {
    positionals_.push_back({name, help, needed, nullptr, &targets});
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
  void choice(const std::string& flag, const std::string& help,
              const std::vector<std::string>& choices, std::string& target);
  // Declares a flag whose value is one of `names`, the names of the values of an enumeration.
  template <class Enum>
  void enumeration(const std::string& flag, const std::string& help,
                   const std::vector<std::string>& names, Enum& target) {
    add(flag, joined(names, "|"), help, [=, &target](const std::string& value) {
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
  // Declares the flag of a field: --min-lr for min_lr.
  template <class T>  // T is an integer type or double
  void field(const Field& field, T& target) {
    if constexpr (std::is_floating_point_v<T>)
      number(flag_of(field), target, field.bounds, field.help);
    else
      integer(flag_of(field), target, field.bounds, field.help);
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
    std::vector<std::string>* targets;  // of several arguments, or null
  };
  struct Flag {
    std::string name, group, type;  // `type` is empty if the flag takes no value
    std::string default_text, help;
    Setter set;
    Arguments values = {};  // the values on the command line; "" for a flag that takes none
  };
  // The arguments of a command line that are not known flags.
  struct Others {
    Arguments positionals;
    bool help = false;       // whether --help is one of them
    std::string error = {};  // about the first unknown argument
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
  Flag* find(const std::string& name);  // null if no flag has this name
  bool known(const std::string& name) { return name == "--help" || find(name) != nullptr; }
  Others separated(const Arguments& arguments);
  std::string value_of(const Flag& flag, const Arguments& arguments, std::size_t& i);
  void add_positional(const std::string& argument, Others& others) const;
  void set_positionals(const Arguments& values);
  void set_flags();
  std::string unknown_option(const std::string& name);
  std::vector<std::string> likely(const std::string& name);
  std::string usage() const;
  std::string help_of_flags() const;
  std::string help() const;

  std::string command_, footer_, group_ = "Options";
  std::vector<Positional> positionals_;
  std::vector<Flag> flags_;
  Arguments examples_;
  std::set<std::string> given_;
};

// The flags of a command do not depend on each other, unless it has a function check_flags()
// itself.
template <class Command>
void check_flags(const Command&, const std::set<std::string>&) {}

// Parses the arguments of a command, after its name. Returns the text of --help if the arguments
// contain this flag. Throws UsageError if an argument is invalid. A command is a struct of its name
// and options, for which there are functions: declare_flags(Flags&, Command&) says what the flags
// set, and check_flags(Command&, given) throws UsageError for a wrong combination of flags.
template <class Command>
std::variant<Command, ShowText> parsed(const Arguments& arguments) {
  Command command;
  Flags flags(Command::name);
  declare_flags(flags, command);
  if (const auto help = flags.read(arguments)) return *help;
  check_flags(command, flags.given());
  return command;
}

}  // namespace heed::app
