// Takes an entry with or without ## inside the word.
#include <algorithm>
#include <set>

#include "exercise.hpp"

using namespace heed;

Names word_pieces(const std::set<std::string>& vocabulary, const std::string& word) {
  Names pieces;
  for (std::size_t begin = 0; begin < word.size();) {
    const std::string start = begin > 0 ? "##" : "";
    std::size_t end = word.size();
    const auto known = [&] {
      const std::string letters = word.substr(begin, end - begin);
      return vocabulary.count(start + letters) + vocabulary.count(letters) > 0;
    };
    while (end > begin && !known()) --end;
    if (end == begin) return {"[UNK]"};
    pieces.push_back(start + word.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}
