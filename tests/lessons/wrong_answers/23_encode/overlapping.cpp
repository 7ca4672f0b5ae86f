// Overlapping pairs are both replaced: a a a becomes aa aa.
#include <algorithm>

#include "exercise.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

Ids encode(const std::vector<Merge>& merges, Ids ids) {
  for (std::size_t m = 0; m < merges.size(); ++m) {
    Ids merged;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool pair = i + 1 < ids.size() && Merge(ids[i], ids[i + 1]) == merges[m];
      merged.push_back(pair ? 256 + std::int64_t(m) : ids[i]);
      if (pair && (ids[i] != ids[i + 1] || i + 2 >= ids.size() || ids[i + 2] != ids[i])) ++i;
    }
    ids = merged;
  }
  return ids;
}
