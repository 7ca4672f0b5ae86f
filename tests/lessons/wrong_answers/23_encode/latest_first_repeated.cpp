// Repeats: the latest merge that applies is applied.
#include <algorithm>

#include "exercise.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

Ids encode(const std::vector<Merge>& merges, Ids ids) {
  while (true) {
    auto latest = merges.rend();
    for (std::size_t i = 0; i + 1 < ids.size(); ++i)
      latest =
          std::min(latest, std::find(merges.rbegin(), merges.rend(), Merge(ids[i], ids[i + 1])));
    if (latest == merges.rend()) return ids;
    const std::int64_t id = 256 + (merges.rend() - latest) - 1;
    Ids merged;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool pair = i + 1 < ids.size() && Merge(ids[i], ids[i + 1]) == *latest;
      merged.push_back(pair ? id : ids[i]);
      if (pair) ++i;
    }
    ids = merged;
  }
}
