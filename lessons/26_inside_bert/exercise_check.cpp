// Tests exercise 26 word_pieces with words and vocabularies that show each mistake, and with random
// words.

#include <set>

#include "exercise.hpp"
#include "heed/text/word_piece.hpp"

using namespace heed;

Names word_pieces(const std::set<std::string>& vocabulary, const std::string& word);

namespace {

using Vocabulary = std::set<std::string>;

// The pieces that WordPiece finds.
Names expected_pieces(const Vocabulary& vocabulary, const std::string& word) {
  std::string vocab_txt = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const std::string& piece : vocabulary) vocab_txt += piece + "\n";
  const WordPiece word_piece = WordPiece::from_contents(vocab_txt);
  Names pieces;
  for (const std::size_t id : word_piece.pieces_of(word)) pieces.push_back(word_piece.piece(id));
  return pieces;
}

std::string described(const Names& pieces) {
  return pieces.empty() ? "no piece" : printable(joined(pieces, " "));
}

// "" if the pieces are right.
std::string fault_of(const Vocabulary& vocabulary, const std::string& word) {
  const Names expected = expected_pieces(vocabulary, word), got = word_pieces(vocabulary, word);
  if (got == expected) return "";
  return "word " + in_quotes(word) + ", vocabulary " +
         described({vocabulary.begin(), vocabulary.end()}) + ": expected " + described(expected) +
         ", got " + described(got);
}

void judge(const std::string& what, const Vocabulary& vocabulary, const Names& words) {
  std::string fault;
  for (std::size_t i = 0; i < words.size() && fault.empty(); ++i)
    fault = fault_of(vocabulary, words[i]);
  expect(what, fault.empty(), fault);
}

// Random words of the letters a, b, c, and random vocabularies.
std::string random_fault() {
  Generator g(25);
  const auto letters = [&](std::int64_t count) {
    std::string word;
    for (const std::int64_t letter : g.randint(0, 3, {std::size_t(count)})) word += "abc"[letter];
    return word;
  };
  for (int round = 0; round < 500; ++round) {
    Vocabulary vocabulary;
    for (int i = 0; i < 12; ++i) {
      const std::string piece = letters(1 + g.randint(0, 3, {1})(0));
      vocabulary.insert((i % 2 == 0 ? "" : "##") + piece);
    }
    const std::string fault = fault_of(vocabulary, letters(round % 9));
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace

int main() {
  judge("a word that is in the vocabulary", {"door", "do", "##or"}, {"door", ""});
  judge("the rest of a word has ##", {"watch", "ing", "##ing", "##s"}, {"watching", "watchs"});
  judge("an entry without ## does not continue a word", {"door", "bell"}, {"doorbell"});
  judge("an entry with ## does not begin a word", {"##ing", "i"}, {"ing", "iing"});
  judge("the longest piece first, not the shortest",
        {"un", "u", "##n", "##aff", "##a", "##f", "##able", "##b", "##l", "##e"}, {"unaffable"});
  judge("from left to right: the first piece is the longest", {"a", "ab", "##bc", "##c"},
        {"abc", "abcc"});
  judge("no step back: abc d does not become ab cd", {"ab", "abc", "##cd"}, {"abcd"});
  judge("a part that does not fit makes the whole word [UNK]", {"watch", "##ing"},
        {"watchx", "watchingx", "xwatch"});
  judge("the same piece several times", {"a", "##a"}, {"aaaa"});
  judge("a piece of several bytes", {"\xc3\xa9", "##t", "##\xc3\xa9"}, {"\xc3\xa9t\xc3\xa9"});
  const std::string fault = random_fault();
  expect("500 random words and vocabularies", fault.empty(), fault);
  return verdict();
}
