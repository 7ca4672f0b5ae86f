// dates.hpp: the task of lesson 21: dates and times as people write them, and in ISO 8601 form.
#pragma once

#include "lesson.hpp"

namespace heed {

// The characters of lines and of ISO forms. A character's index here is its token id.
inline const std::string characters = "abcdefghijklmnopqrstuvwxyz0123456789 ,./:-T";
inline const Names month_names = {"january",   "february", "march",    "april",
                                  "may",       "june",     "july",     "august",
                                  "september", "october",  "november", "december"};

struct Date {
  std::int64_t year, month, day;
};

inline std::string two_digits(std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); }

inline std::string iso(const Date& d) {
  return std::to_string(d.year) + "-" + two_digits(d.month) + "-" + two_digits(d.day);
}

// A random number from low to high.
inline std::int64_t draw(Generator& g, std::int64_t low, std::int64_t high) {
  return g.randint(low, high + 1, {1})(0);
}

inline std::string ordinal(std::int64_t n) {  // such as "3rd"
  const bool teen = n >= 11 && n <= 13;
  const Names suffixes = {"th", "st", "nd", "rd"};
  return std::to_string(n) + suffixes[teen || n % 10 > 3 ? 0 : std::size_t(n % 10)];
}

// The date in form 0 to 4: "3rd of march 1999", "march 3, 1999", "3 mar 1999", "3.3.1999" (the day
// first) or "3/3/99" (the month first).
inline std::string written(const Date& d, std::int64_t form) {
  const std::string day = std::to_string(d.day), month = std::to_string(d.month),
                    year = std::to_string(d.year), name = month_names[std::size_t(d.month - 1)];
  if (form == 0) return ordinal(d.day) + " of " + name + " " + year;
  if (form == 1) return name + " " + day + ", " + year;
  if (form == 2) return day + " " + name.substr(0, 3) + " " + year;
  if (form == 3) return day + "." + month + "." + year;
  return month + "/" + day + "/" + year.substr(2);
}

// The time in form 0 or 1: "17:45" or "5:45 pm".
inline std::string written_time(std::int64_t hour, std::int64_t minute, std::int64_t form) {
  if (form == 0) return std::to_string(hour) + ":" + two_digits(minute);
  return std::to_string((hour + 11) % 12 + 1) + ":" + two_digits(minute) +
         (hour < 12 ? " am" : " pm");
}

// About a tenth of all dates are held out: no form of them is used for training.
inline bool is_held_out(const Date& d) { return (d.year + 3 * d.month + 7 * d.day) % 10 == 0; }

// A random date from 1990 to 2009, so that two digits determine the year.
inline Date draw_date(Generator& g, bool held_out) {
  const std::vector<std::int64_t> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  while (true) {
    Date d{draw(g, 1990, 2009), draw(g, 1, 12), 0};
    d.day = draw(g, 1, d.month == 2 && d.year % 4 == 0 ? 29 : days[std::size_t(d.month - 1)]);
    if (is_held_out(d) == held_out) return d;
  }
}

// The last `length` characters of random words, each followed by a space.
inline std::string words_of_length(Generator& g, std::size_t length) {
  const Names words = {"the",  "ship", "left",    "we",  "met", "in",   "harbour",
                       "a",    "it",   "letter",  "on",  "her", "came", "at",
                       "cold", "was",  "brother", "and", "old", "again"};
  std::string text;
  while (text.size() < length) text += words[std::size_t(draw(g, 0, 19))] + " ";
  return text.substr(text.size() - length);
}

// A line of exactly `length` characters that contains the parts in this order, and words.
inline std::string line_with(const Names& parts, std::size_t length, Generator& g) {
  std::size_t rest = length + 1;
  for (const std::string& part : parts) rest -= part.size() + 1;  // and a space between two
  std::string line;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t size = std::size_t(draw(g, 0, std::int64_t(rest)));
    line += (i > 0 ? " " : "") + words_of_length(g, size) + parts[i];
    rest -= size;
  }
  return line + (" " + words_of_length(g, rest)).substr(0, rest);
}

struct DateBatch {
  Names lines, target_texts;  // B texts each
  Indices inputs, targets;                  // (B, S) and (B, N): the tokens of both
};

inline Indices tokens_of(const Names& texts) {  // texts of the same length
  Indices tokens = Indices::from_shape({texts.size(), texts[0].size()});
  for (std::size_t b = 0; b < texts.size(); ++b)
    for (std::size_t t = 0; t < texts[b].size(); ++t)
      tokens(b, t) = std::int64_t(characters.find(texts[b][t]));
  return tokens;
}

inline std::string text_of(const Indices& tokens, std::size_t b) {
  std::string text;
  for (std::size_t t = 0; t < tokens.shape(1); ++t) text += characters[std::size_t(tokens(b, t))];
  return text;
}

// The length of the lines in training: every date, and every time, has room. With HEED_BRIEF only
// the forms "3/3/99" and "17:45" are used.
inline std::size_t training_length(bool with_time) {
  return brief() ? (with_time ? 18 : 12) : (with_time ? 32 : 24);
}

// B lines of `length` characters with a date, or with a date and a time in random order.
inline DateBatch new_batch(Generator& g, std::size_t B, bool with_time, std::size_t length,
                           bool held_out) {
  DateBatch batch;
  for (std::size_t b = 0; b < B; ++b) {
    const Date d = draw_date(g, held_out);
    Names parts = {written(d, draw(g, brief() ? 4 : 0, 4))};
    batch.target_texts.push_back(iso(d));
    if (with_time) {
      const std::int64_t hour = draw(g, 0, 23), minute = draw(g, 0, 59);
      const std::string time = written_time(hour, minute, draw(g, 0, brief() ? 0 : 1));
      batch.target_texts[b] += "T" + two_digits(hour) + ":" + two_digits(minute);
      parts.insert(parts.begin() + draw(g, 0, 1), time);
    }
    batch.lines.push_back(line_with(parts, length, g));
  }
  batch.inputs = tokens_of(batch.lines), batch.targets = tokens_of(batch.target_texts);
  return batch;
}

// The fraction of lines whose whole ISO form is right; predicted tokens (B, N).
inline double fraction_right(const Indices& predicted, const DateBatch& batch) {
  double right = 0;
  for (std::size_t b = 0; b < batch.target_texts.size(); ++b)
    right += text_of(predicted, b) == batch.target_texts[b];
  return right / double(batch.target_texts.size());
}

// 200 lines with a held-out date, each `more` characters longer than in training.
inline DateBatch test_lines(bool with_time, std::size_t more = 0, std::uint64_t seed = 2026) {
  Generator g(seed);
  const std::size_t B = std::size_t(in_brief(200, 50));
  return new_batch(g, B, with_time, training_length(with_time) + more, true);
}

inline Names characters_of(const std::string& text) {
  Names letters;
  for (const char c : text) letters.push_back({c});
  return letters;
}

}  // namespace heed
