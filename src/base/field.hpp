// field.hpp: Field, which describes an option: its name, its limits and its help text.
#pragma once

#include <limits>
#include <string>
#include <type_traits>

#include "heed/base/text.hpp"

namespace heed {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double max_size = 1e9;  // upper limit of sizes; no machine has memory for more

// The interval that the values of an option must lie in.
struct Bounds {
  double low, high;
  bool open_low = false, open_high = false;  // whether the interval excludes `low` (`high`)
  bool contains(double v) const {
    return (open_low ? v > low : v >= low) && (open_high ? v < high : v <= high);
  }
};
constexpr Bounds any_size{1, max_size}, any_steps{1, 1e12}, any_rate{0, 1, false, true};
constexpr Bounds not_negative{0, infinite}, seeds{0, 4294967295.0};

struct Field {
  const char* name;  // "min_lr": the flag is --min-lr, the entry of a checkpoint train.min_lr
  Bounds bounds;
  const char* help;
};
// The value as text, with enough digits to read it back exactly.
template <class Value>
std::string field_text(Value value) {
  if constexpr (std::is_floating_point_v<Value>)
    return exact(value);
  else
    return std::to_string(value);
}

}  // namespace heed
