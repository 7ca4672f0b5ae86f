// Only the first occurrence of each pair is replaced.
#include <algorithm>

#include "exercise.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

Ids encode(const std::vector<Merge>& merges, Ids ids) {
  for (std::size_t m = 0; m < merges.size(); ++m) {
    Ids merged;
    bool done = false;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool pair = !done && i + 1 < ids.size() && Merge(ids[i], ids[i + 1]) == merges[m];
      merged.push_back(pair ? 256 + std::int64_t(m) : ids[i]);
      if (pair) ++i, done = true;
    }
    ids = merged;
  }
  return ids;
}
