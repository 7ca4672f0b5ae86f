// 24 encode: apply the merges of byte-pair encoding to the bytes of a word.
//
// merges[m] is a pair of token ids, left and right. It makes the token 256 + m. The merges are in
// the order in which they were learned. `ids` are the bytes of a word, 0 to 255.
//
// Encoding repeats training (Sennrich et al. 2016, section 3.2). Of all merges whose pair occurs in
// the word, apply the earliest, the one with the smallest m: replace its pair wherever it occurs,
// from left to right. A token that was just made or replaced is not used again for this merge, so
// "a a a" becomes "aa a". Then look again, with the new tokens, until no pair has a merge. Return
// the ids.
//
// As handed out, encode applies a merge to the leftmost pair that has one.

#include <algorithm>

#include "exercise.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

// Your part begins here.
Ids encode(const std::vector<Merge>& merges, Ids ids) {
  for (std::size_t m = 0; m < merges.size(); ++m) {
    Ids merged;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool pair = i + 1 < ids.size() && Merge(ids[i], ids[i + 1]) == merges[m];
      merged.push_back(pair ? 256 + std::int64_t(m) : ids[i]);
      if (pair) ++i;  // both tokens are used
    }
    ids = merged;
  }
  return ids;
}
// Your part ends here.
