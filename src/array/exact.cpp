// exact.cpp: checked conversions of numbers to indices and masks.

#include "heed/array/exact.hpp"

#include <cmath>
#include <optional>
#include <string_view>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// Sets the call site of a conversion, unless std::optional makes it, as in options.mask = array:
// then the location is a line of the standard library.
static void set_call_site(std::optional<CallSite>& site, SourceLocation location) {
  if (std::string_view(location.file).find("/c++/") == std::string_view::npos)
    site.emplace(location);
}

void convert_exactly(const xt::xarray<double>& x, Indices& to, SourceLocation location) {
  std::optional<CallSite> site;
  set_call_site(site, location);
  for (const double value : x)
    if (!(std::abs(value) < 0x1p63) || value != std::floor(value))
      throw_error("indices: ", value, " is not a whole number; give whole numbers, or round the ",
                  "array with xt::floor or xt::rint");
  to = x;
}

void convert_exactly(const xt::xarray<double>& x, Mask& to, SourceLocation location) {
  std::optional<CallSite> site;
  set_call_site(site, location);
  for (const double value : x)
    if (value != 0 && value != 1)
      throw_error(
          "mask: ", value, " is neither 0 nor 1. In attention, a mask is 1 (true) where the ",
          "query may attend to the key; give scores to add, such as 0 and -infinity, as ",
          "AttentionOptions::bias. In masked_fill, a mask is 1 where the value is filled in");
  to = x;
}

}  // namespace HEED_NAMESPACE
