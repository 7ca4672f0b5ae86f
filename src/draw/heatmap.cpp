// heatmap.cpp: argument checks, colour scale and max pooling for heat maps as text and as images.

#include "heed/draw/heatmap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

void check_heatmaps(const std::vector<Array>& panels, const std::vector<std::string>& titles,
                    const HeatmapOptions& options) {
  if (panels.empty()) throw_error("heatmap: there is no matrix; give at least one");
  if (titles.size() != panels.size())
    throw_error("heatmap: ", titles.size(), " titles for ", panels.size(), " matrices");
  for (const std::optional<double>& limit : {options.low, options.high})
    if (limit && !std::isfinite(*limit))
      throw_error("heatmap: a limit of the scale is ", *limit, "; give finite numbers");
  if (options.low && options.high && *options.low > *options.high)
    throw_error("heatmap: low is ", *options.low, " and high is ", *options.high,
                "; give low <= high");
  const Shape first = shape_of(panels[0]);
  for (const Array& panel : panels) {
    const Shape shape = shape_of(panel);
    if (shape.size() != 2 || panel.size() == 0)
      throw_error("heatmap: needs a matrix with values, got x ", str(shape));
    if (!options.row_names.empty() && options.row_names.size() != shape[0])
      throw_error("heatmap: ", options.row_names.size(), " row names for x ", str(shape));
    if (!options.column_names.empty() && options.column_names.size() != shape[1])
      throw_error("heatmap: ", options.column_names.size(), " column names for x ", str(shape));
    if (shape != first)
      throw_error("heatmap: all matrices must have the same shape, got ", str(first), " and ",
                  str(shape));
  }
}

Range heatmap_range(const std::vector<Array>& panels, const HeatmapOptions& options) {
  Range range;
  for (const Array& panel : panels)
    for (const Real value : panel) range.include(static_cast<double>(value));
  if (range.empty()) range = {0, 1};
  if (options.diverging) {
    range.include(-range.low);
    range.include(-range.high);
  }
  range.low = options.low.value_or(range.low);
  range.high = options.high.value_or(range.high);
  if (range.low < range.high) return range;
  // Widens the range, by more if low + 1 rounds to low, and keeps a limit that was set.
  const double width = std::max(options.diverging ? 2.0 : 1.0, 1e-6 * std::abs(range.low));
  if (options.low.has_value() != options.high.has_value())
    return options.low ? Range{range.low, range.low + width}
                       : Range{range.high - width, range.high};
  return {range.low - width / 2, range.high + width / 2};
}

std::size_t sheet_columns(std::size_t columns, std::size_t panels) {
  if (columns == 0) columns = static_cast<std::size_t>(std::ceil(std::sqrt(double(panels))));
  return std::min(columns, panels);
}

Array max_pooled(const Array& x, std::size_t side) {
  if (x.dimension() != 2 || side == 0)
    throw_error("max_pooled: x must be a matrix and side at least 1, got ", str(shape_of(x)),
                " and ", side);
  const std::size_t rows = x.shape()[0], columns = x.shape()[1];
  const auto cells = [side](std::size_t n) { return n / side + (n % side != 0); };
  Array result = filled({cells(rows), cells(columns)}, -std::numeric_limits<Real>::infinity());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      Real& maximum = result(r / side, c / side);
      if (std::isnan(x(r, c)) || x(r, c) > maximum)
        maximum = std::isnan(maximum) ? maximum : x(r, c);
    }
  return result;
}

}  // namespace HEED_NAMESPACE
