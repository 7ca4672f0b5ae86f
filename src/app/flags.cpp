// flags.cpp: the flags of one command; the one file that includes CLI11.

#include "app/flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <list>

#include "heed/app/version.hpp"
#include "heed/base/text.hpp"

namespace heed::app {

std::string brief(const std::string& word) {
  const std::size_t many = 60;
  return word.size() <= many ? word : truncated(word.substr(0, 4 * many), many);
}

void wrong(const std::string& flag, const std::string& value, const std::string& why) {
  const bool odd = value.empty() || value.find(' ') != value.npos;
  throw UsageError(flag + " " + (odd ? "'" + brief(value) + "'" : brief(value)) + ": " + why);
}

// A number as it can be typed: 1000000000, not 1e+09.
static std::string typed(double value) {
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  return whole ? std::to_string(static_cast<std::int64_t>(value)) : exact(value);
}

std::string Span::text() const {
  const std::string from = (open_low ? "above " : "at least ") + typed(low);
  if (high == infinite) return from;
  return from + (open_high ? " and below " : " and at most ") + typed(high);
}

std::uint64_t whole_number(const std::string& flag, const std::string& text, Span span) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool negative = text.size() > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9';
  if (error == std::errc::result_out_of_range)
    wrong(flag, text, "out of range: must be a whole number " + span.text());
  if (!negative && (error != std::errc() || stop != end))
    wrong(flag, text, "must be a whole number, " + span.text());
  if (negative || !span.contains(static_cast<double>(value)))
    wrong(flag, text, "out of range: must be a whole number " + span.text());
  return value;
}

double real_number(const std::string& flag, const std::string& text, Span span) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    wrong(flag, text, "out of range: must be " + span.text());
  if (error != std::errc() || stop != end) wrong(flag, text, "must be a number, " + span.text());
  if (!std::isfinite(value) || !span.contains(value)) wrong(flag, text, "must be " + span.text());
  return value;
}

struct Flags::App {
  CLI::App cli;
  CLI::Option* word = nullptr;
  std::list<Entry> entries{};  // CLI11 keeps pointers into them
  std::string group = "Options";
};

Flags::Flags(const std::string& about, const std::string& command, const std::string& footer)
    : app_(new App{CLI::App(about, command)}) {
  app_->cli.allow_extras();
  app_->cli.footer(footer);
}

Flags::~Flags() = default;

void Flags::group(const std::string& name) { app_->group = name; }

void Flags::word(const std::string& name, std::string& target, const std::string& help) {
  app_->word = app_->cli.add_option(name, target, help)->type_name("");
}

void Flags::add(const std::string& flag, const std::string& type, const std::string& standard,
                const std::string& help, Set set) {
  app_->entries.push_back({flag, {}, std::move(set)});
  names_.push_back(flag);
  CLI::Option* const option = app_->cli.add_option(flag, app_->entries.back().texts, help);
  option->expected(1)->take_all()->allow_extra_args(false)->type_name(type)->group(app_->group);
  if (!standard.empty()) option->default_str(standard);
}

void Flags::yes(const std::string& flag, bool& target, const std::string& help) {
  names_.push_back(flag);
  app_->cli.add_flag(flag, target, help)->group(app_->group);
}

void Flags::no(const std::string& flag, bool& target, const std::string& help) {
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

// How many letters must be changed, added or left out to get from a to b (Levenshtein 1966).
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
  if (flag.size() > 40) return "";  // nothing is near, and finding that out takes long
  const auto closer = [&](const std::string& a, const std::string& b) {
    return edit_distance(flag, a) < edit_distance(flag, b);
  };
  const std::string best = *std::min_element(names_.begin(), names_.end(), closer);
  return edit_distance(flag, best) <= std::max<std::size_t>(2, flag.size() / 3) ? best : "";
}

static std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

Words Flags::separated(const Words& words) const {
  Words result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string flag = name_in(words[i]);
    const bool has_value = flag.size() < words[i].size();
    result.push_back(known(flag) ? flag : words[i]);
    if (!takes_value(flag)) {
      if (has_value && known(flag)) throw UsageError(flag + " takes no value; write it alone");
    } else if (has_value) {
      result.push_back(words[i].substr(flag.size() + 1));
    } else {
      if (i + 1 == words.size() || known(name_in(words[i + 1])))
        throw UsageError(flag + " needs a value");
      result.push_back(words[++i]);
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
  if (extra.size() < 2 || extra[0] != '-' || known(flag))  // known: written after "--"
    throw UsageError("'" + brief(extra) + "' is one argument too many; see --help");
  const std::string guess = nearest(flag);
  throw UsageError("unknown option " + brief(flag) + "; " +
                   (guess.empty() ? "see --help" : "did you mean " + guess + "?"));
}

// The text for --help or --version, if it was asked for.
static std::optional<ShowText> parse(CLI::App& app, Words words) {
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const std::string help = app.help();
    return ShowText{help + (help.back() == '\n' ? "" : "\n")};
  } catch (const CLI::CallForVersion&) {
    return ShowText{std::string(version) + "\n"};
  } catch (const CLI::ParseError& error) {
    const std::string text = error.what();
    throw UsageError(text.substr(0, text.find('\n')) + "; see --help");
  }
  return {};
}

std::optional<ShowText> Flags::read(const Words& words) {
  if (auto help = parse(app_->cli, separated(words))) return help;
  convert();
  return {};
}

void Flags::convert() {
  throw_if_unknown();
  if (app_->word != nullptr && app_->word->count() > 0 && app_->word->as<std::string>().empty())
    wrong(app_->word->get_name(), "", "needs the name of a file");
  for (const Entry& entry : app_->entries) {
    if (entry.texts.empty()) continue;
    if (entry.texts.size() > 1)
      throw UsageError(entry.flag + " is given twice (" + brief(entry.texts[0]) + " and " +
                       brief(entry.texts[1]) + "); give it once");
    entry.set(entry.texts[0]);
    given_.insert(entry.flag);
  }
}

ShowText read_without_command(const Words& words,
                              const std::vector<std::pair<std::string, std::string>>& commands) {
  CLI::App app("heed: learn attention by running, reading and debugging code", "heed");
  app.set_version_flag("--version", version);
  std::string names;
  for (const auto& [name, about] : commands) {
    app.add_subcommand(name, about);
    const bool last = name == commands.back().first;
    names += (names.empty() ? "" : last ? " or " : ", ") + name;
  }
  app.allow_extras();
  if (const auto help = parse(app, words)) return *help;
  throw UsageError((words.empty() ? "no command" : "unknown command '" + brief(words[0]) + "'") +
                   "; use " + names + ", or see --help");
}

}  // namespace heed::app
