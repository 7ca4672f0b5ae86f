// chart.hpp: curves as an SVG element of an HTML page, in the colours of report.css.
#pragma once

#include <string>
#include <vector>

#include "heed/draw/curve.hpp"

namespace HEED_NAMESPACE {

// The curves, and below them a legend, as HTML for report_page(). The chart is 900 units wide; its
// height is 4.5 times that of options.height in lines of text. Curves of many points are averaged.
// A point that is marked shows its values when the mouse is over it. Throws the errors of
// view_of(); without a finite value, returns a paragraph that says so.
std::string chart_html(const std::vector<Series>& series, const CurveOptions& options);

}  // namespace HEED_NAMESPACE
