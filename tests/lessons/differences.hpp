// differences.hpp: compares what lessons print and draw with what is stored.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "heed/base/utf8.hpp"
#include "lessons/programs.hpp"

namespace heed_test {

// A number in the output of a lesson.
struct Printed {
  double value = 0;
  int decimals = 0;        // digits after the point minus the exponent
  std::size_t length = 0;  // characters; 0: there is no number at this position
};

inline bool digit(const std::string& text, std::size_t i) {
  return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
}

// The number with a decimal point that begins at `start`, after any spaces: "  -0.1217".
inline Printed number_at(const std::string& text, std::size_t start) {
  std::size_t i = start;
  while (i < text.size() && text[i] == ' ') ++i;
  const std::size_t first = i;
  if (i < text.size() && text[i] == '-') ++i;
  const std::size_t first_digit = i;
  while (digit(text, i)) ++i;
  if (i == first_digit || i == text.size() || text[i] != '.' || !digit(text, i + 1)) return {};
  const std::size_t point = i++;
  while (digit(text, i)) ++i;
  int decimals = static_cast<int>(i - point) - 1;
  if (i + 2 < text.size() && text[i] == 'e' && digit(text, i + 2)) {  // "2.5000e-07"
    decimals -= std::stoi(text.substr(i + 1));
    for (i += 2; digit(text, i);) ++i;
  }
  return {std::stod(text.substr(first, i - first)), decimals, i - start};
}

// Allows one unit in the last digit, since rounding errors differ between machines, and 1.3e-7 for
// numbers with more than seven digits. Training amplifies rounding errors, so the results of
// training may differ by 0.05 or 10 %, and their standard errors, of few seeds, by half.
inline bool agree(const Printed& a, const Printed& b, bool trained, bool is_error) {
  const double unit = std::pow(10.0, -a.decimals), part = is_error ? 0.5 : 0.1;
  const double tolerance = trained ? 1e-9 + std::max(0.05, part * std::abs(a.value)) : 1.3e-7;
  return a.decimals == b.decimals &&
         std::abs(a.value - b.value) <= std::max(1.01 * unit, tolerance);
}

inline bool lines_agree(const std::string& expected, const std::string& printed, bool trained) {
  if (expected.rfind("picture: ", 0) == 0 &&
      (printed.rfind("picture: gnuplot is not installed", 0) == 0 ||
       printed.rfind("picture: Graphviz is not installed", 0) == 0))
    return true;
  std::size_t e = 0, p = 0;
  while (e < expected.size() && p < printed.size()) {
    const Printed a = number_at(expected, e), b = number_at(printed, p);
    const bool marked = trained || (e > 0 && expected[e - 1] == '~');
    const bool is_error = e > 1 && expected.compare(e - 2, 2, "+-") == 0;
    if (a.length > 0 && b.length > 0 ? !agree(a, b, marked, is_error) : expected[e] != printed[p])
      return false;
    e += a.length > 0 && b.length > 0 ? a.length : 1;
    p += a.length > 0 && b.length > 0 ? b.length : 1;
  }
  return e == expected.size() && p == printed.size();
}

// Replaces each block of lines that begin with "  |" by one empty line: they depend on the machine.
inline std::vector<std::string> without_quotes(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : lines_of(text)) {
    const bool quote = line.rfind("  |", 0) == 0;
    if (quote && !lines.empty() && lines.back() == "  |") continue;
    lines.push_back(quote ? "  |" : line);
  }
  return lines;
}

// "" if the outputs agree, else the first line that differs, as expected and as printed.
inline std::string first_difference(const std::string& expected, const std::string& printed) {
  const std::vector<std::string> e = without_quotes(expected), p = without_quotes(printed);
  bool trained = false;  // inside a table with ", trained (" in its title
  for (std::size_t i = 0; i < std::max(e.size(), p.size()); ++i) {
    if (i < e.size()) trained = !e[i].empty() && (trained || e[i].find(", trained (") != e[i].npos);
    if (i < e.size() && i < p.size() && lines_agree(e[i], p[i], trained)) continue;
    return "line " + std::to_string(i + 1) +
           "\n  expected: " + (i < e.size() ? e[i] : "(the end)") +
           "\n  printed:  " + (i < p.size() ? p[i] : "(the end)");
  }
  return "";
}

// The texts of an SVG file, sorted. If the lesson trains, # stands for all numbers, of which an
// axis may have more or fewer. Versions of Graphviz write a hyphen in two ways.
inline std::string texts_of_picture(const std::string& svg, bool trains) {
  static const std::regex pattern("<text[^>]*>(?:<tspan[^>]*>)?([^<]+)"), hyphen("&#45;"),
      number("-?[0-9][0-9.,]*");
  std::vector<std::string> texts;
  for (std::sregex_iterator i(svg.begin(), svg.end(), pattern), end; i != end; ++i) {
    const std::string text = std::regex_replace((*i)[1].str(), hyphen, "-");
    if (trains && heed::count_code_points(text) == 1)
      continue;  // a character that a model has chosen
    texts.push_back(trains ? std::regex_replace(text, number, "#") : text);
  }
  std::sort(texts.begin(), texts.end());
  if (trains) texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

// "" if two pictures agree, else the first text that differs: other versions of gnuplot and
// Graphviz draw other lines, but the same texts.
inline std::string picture_difference(const std::string& expected, const std::string& drawn,
                                      bool trains) {
  if (expected == drawn) return "";
  return first_difference(texts_of_picture(expected, trains), texts_of_picture(drawn, trains));
}

}  // namespace heed_test
