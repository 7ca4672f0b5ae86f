// drawn.hpp: arrays as std::vector, which Catch2 can compare and print.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/array/array.hpp"
#include "near.hpp"

namespace heed::test {

using Values = std::vector<Real>;
using Numbers = std::vector<std::int64_t>;

inline Values values(const Array& x) { return Values(x.begin(), x.end()); }
inline Numbers numbers(const Indices& x) { return Numbers(x.begin(), x.end()); }

}  // namespace heed::test
