// flags.cpp: class Flags, which parses the command-line flags of one command and prints their
// --help.

#include "commands/flags.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "commands/commands.hpp"
#include "commands/help.hpp"
#include "commands/similar.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

std::string name_in(const std::string& argument) { return argument.substr(0, argument.find('=')); }

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " [" + text + "]"; }

}  // namespace

std::string abbreviated(const std::string& argument) {
  return truncated(argument.substr(0, 240), 60);
}

std::string listed(const std::vector<std::string>& parts, const std::string& conjunction) {
  if (parts.size() < 2) return joined(parts, "");
  return joined({parts.begin(), parts.end() - 1}, ", ") + " " + conjunction + " " + parts.back();
}

void throw_usage_error(const std::string& flag, const std::string& value,
                       const std::string& reason) {
  const bool needs_quotes = value.empty() || value.find(' ') != value.npos;
  const std::string quote = needs_quotes ? "'" : "";
  throw UsageError(flag + " " + quote + abbreviated(value) + quote + ": " + reason);
}

std::string number_text(double value) {
  const bool is_integer = std::abs(value) < 1e15 && value == std::floor(value);
  return is_integer ? std::to_string(static_cast<std::int64_t>(value)) : exact(value);
}

std::string flag_of(const std::string& name) {
  std::string flag = "--" + name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string bounds_text(const Bounds& b) {
  const std::string from = (b.open_low ? "above " : "at least ") + number_text(b.low);
  if (b.high == infinite) return from;
  return from + (b.open_high ? " and below " : " and at most ") + number_text(b.high);
}

std::uint64_t parse_integer(const std::string& flag, const std::string& text, Bounds bounds) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool negative = text.size() > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9';
  const bool too_large = error == std::errc::result_out_of_range;
  if (!negative && !too_large && (error != std::errc() || stop != end))
    throw_usage_error(flag, text, "must be a whole number, " + bounds_text(bounds));
  if (negative || too_large || !bounds.contains(static_cast<double>(value)))
    throw_usage_error(flag, text, "out of range: must be a whole number " + bounds_text(bounds));
  return value;
}

double parse_number(const std::string& flag, const std::string& text, Bounds bounds) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    throw_usage_error(flag, text, "out of range: must be a finite number, " + bounds_text(bounds));
  if (error != std::errc() || stop != end)
    throw_usage_error(flag, text, "must be a number, " + bounds_text(bounds));
  if (!std::isfinite(value))
    throw_usage_error(flag, text, "must be a finite number, " + bounds_text(bounds));
  if (!bounds.contains(value)) throw_usage_error(flag, text, "must be " + bounds_text(bounds));
  return value;
}

std::size_t index_of_choice(const std::string& flag, const std::string& value,
                            const std::vector<std::string>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), value);
  if (found == choices.end()) throw_usage_error(flag, value, "must be " + listed(choices, "or"));
  return static_cast<std::size_t>(found - choices.begin());
}

void Flags::choice(const std::string& flag, const std::string& help,
                   const std::vector<std::string>& choices, std::string& target) {
  add(flag, joined(choices, "|"), help, [=, &target](const std::string& value) {
    target = choices[index_of_choice(flag, value, choices)];
  });
  flags_.back().default_text = target;
}

Flags::Flag* Flags::find(const std::string& name) {
  const auto found = std::find_if(flags_.begin(), flags_.end(),
                                  [&](const Flag& flag) { return flag.name == name; });
  return found == flags_.end() ? nullptr : &*found;
}

// The flags that the user may have meant by `name`: those that it abbreviates, the one with the
// meaning of another program's option, or the most similar one.
std::vector<std::string> Flags::likely(const std::string& name) {
  std::string written = "--" + name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::replace(written.begin(), written.end(), '_', '-');
  std::vector<std::string> abbreviated_flags;
  for (const Flag& flag : flags_)
    if (written.size() > 3 && flag.name.rfind(written, 0) == 0)
      abbreviated_flags.push_back(flag.name);
  if (!abbreviated_flags.empty()) return abbreviated_flags;
  if (const std::string option = option_of_meaning(written); find(option) != nullptr)
    return {option};
  std::vector<std::string> names;
  if (written.rfind("--h", 0) == 0) names.push_back("--help");  // --temp does not mean --help
  for (const Flag& flag : flags_) names.push_back(flag.name);
  const std::string similar = nearest(name, names);
  return similar.empty() ? std::vector<std::string>() : std::vector{similar};
}

