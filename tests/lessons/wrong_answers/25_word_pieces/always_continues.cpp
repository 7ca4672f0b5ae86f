// Looks for ## at the start of the word too.
#include <algorithm>
#include <set>

#include "exercise.hpp"

using namespace heed;

Names word_pieces(const std::set<std::string>& vocabulary, const std::string& word) {
  Names pieces;
  for (std::size_t begin = 0; begin < word.size();) {
    const std::string start = "##";
    std::size_t end = word.size();
    while (end > begin && vocabulary.count(start + word.substr(begin, end - begin)) == 0) --end;
    if (end == begin) return {"[UNK]"};
    pieces.push_back(start + word.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}
