// flags.cpp: Flags (command-line parsing); the only file that includes CLI11.

#include "app/flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <list>

#include "heed/app/version.hpp"
#include "heed/base/text.hpp"

namespace heed::app {

std::string abbreviated(const std::string& argument) {
  const std::size_t max_width = 60;
  if (argument.size() <= max_width) return argument;
  return truncated(argument.substr(0, 4 * max_width), max_width);
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

// The number without an exponent if it is an integer: 1000000000, not 1e+09.
static std::string number_text(double value) {
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
  if (error == std::errc::result_out_of_range)
    throw_usage_error(flag, text, "out of range: must be a whole number " + bounds.text());
  if (!negative && (error != std::errc() || stop != end))
    throw_usage_error(flag, text, "must be a whole number, " + bounds.text());
  if (negative || !bounds.contains(static_cast<double>(value)))
    throw_usage_error(flag, text, "out of range: must be a whole number " + bounds.text());
  return value;
}

double parse_number(const std::string& flag, const std::string& text, Bounds bounds) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    throw_usage_error(flag, text, "out of range: must be " + bounds.text());
  if (error != std::errc() || stop != end)
    throw_usage_error(flag, text, "must be a number, " + bounds.text());
  if (!std::isfinite(value) || !bounds.contains(value))
    throw_usage_error(flag, text, "must be " + bounds.text());
  return value;
}

struct Flags::App {
  CLI::App cli;
  CLI::Option* positional = nullptr;
  std::list<Entry> entries{};  // a list, because CLI11 keeps pointers to the entries
  std::string group = "Options";
};

Flags::Flags(const std::string& about, const std::string& command, const std::string& footer)
    : app_(new App{CLI::App(about, command)}) {
  app_->cli.allow_extras();
  app_->cli.footer(footer);
}

Flags::~Flags() = default;

void Flags::group(const std::string& name) { app_->group = name; }

void Flags::positional(const std::string& name, std::string& target, const std::string& help) {
  app_->positional = app_->cli.add_option(name, target, help)->type_name("");
}

void Flags::add(const std::string& flag, const std::string& type, const std::string& default_text,
                const std::string& help, Setter set) {
  app_->entries.push_back({flag, {}, std::move(set)});
  names_.push_back(flag);
  CLI::Option* const option = app_->cli.add_option(flag, app_->entries.back().texts, help);
  option->expected(1)->take_all()->allow_extra_args(false)->type_name(type)->group(app_->group);
  if (!default_text.empty()) option->default_str(default_text);
}

void Flags::flag(const std::string& flag, bool& target, const std::string& help) {
  names_.push_back(flag);
  app_->cli.add_flag(flag, target, help)->group(app_->group);
}

void Flags::negated_flag(const std::string& flag, bool& target, const std::string& help) {
  names_.push_back(flag);
  const auto unset = [&target] { target = false; };
  app_->cli.add_flag_callback(flag, unset, help)->group(app_->group);
}

bool Flags::known(const std::string& flag) const {
  return std::find(names_.begin(), names_.end(), flag) != names_.end();
}

bool Flags::takes_value(const std::string& flag) const {
  return std::any_of(app_->entries.begin(), app_->entries.end(),
                     [&](const Entry& entry) { return entry.flag == flag; });
}

// The Levenshtein distance (1966): the number of characters to change, add or delete.
static std::size_t edit_distance(const std::string& a, const std::string& b) {
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

std::string Flags::nearest(const std::string& flag) const {
  if (flag.size() > 40) return "";  // longer than every flag; the distance would be slow
  const auto closer = [&](const std::string& a, const std::string& b) {
    return edit_distance(flag, a) < edit_distance(flag, b);
  };
  const std::string best = *std::min_element(names_.begin(), names_.end(), closer);
  return edit_distance(flag, best) <= std::max<std::size_t>(2, flag.size() / 3) ? best : "";
}

static std::string name_in(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

Arguments Flags::separated(const Arguments& arguments) const {
  Arguments result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string flag = name_in(arguments[i]);
    const bool has_value = flag.size() < arguments[i].size();
    result.push_back(known(flag) ? flag : arguments[i]);
    if (!takes_value(flag)) {
      if (has_value && known(flag)) throw UsageError(flag + " takes no value; write it alone");
    } else if (has_value) {
      result.push_back(arguments[i].substr(flag.size() + 1));
    } else {
      if (i + 1 == arguments.size() || known(name_in(arguments[i + 1])))
        throw UsageError(flag + " needs a value");
      result.push_back(arguments[++i]);
    }
  }
  return result;
}

void Flags::throw_if_unknown() const {
  std::vector<std::string> extras = app_->cli.remaining();
  extras.erase(std::remove(extras.begin(), extras.end(), "--"), extras.end());
  if (extras.empty()) return;
  const std::string& extra = extras[0];
  const std::string flag = name_in(extra);
  if (extra.size() < 2 || extra[0] != '-' || known(flag))  // a known flag here stood after "--"
    throw UsageError("'" + abbreviated(extra) + "' is one argument too many; see --help");
  const std::string guess = nearest(flag);
  throw UsageError("unknown option " + abbreviated(flag) + "; " +
                   (guess.empty() ? "see --help" : "did you mean " + guess + "?"));
}

// The text for --help or --version if an argument asks for one.
static std::optional<ShowText> parse(CLI::App& app, Arguments arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the last argument first
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

std::optional<ShowText> Flags::read(const Arguments& arguments) {
  if (auto help = parse(app_->cli, separated(arguments))) return help;
  convert();
  return {};
}

void Flags::convert() {
  throw_if_unknown();
  if (app_->positional != nullptr && app_->positional->count() > 0 &&
      app_->positional->as<std::string>().empty())
    throw_usage_error(app_->positional->get_name(), "", "needs the name of a file");
  for (const Entry& entry : app_->entries) {
    if (entry.texts.empty()) continue;
    if (entry.texts.size() > 1)
      throw UsageError(entry.flag + " is given twice (" + abbreviated(entry.texts[0]) + " and " +
                       abbreviated(entry.texts[1]) + "); give it once");
    entry.set(entry.texts[0]);
    given_.insert(entry.flag);
  }
}

ShowText read_without_command(const Arguments& arguments,
                              const std::vector<std::pair<std::string, std::string>>& commands) {
  CLI::App app("heed: learn attention by running, reading and debugging code", "heed");
  app.set_version_flag("--version", version);
  std::vector<std::string> names;
  for (const auto& [name, about] : commands) {
    app.add_subcommand(name, about);
    names.push_back(name);
  }
  app.allow_extras();
  if (const auto help = parse(app, arguments)) return *help;
  const std::string unknown =
      arguments.empty() ? "no command" : "unknown command '" + abbreviated(arguments[0]) + "'";
  throw UsageError(unknown + "; use " + listed(names, "or") + ", or see --help");
}

}  // namespace heed::app
