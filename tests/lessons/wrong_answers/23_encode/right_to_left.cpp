// A pair is replaced from right to left: a a a becomes a aa.
#include <algorithm>

#include "exercise.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

Ids encode(const std::vector<Merge>& merges, Ids ids) {
  for (std::size_t m = 0; m < merges.size(); ++m)
    for (std::size_t i = ids.size(); i-- > 1;)
      if (i < ids.size() && Merge(ids[i - 1], ids[i]) == merges[m]) {
        ids[i - 1] = 256 + std::int64_t(m);
        ids.erase(ids.begin() + std::ptrdiff_t(i));
      }
  return ids;
}
