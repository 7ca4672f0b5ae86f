// record.hpp: prints what a call in a lesson shows, as text for a terminal or as a record for
// `heed book`.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "heed/base/source_location.hpp"
#include "heed/draw/heatmap.hpp"
#include "heed/draw/plot_program.hpp"
#include "heed/draw/series.hpp"

namespace heed {

// Prints the text; after prose of lesson.md, behind an empty line. If the environment variable
// HEED_BOOK is set, as `heed book` does, prints one line instead: the character 0x1D and a JSON
// object with the kind of the record, the file name and the line of the call, and these fields:
//   plain       what the lesson prints without HEED_BOOK
//   text        prose of the kinds "text", "prose" (of lesson.md) and "check"
//   markdown    the same prose as it stands in lesson.md, with the values in it
//   printed     lines that are shown as they are: a heat map or a scatter plot
//   picture     the path of a picture, or why there is none
//   figure      the numbers of attention maps, loss curves or sliders, which the page draws
//   hides_call  whether the page does not show the code of the call, because it shows the text
// and others of one kind only: see lesson.cpp.
void emit(const std::string& kind, SourceLocation location, const std::string& text,
          Json::Object fields);

// Prints "same: what". If the last call was emit_same() too, continues its line: "same: a; b".
void emit_same(const std::string& what, SourceLocation location, Json::Object fields);

// Ends the line of emit_same(). What is printed later by std::cout ends it, too.
void end_line();

// Prints the name of a picture, below printed lines if there are any.
void emit_picture(const std::string& kind, SourceLocation location, const std::string& printed,
                  const Plot& plot, Json::Object fields = {});

// Like emit_picture(), for heat maps. On the page, a map of queries and keys is interactive.
void emit_maps(SourceLocation location, const std::vector<Array>& maps,
               const std::vector<std::string>& titles, const HeatmapOptions& options,
               const std::string& printed, const Plot& plot);

Json matrix_json(const Array& x);  // a matrix as a list of rows

// The figure of loss curves: for each, its name, its steps and losses in at most 200 points, and
// the number of training steps that a point averages.
Json::Object curves_figure(const std::string& y_title, const std::vector<Series>& curves);

}  // namespace heed
