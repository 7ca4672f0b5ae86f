// Returns the pieces found before, without [UNK].
#include <algorithm>
#include <set>

#include "exercise.hpp"

using namespace heed;

Names word_pieces(const std::set<std::string>& vocabulary, const std::string& word) {
  Names pieces;
  for (std::size_t begin = 0; begin < word.size();) {
    const std::string start = begin > 0 ? "##" : "";
    std::size_t end = word.size();
    while (end > begin && vocabulary.count(start + word.substr(begin, end - begin)) == 0) --end;
    if (end == begin) return pieces.empty() ? Names{"[UNK]"} : pieces;
    pieces.push_back(start + word.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}
