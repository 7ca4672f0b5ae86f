// scatter.hpp: named points in the plane as a picture, such as the queries and keys of a head.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/gnuplot.hpp"
#include "heed/report/series.hpp"

namespace heed {

struct ScatterOptions {
  std::string title = {};
  std::vector<std::string> labels = {};  // one for each point, or none
  std::vector<std::size_t> groups = {};  // one for each point: a number of group_names; or none
  std::vector<std::string> group_names = {};  // up to four, each with a colour and shape of its own
  std::size_t width = 78;                     // of the text form, in characters
  std::size_t height = 26;                    // of the text form, in lines
};

// Both forms show points (n, 2) on one scale: an inch across is as much as an inch up. A label
// stands beside its point, on the side where it covers least; where even that is too much (of the
// picture's labels more than 15 %, of the text's anything) it is left out, and their number told.
// Both throw Error when points are not (n, 2) with finite values, or labels and groups do not fit
// them; the text form also when it is smaller than 40 x 10 characters.

// A sign for each point, by group as in the picture ("●", "▲", "■", "◆"; "@" where groups meet).
std::string scatter_text(const Array& points, const ScatterOptions& options = {});

// Draws folder/name.svg (900 x 720), and leaves beside it its data (name.csv) and the script
// (name.gp) that draws it again. Files that cannot be written or a missing gnuplot are told in the
// result.
Plot draw_scatter(const std::string& folder, const std::string& name, const Array& points,
                  const ScatterOptions& options = {});

// What both begin with: the refusals, and what is shown in a room of some width and height, the
// points in its middle.
void check_scatter(const Array& points, const ScatterOptions& options);
View scatter_view(const Array& points, double width, double height);

}  // namespace heed
