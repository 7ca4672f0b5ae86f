// 26 word_pieces: split a word into the pieces of BERT's vocabulary.
//
// WordPiece (Wu et al. 2016, section 4.1, as BERT uses it) reads a word from left to right. The
// first piece is the longest entry of the vocabulary that the word begins with. Each later piece is
// the longest entry of the form "##..." whose letters the rest of the word begins with, until the
// word is used up. If at some point no entry fits, the result is the single piece "[UNK]", without
// the pieces found before. The empty word has no pieces. Words contain no #, because BERT splits a
// text at each #, as at all punctuation.
//
// An entry with ## continues a word and never begins one; an entry without ## never continues one.
//
// As handed out, word_pieces takes the longest entry without ## at every point.

#include <set>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
Names word_pieces(const std::set<std::string>& vocabulary, const std::string& word) {
  Names pieces;
  for (std::size_t begin = 0; begin < word.size();) {
    const std::string start = begin > 0 ? "##" : "";
    std::size_t end = word.size();
    while (end > begin && vocabulary.count(start + word.substr(begin, end - begin)) == 0) --end;
    if (end == begin) return {"[UNK]"};
    pieces.push_back(start + word.substr(begin, end - begin));
    begin = end;
  }
  return pieces;
}
// Your part ends here.
