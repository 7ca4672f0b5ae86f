// The pair that is most frequent in this word is merged first, as in training.
#include <algorithm>

#include "exercise.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

Ids encode(const std::vector<Merge>& merges, Ids ids) {
  while (true) {
    std::ptrdiff_t best = 0, best_id = -1;
    for (std::size_t m = 0; m < merges.size(); ++m) {
      std::ptrdiff_t count = 0;
      for (std::size_t i = 0; i + 1 < ids.size(); ++i)
        count += Merge(ids[i], ids[i + 1]) == merges[m];
      if (count > best) best = count, best_id = std::ptrdiff_t(m);
    }
    if (best_id < 0) return ids;
    Ids merged;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool pair =
          i + 1 < ids.size() && Merge(ids[i], ids[i + 1]) == merges[std::size_t(best_id)];
      merged.push_back(pair ? 256 + best_id : ids[i]);
      if (pair) ++i;
    }
    ids = merged;
  }
}
