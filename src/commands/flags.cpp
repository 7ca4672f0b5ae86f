// flags.cpp: class Flags, which parses the command-line flags of one command and prints their
// --help.

#include "commands/flags.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "commands/commands.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

// The Levenshtein distance (1966): the smallest number of character substitutions, insertions and
// deletions that turn `a` into `b`.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

// Options of nanoGPT, char-rnn and other programs, and heed's options with the same meaning.
const std::map<std::string, std::string> options_elsewhere = {{"--context-length", "--block-size"},
                                                              {"--d-model", "--embed-dim"},
                                                              {"--epochs", "--steps"},
                                                              {"--eval-interval", "--eval-every"},
                                                              {"--eval-iters", "--eval-batches"},
                                                              {"--grad-clip", "--clip"},
                                                              {"--hidden-size", "--embed-dim"},
                                                              {"--init-from", "--init"},
                                                              {"--iters", "--steps"},
                                                              {"--learning-rate", "--lr"},
                                                              {"--length", "--tokens"},
                                                              {"--log-interval", "--log-every"},
                                                              {"--lr-decay-iters", "--decay-steps"},
                                                              {"--max-epochs", "--steps"},
                                                              {"--max-iters", "--steps"},
                                                              {"--max-length", "--tokens"},
                                                              {"--max-new-tokens", "--tokens"},
                                                              {"--max-steps", "--steps"},
                                                              {"--n-embd", "--embed-dim"},
                                                              {"--n-head", "--heads"},
                                                              {"--n-layer", "--layers"},
                                                              {"--num-heads", "--heads"},
                                                              {"--num-layers", "--layers"},
                                                              {"--num-samples", "--samples"},
                                                              {"--out-dir", "--out"},
                                                              {"--primetext", "--prompt"},
                                                              {"--rnn-size", "--embed-dim"},
                                                              {"--seq-length", "--block-size"},
                                                              {"--start", "--prompt"},
                                                              {"--warmup-iters", "--warmup"},
                                                              {"--warmup-steps", "--warmup"}};

std::string name_in(const std::string& argument) { return argument.substr(0, argument.find('=')); }

}  // namespace

std::string abbreviated(const std::string& argument) {
  return truncated(argument.substr(0, 240), 60);
}

std::string help_start(const std::string& about, const std::string& usage,
                       const std::string& positionals) {
  return about + "\nUsage: " + usage + "\n" +
         (positionals.empty() ? "" : "\nPositionals:\n" + positionals) + "\nOptions:\n" +
         help_line("-h,--help", "Print this help message and exit");
}

std::string help_line(const std::string& name, const std::string& help) {
  constexpr std::size_t width = 30;
  const std::string start = "  " + name;
  return (start.size() < width ? pad_right(start, width) : start + "\n" + std::string(width, ' ')) +
         help + "\n";
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

std::string flag_of(const Field& field) {
  std::string flag = std::string("--") + field.name;
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

void Flags::choice(const std::string& flag, const std::string& type, const std::string& help,
                   const std::vector<std::string>& choices, std::string& target) {
  add(flag, type, help, [=, &target](const std::string& value) {
    target = choices[index_of_choice(flag, value, choices)];
  });
}

Flags::Flag* Flags::find(const std::string& name) {
  const auto found = std::find_if(flags_.begin(), flags_.end(),
                                  [&](const Flag& flag) { return flag.name == name; });
  return found == flags_.end() ? nullptr : &*found;
}

// The flags that the user may have meant by `name`: those that it abbreviates, the one with the
// meaning of another program's option, or the most similar one.
std::vector<std::string> Flags::likely(const std::string& name) {
  if (name.size() > 40) return {};  // flag names are shorter, and edit_distance() would be slow
  std::string written = "--" + name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::replace(written.begin(), written.end(), '_', '-');
  std::vector<std::string> abbreviated_flags;
  for (const Flag& flag : flags_)
    if (written.size() > 3 && flag.name.rfind(written, 0) == 0)
      abbreviated_flags.push_back(flag.name);
  if (!abbreviated_flags.empty()) return abbreviated_flags;
  const auto elsewhere = options_elsewhere.find(written);
  if (elsewhere != options_elsewhere.end() && find(elsewhere->second) != nullptr)
    return {elsewhere->second};
  std::string best = "--help";
  for (const Flag& flag : flags_)
    if (edit_distance(name, flag.name) < edit_distance(name, best)) best = flag.name;
  const bool is_other_word = best == "--help" && written.rfind("--h", 0) != 0;  // such as --temp
  if (is_other_word || edit_distance(name, best) > std::max<std::size_t>(2, name.size() / 3))
    return {};
  return {best};
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
  if (others.positionals.size() > positionals_.size() && others.error.empty())
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
    if (values[i].empty()) throw_usage_error(positionals_[i].name, "", "is empty; give a name");
    *positionals_[i].target = values[i];
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

std::string Flags::help() const {
  std::string usage = "heed " + command_ + " [OPTIONS]", positionals;
  for (const Positional& p : positionals_) {
    usage += " [" + p.name + "]";
    positionals += help_line(p.name, p.help);
  }
  std::string text = help_start(find_command(command_)->about, usage, positionals);
  std::string group = "Options";
  for (const Flag& flag : flags_) {
    if (flag.group != group) text += "\n\n" + flag.group + ":\n";
    group = flag.group;
    text += help_line(flag.name + (flag.type.empty() ? "" : " " + flag.type) +
                          (flag.default_text.empty() ? "" : "=" + flag.default_text),
                      flag.help);
  }
  return text + "\n" + (footer_.empty() ? "" : footer_ + "\n");
}

std::optional<ShowText> Flags::read(const Arguments& arguments) {
  const Others others = separated(arguments);
  if (others.help) return ShowText{help()};
  if (!others.error.empty()) throw UsageError(others.error);
  set_positionals(others.positionals);
  set_flags();
  for (const Positional& p : positionals_)
    if (p.target->empty() && !p.needed.empty()) throw UsageError(command_ + ": give " + p.needed);
  return {};
}

}  // namespace heed::app
