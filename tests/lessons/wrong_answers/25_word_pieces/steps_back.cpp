// Tries a shorter piece if the rest does not fit.
#include <algorithm>
#include <set>

#include "exercise.hpp"

using namespace heed;

Names word_pieces(const std::set<std::string>& vocabulary, const std::string& word) {
  std::vector<Names> best(word.size() + 1);
  std::vector<bool> found(word.size() + 1);
  found[word.size()] = true;
  for (std::size_t begin = word.size(); begin-- > 0;)
    for (std::size_t end = word.size(); end > begin && !found[begin]; --end) {
      const std::string piece = (begin > 0 ? "##" : "") + word.substr(begin, end - begin);
      if (!found[end] || vocabulary.count(piece) == 0) continue;
      found[begin] = true;
      best[begin] = best[end];
      best[begin].insert(best[begin].begin(), piece);
    }
  return found[0] ? best[0] : Names{"[UNK]"};
}
