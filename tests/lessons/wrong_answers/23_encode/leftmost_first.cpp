// The leftmost pair that has a merge is merged first.
#include <algorithm>

#include "exercise.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

Ids encode(const std::vector<Merge>& merges, Ids ids) {
  for (std::size_t i = 0; i + 1 < ids.size();) {
    const auto found = std::find(merges.begin(), merges.end(), Merge(ids[i], ids[i + 1]));
    if (found == merges.end()) {
      ++i;
      continue;
    }
    ids[i] = 256 + (found - merges.begin());
    ids.erase(ids.begin() + std::ptrdiff_t(i) + 1);
    i = 0;
  }
  return ids;
}
