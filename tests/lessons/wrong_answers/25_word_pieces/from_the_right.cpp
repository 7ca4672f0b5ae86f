// Takes the longest piece at the end of the word first.
#include <algorithm>
#include <set>

#include "exercise.hpp"

using namespace heed;

Names word_pieces(const std::set<std::string>& vocabulary, const std::string& word) {
  Names pieces;
  for (std::size_t end = word.size(); end > 0;) {
    std::size_t begin = 0;
    const auto piece = [&] { return (begin > 0 ? "##" : "") + word.substr(begin, end - begin); };
    while (begin < end && vocabulary.count(piece()) == 0) ++begin;
    if (begin == end) return {"[UNK]"};
    pieces.insert(pieces.begin(), piece());
    end = begin;
  }
  return pieces;
}
