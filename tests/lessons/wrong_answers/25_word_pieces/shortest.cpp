// Takes the shortest piece, not the longest.
#include <algorithm>
#include <set>

#include "exercise.hpp"

using namespace heed;

Names word_pieces(const std::set<std::string>& vocabulary, const std::string& word) {
  Names pieces;
  for (std::size_t begin = 0; begin < word.size();) {
    const std::string start = begin > 0 ? "##" : "";
    std::size_t end = begin + 1;
    while (end <= word.size() && vocabulary.count(start + word.substr(begin, end - begin)) == 0)
      ++end;
    if (end > word.size()) return {"[UNK]"};
    pieces.push_back(start + word.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}
