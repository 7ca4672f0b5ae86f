// flags.cpp: class Flags, which parses a command line with CLI11. No other file includes CLI11.

#include "commands/flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "heed/base/text.hpp"

namespace heed::app {
namespace {

// Cuts a command-line argument to 60 columns and at most 240 bytes, for an error message.
std::string abbreviated(const std::string& argument) {
  return truncated(argument.substr(0, 240), 60);
}

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

// Parses the arguments, and returns the text to print if they contain --help or --version.
std::optional<ShowText> parse(CLI::App& app, Arguments arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects arguments in reverse order
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    const std::string help = app.help();
    return ShowText{help + (help.back() == '\n' ? "" : "\n")};
  } catch (const CLI::CallForVersion&) {
    return ShowText{std::string(version) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + "; see --help");
  }
  return {};
}

}  // namespace

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

std::string Bounds::text() const {
  const std::string from = (open_low ? "above " : "at least ") + number_text(low);
  if (high == infinite) return from;
  return from + (open_high ? " and below " : " and at most ") + number_text(high);
}

std::uint64_t parse_integer(const std::string& flag, const std::string& text, Bounds bounds) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool negative = text.size() > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9';
  const bool too_large = error == std::errc::result_out_of_range;
  if (!negative && !too_large && (error != std::errc() || stop != end))
    throw_usage_error(flag, text, "must be a whole number, " + bounds.text());
  if (negative || too_large || !bounds.contains(static_cast<double>(value)))
    throw_usage_error(flag, text, "out of range: must be a whole number " + bounds.text());
  return value;
}

double parse_number(const std::string& flag, const std::string& text, Bounds bounds) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    throw_usage_error(flag, text, "out of range: must be a finite number, " + bounds.text());
  if (error != std::errc() || stop != end)
    throw_usage_error(flag, text, "must be a number, " + bounds.text());
  if (!std::isfinite(value))
    throw_usage_error(flag, text, "must be a finite number, " + bounds.text());
  if (!bounds.contains(value)) throw_usage_error(flag, text, "must be " + bounds.text());
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

const Flags::Flag* Flags::find(const std::string& name) const {
  const auto found = std::find_if(flags_.begin(), flags_.end(),
                                  [&](const Flag& flag) { return flag.name == name; });
  return found == flags_.end() ? nullptr : &*found;
}

// The flags that the user may have meant by `name`: those that it abbreviates, the one with the
// meaning of another program's option, or the most similar one.
std::vector<std::string> Flags::likely(const std::string& name) const {
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

// Splits arguments such as "--lr=1" into "--lr" and "1". CLI11 itself would read the empty value of
// "--lr=" as a missing value.
Arguments Flags::separated(const Arguments& arguments) const {
  Arguments result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") {  // what follows are no flags
      result.insert(result.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.end());
      break;
    }
    const std::string name = name_in(arguments[i]);
    const bool has_value = name.size() < arguments[i].size();
    const Flag* const flag = find(name);
    result.push_back(known(name) ? name : arguments[i]);
    if (flag == nullptr || flag->type.empty()) {
      if (has_value && known(name)) throw UsageError(name + " takes no value; write it alone");
    } else if (has_value) {
      result.push_back(arguments[i].substr(name.size() + 1));
    } else {
      if (i + 1 == arguments.size() || known(name_in(arguments[i + 1])))
        throw UsageError(name + " needs a value");
      result.push_back(arguments[++i]);
    }
  }
  return result;
}

void Flags::check_no_extra(const Arguments& extras) const {
  const auto extra = std::find_if(extras.begin(), extras.end(),
                                  [](const std::string& argument) { return argument != "--"; });
  if (extra == extras.end()) return;
  const std::string name = name_in(*extra);
  // A known flag can be an extra argument only after the argument "--", which ends the flags.
  if (extra->size() < 2 || (*extra)[0] != '-' || known(name))
    throw UsageError("'" + abbreviated(*extra) + "' is one argument too many; see --help");
  const std::vector<std::string> meant = likely(name);
  throw UsageError("unknown option " + abbreviated(name) + "; " +
                   (meant.empty() ? "see --help" : "did you mean " + listed(meant, "or") + "?"));
}

std::optional<ShowText> Flags::read(const Arguments& arguments) {
  CLI::App app(about_, "heed " + command_);
  app.allow_extras();
  app.footer(footer_);
  std::vector<const CLI::Option*> positionals;
  for (const Positional& p : positionals_)
    positionals.push_back(app.add_option(p.name, *p.target, p.help)->type_name(""));
  std::vector<const CLI::Option*> options;
  for (const Flag& flag : flags_) {
    CLI::Option* const option = flag.type.empty() ? app.add_flag(flag.name, flag.help)
                                                  : app.add_option(flag.name, flag.help);
    if (!flag.type.empty()) option->expected(1)->take_all()->allow_extra_args(false);
    options.push_back(
        option->type_name(flag.type)->default_str(flag.default_text)->group(flag.group));
  }
  if (auto help = parse(app, separated(arguments))) return help;
  check_no_extra(app.remaining());
  for (std::size_t i = 0; i < positionals.size(); ++i)
    if (positionals[i]->count() > 0 && positionals_[i].target->empty())
      throw_usage_error(positionals_[i].name, "", "is empty; give a name");
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    const std::vector<std::string>& values = options[i]->results();
    if (values.empty()) continue;
    const bool takes_value = !flags_[i].type.empty();
    if (takes_value && values.size() > 1)
      throw UsageError(flags_[i].name + " is given twice (" + abbreviated(values[0]) + " and " +
                       abbreviated(values[1]) + "); give it once");
    flags_[i].set(values[0]);
    if (takes_value) given_.insert(flags_[i].name);
  }
  for (const Positional& p : positionals_)
    if (p.target->empty() && !p.needed.empty()) throw UsageError(command_ + ": give " + p.needed);
  return {};
}

ShowText read_without_command(const Arguments& arguments,
                              const std::vector<CommandEntry>& commands) {
  CLI::App app("heed: learn attention by running, reading and debugging code", "heed");
  app.set_version_flag("--version", version);
  std::vector<std::string> names;
  for (const CommandEntry& command : commands) {
    app.add_subcommand(command.name, command.about);
    names.push_back(command.name);
  }
  app.allow_extras();  // must follow add_subcommand(), or subcommands would inherit the setting
  if (const auto help = parse(app, arguments)) return *help;
  const std::string unknown =
      arguments.empty() ? "no command" : "unknown command '" + abbreviated(arguments[0]) + "'";
  throw UsageError(unknown + "; use " + listed(names, "or") + ", or see --help");
}

}  // namespace heed::app
