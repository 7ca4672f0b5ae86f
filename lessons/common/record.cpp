// record.cpp: prints what a call in a lesson shows, as text or as a record for `heed book`.

#include "record.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <streambuf>
#include <utility>

#include "heed/base/text.hpp"

namespace heed {

namespace {

std::size_t open_width = 0;  // width of the last line of emit_same(), which may be continued; or 0
bool after_prose = false;    // whether the last record was prose of lesson.md

std::string line_end() { return std::exchange(open_width, 0) > 0 ? "\n" : ""; }

// A buffer in front of that of std::cout, which ends an open line before anything is printed.
class LineEnding : public std::streambuf {
 public:
  explicit LineEnding(std::streambuf* next) : next_(next) {}

 private:
  int_type overflow(int_type c) override {
    if (!line_end().empty()) next_->sputc('\n');
    return next_->sputc(traits_type::to_char_type(c));
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (!line_end().empty()) next_->sputc('\n');
    return next_->sputn(text, size);
  }
  int sync() override { return next_->pubsync(); }

  std::streambuf* next_;
};

// Ends an open line before anything else is printed, and when the program ends.
void watch_line() {
  static struct AtExit {
    ~AtExit() { end_line(); }
  } at_exit;
  // Not deleted, because std::cout is flushed after the last destructor.
  static const bool watched = std::cout.rdbuf(new LineEnding(std::cout.rdbuf())) != nullptr;
  static_cast<void>(watched);
}

void print_record(const std::string& kind, SourceLocation location, const std::string& text,
                  Json::Object fields) {
  after_prose = kind == "prose";
  static const bool for_book = std::getenv("HEED_BOOK") != nullptr;
  if (!for_book) {
    std::cout << text << std::flush;
    return;
  }
  fields["plain"] = text;
  fields["kind"] = kind;
  fields["file"] = std::filesystem::path(location.file).filename().string();
  fields["line"] = location.line;
  std::cout << '\x1d' << Json(std::move(fields)).dump() << std::endl;
}

}  // namespace

void emit(const std::string& kind, SourceLocation location, const std::string& text,
          Json::Object fields) {
  const bool needs_gap = after_prose && !text.empty() && text[0] != '\n';
  print_record(kind, location, line_end() + (needs_gap ? "\n" : "") + text, std::move(fields));
}

void emit_same(const std::string& what, SourceLocation location, Json::Object fields) {
  constexpr std::size_t max_width = 80;
  const std::string start = "  same: ", gap = after_prose ? "\n" : "";
  const std::size_t width = open_width + display_width("; " + what);
  const bool begins = open_width == 0, fits = width < max_width;
  open_width = 0;
  watch_line();
  print_record("check", location,
               (begins ? gap + start
                : fits ? "; "
                       : ";\n" + std::string(start.size(), ' ')) +
                   what,
               std::move(fields));
  open_width = !begins && fits ? width : start.size() + display_width(what);
}

void end_line() { std::cout << line_end() << std::flush; }

void emit_picture(const std::string& kind, SourceLocation location, const std::string& printed,
                  const Plot& plot, Json::Object fields) {
  if (!printed.empty()) fields["printed"] = printed;
  fields["picture"] = plot.message;
  emit(kind, location,
       (printed.empty() ? "" : "\n" + printed) + "\npicture: " + plot.message + "\n",
       std::move(fields));
}

Json matrix_json(const Array& x) {
  Json::List rows(x.shape(0), Json::List());
  for (std::size_t i = 0; i < x.shape(0); ++i)
    for (std::size_t j = 0; j < x.shape(1); ++j) rows[i].push_back(x(i, j));
  return rows;
}

// The matrices, one for each title, and the options.
static Json::Object maps_figure(const std::vector<Array>& maps,
                                const std::vector<std::string>& titles,
                                const HeatmapOptions& options) {
  const Range range = heatmap_range(maps, options);
  Json::List matrices;
  for (const Array& map : maps) matrices.push_back(matrix_json(map));
  return {{"rows", options.row_names},
          {"columns", options.column_names},
          {"row_title", options.row_title},
          {"column_title", options.column_title},
          {"title", options.title},
          {"low", range.low},
          {"high", range.high},
          {"diverging", options.diverging},
          {"titles", titles},
          {"maps", matrices}};
}

void emit_maps(SourceLocation location, const std::vector<Array>& maps,
               const std::vector<std::string>& titles, const HeatmapOptions& options,
               const std::string& printed, const Plot& plot) {
  const bool is_attention =
      options.row_title.rfind("query", 0) == 0 && options.column_title.rfind("key", 0) == 0;
  if (is_attention)
    emit_picture("attention", location, printed, plot,
                 {{"figure", maps_figure(maps, titles, options)}});
  else
    emit_picture("picture", location, printed, plot);
}

// The means of every `count` consecutive points. The last mean may be of fewer.
static Series thinned(const Series& curve, std::size_t count) {
  Series means{curve.name, {}, {}};
  for (std::size_t first = 0; first < curve.x.size(); first += count) {
    const std::size_t end = std::min(first + count, curve.x.size());
    double x = 0, y = 0;
    for (std::size_t i = first; i < end; ++i) x += curve.x[i], y += curve.y[i];
    means.append(x / double(end - first), y / double(end - first));
  }
  return means;
}

Json::Object curves_figure(const std::string& y_title, const std::vector<Series>& curves) {
  constexpr std::size_t max_points = 200;
  Json::List list;
  for (const Series& curve : curves) {
    const std::size_t count =
        std::max<std::size_t>(1, (curve.x.size() + max_points - 1) / max_points);
    const Series means = thinned(curve, count);
    list.push_back(
        Json::Object{{"name", curve.name}, {"points", count}, {"x", means.x}, {"y", means.y}});
  }
  return {{"y_title", y_title}, {"curves", list}};
}

}  // namespace heed
