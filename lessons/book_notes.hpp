// book_notes.hpp: notes for `heed book` in a lesson's output: the source line of each call that
// prints, tolerances, and the numbers of heat maps, loss curves and sliders.
//
// A note is one line: the character 0x1D and a JSON object. Lessons write notes only if the
// environment variable HEED_BOOK is set, as `heed book` does.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/base/source_location.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/heatmap.hpp"
#include "heed/draw/series.hpp"

namespace heed::book {

inline bool is_on() {
  static const bool on = std::getenv("HEED_BOOK") != nullptr;
  return on;
}

// ---- JSON texts

inline std::string json_text(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    const auto code = static_cast<unsigned char>(c);
    json += code < 0x20 ? hexadecimal("\\u%04llx", code) : std::string(1, c);
  }
  return json + "\"";
}

// JSON has no infinity and no NaN: they become null.
inline std::string json_number(double x) { return std::isfinite(x) ? exact(x) : "null"; }

template <class Items, class Json>
std::string json_list(const Items& items, Json json) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(json(item));
  return "[" + joined(texts, ",") + "]";
}

inline std::string json_names(const std::vector<std::string>& names) {
  return json_list(names, json_text);
}

// A matrix as a list of rows.
inline std::string json_matrix(const Array& x) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < x.shape(0); ++i) {
    std::vector<Real> row;
    for (std::size_t j = 0; j < x.shape(1); ++j) row.push_back(x(i, j));
    rows.push_back(json_list(row, [](Real number) { return json_number(double(number)); }));
  }
  return "[" + joined(rows, ",") + "]";
}

// ---- notes

using Fields = std::vector<std::pair<std::string, std::string>>;  // names and JSON values

// Writes a note about what the call at this location prints next.
inline void note(const std::string& kind, SourceLocation location, const Fields& fields = {}) {
  if (!is_on()) return;
  std::cout << "\x1d{\"kind\":" << json_text(kind)
            << ",\"file\":" << json_text(std::filesystem::path(location.file).filename().string())
            << ",\"line\":" << location.line;
  for (const auto& [name, json] : fields) std::cout << ",\"" << name << "\":" << json;
  std::cout << "}\n";
}

// The note of heat maps: the matrices, one for each title, and the options.
inline void note_of_maps(SourceLocation location, const std::vector<Array>& maps,
                         const std::vector<std::string>& titles, const HeatmapOptions& options) {
  if (!is_on()) return;
  const Range range = heatmap_range(maps, options);
  note("maps", location,
       {{"rows", json_names(options.row_names)},
        {"columns", json_names(options.column_names)},
        {"row_title", json_text(options.row_title)},
        {"column_title", json_text(options.column_title)},
        {"title", json_text(options.title)},
        {"low", json_number(range.low)},
        {"high", json_number(range.high)},
        {"diverging", options.diverging ? "true" : "false"},
        {"titles", json_names(titles)},
        {"maps", json_list(maps, json_matrix)}});
}

// How many training steps a point of a drawn curve averages, so that it has at most 200 points.
inline std::size_t steps_per_point(const Series& curve) {
  return std::max<std::size_t>(1, (curve.x.size() + 199) / 200);
}

// The means of every steps_per_point() consecutive points. The last mean may be of fewer.
inline Series thinned(const Series& curve) {
  Series means{curve.name, {}, {}};
  for (std::size_t first = 0; first < curve.x.size(); first += steps_per_point(curve)) {
    const std::size_t end = std::min(first + steps_per_point(curve), curve.x.size());
    double x = 0, y = 0;
    for (std::size_t i = first; i < end; ++i) x += curve.x[i], y += curve.y[i];
    means.append(x / double(end - first), y / double(end - first));
  }
  return means;
}

// The note of loss curves: for each, its name, the number of training steps that each point
// averages, its steps and its losses.
inline void note_of_curves(SourceLocation location, const std::string& y_title,
                           const std::vector<Series>& curves) {
  if (!is_on()) return;
  const auto json_curve = [](const Series& curve) {
    const Series means = thinned(curve);
    return "{\"name\":" + json_text(curve.name) +
           ",\"points\":" + std::to_string(steps_per_point(curve)) +
           ",\"x\":" + json_list(means.x, json_number) +
           ",\"y\":" + json_list(means.y, json_number) + "}";
  };
  note("curves", location,
       {{"y_title", json_text(y_title)}, {"curves", json_list(curves, json_curve)}});
}

}  // namespace heed::book
