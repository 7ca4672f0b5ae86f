// Takes the longest token of the vocabulary at each position (greedy longest match).
#include <algorithm>

#include "exercise.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

Ids encode(const std::vector<Merge>& merges, Ids ids) {
  std::vector<Ids> tokens;
  for (std::int64_t byte = 0; byte < 256; ++byte) tokens.push_back({byte});
  for (const auto& [left, right] : merges) {
    Ids token = tokens[std::size_t(left)];
    const Ids& end = tokens[std::size_t(right)];
    token.insert(token.end(), end.begin(), end.end());
    tokens.push_back(token);
  }
  Ids result;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t best = std::size_t(ids[i]);
    for (std::size_t id = 256; id < tokens.size(); ++id)
      if (tokens[id].size() > tokens[best].size() && i + tokens[id].size() <= ids.size() &&
          std::equal(tokens[id].begin(), tokens[id].end(), ids.begin() + std::ptrdiff_t(i)))
        best = id;
    result.push_back(std::int64_t(best));
    i += tokens[best].size();
  }
  return result;
}