std::string Flags::unknown_option(const std::string& name) {
  const std::vector<std::string> meant = likely(name);
  return "unknown option " + abbreviated(name) + "; " +
         (meant.empty() ? "see --help" : "did you mean " + listed(meant, "or") + "?");
}

// The value of the flag in arguments[i], such as "--lr=1", or in the next argument; then
// increments i. The value "" of "--lr=" is not a missing value.
std::string Flags::value_of(const Flag& flag, const Arguments& arguments, std::size_t& i) {
  const bool has_value = flag.name.size() < arguments[i].size();
  if (flag.type.empty()) {
    if (has_value) throw UsageError(flag.name + " takes no value; write it alone");
    return "";
  }
  if (has_value) return arguments[i].substr(flag.name.size() + 1);
  if (i + 1 == arguments.size() || known(name_in(arguments[i + 1])))
    throw UsageError(flag.name + " needs a value");
  return arguments[++i];
}

void Flags::add_positional(const std::string& argument, Others& others) const {
  others.positionals.push_back(argument);
  const bool has_list = !positionals_.empty() && positionals_.back().targets != nullptr;
  if (others.positionals.size() > positionals_.size() && !has_list && others.error.empty())
    others.error = "'" + abbreviated(argument) + "' is one argument too many; see --help";
}

// Separates the arguments into the values of flags and others. What follows "--" are no flags.
Flags::Others Flags::separated(const Arguments& arguments) {
  Others others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string name = name_in(argument);
    if (argument == "--") {
      while (++i < arguments.size()) add_positional(arguments[i], others);
    } else if (argument.size() < 2 || argument[0] != '-') {
      add_positional(argument, others);
    } else if (argument == "-h" || argument == "--help") {
      others.help = true;
    } else if (Flag* const flag = find(name)) {
      flag->values.push_back(value_of(*flag, arguments, i));
    } else if (name == "--help") {
      throw UsageError("--help takes no value; write it alone");
    } else if (others.error.empty()) {
      others.error = unknown_option(name);
    }
  }
  return others;
}

void Flags::set_positionals(const Arguments& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Positional& positional = positionals_[std::min(i, positionals_.size() - 1)];
    if (values[i].empty()) throw_usage_error(positional.name, "", "is empty; give a name");
    if (positional.targets != nullptr)
      positional.targets->push_back(values[i]);
    else
      *positional.target = values[i];
  }
}

void Flags::set_flags() {
  for (const Flag& flag : flags_) {
    if (flag.values.empty()) continue;
    const bool takes_value = !flag.type.empty();
    if (takes_value && flag.values.size() > 1)
      throw UsageError(flag.name + " is given twice (" + abbreviated(flag.values[0]) + " and " +
                       abbreviated(flag.values[1]) + "); give it once");
    flag.set(flag.values[0]);
    if (takes_value) given_.insert(flag.name);
  }
}

std::string Flags::usage() const {
  std::string text = "./heed " + command_;
  for (const Positional& p : positionals_)
    text += p.needed.empty() ? " [" + p.name + "]" : " " + p.name + (p.targets ? "..." : "");
  return text + " [OPTIONS]";
}

std::string Flags::help_of_flags() const {
  std::string group = flags_.empty() ? "Options" : flags_.front().group;
  std::string text = help_title(group) + help_line("-h, --help", "print this help");
  for (const Flag& flag : flags_) {
    if (flag.group != group) text += help_title(flag.group);
    group = flag.group;
    text += help_line(flag.name + (flag.type.empty() ? "" : " " + flag.type),
                      flag.help + in_brackets(flag.default_text));
  }
  return text;
}

std::string Flags::help() const {
  std::string text = help_start("heed " + command_, find_command(command_)->about, usage());
  text += help_title("Arguments");
  for (const Positional& p : positionals_) text += help_line(p.name, p.help);
  text += help_of_flags();
  if (!footer_.empty()) text += help_paragraph(footer_);
  text += help_title("Examples");
  for (const std::string& example : examples_) text += "  " + example + "\n";
  return text;
}

std::optional<ShowText> Flags::read(const Arguments& arguments) {
  const Others others = separated(arguments);
  if (others.help) return ShowText{help()};
  if (!others.error.empty()) throw UsageError(others.error);
  set_positionals(others.positionals);
  set_flags();
  for (const Positional& p : positionals_)
    if (!p.needed.empty() && (p.targets != nullptr ? p.targets->empty() : p.target->empty()))
      throw UsageError(command_ + ": give " + p.needed);
  return {};
}

}  // namespace heed::app
