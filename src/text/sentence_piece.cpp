// sentence_piece.cpp: reads a vocabulary with scores, and encodes and decodes text with it.

#include "text/sentence_piece.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "text/check_encoding.hpp"
#include "text/vocabulary_files.hpp"

namespace HEED_NAMESPACE {

// Joins the characters of a text to pieces.
class PieceMerger {
 public:
  PieceMerger(const SentencePiece& pieces, std::string_view text) : pieces_(pieces), text_(text) {
    for (std::size_t i = 0; i < text.size(); i += parts_.back().size) {
      const std::size_t number = parts_.size();
      parts_.push_back({i, decode_utf8(text, i).size, number - 1, number + 1});
    }
    if (!parts_.empty()) parts_.back().next = none;
    for (std::size_t i = 0; i < parts_.size(); ++i) add_candidate(i);
  }

  // A candidate is out of date if one of its parts has been joined with another since.
  void merge() {
    while (!candidates_.empty()) {
      const Candidate best = candidates_.top();
      candidates_.pop();
      const Part& left = parts_[best.left];
      if (left.size == 0 || left.next == none || left.size + parts_[left.next].size != best.size)
        continue;
      join(best.left);
      if (best.left != 0) add_candidate(parts_[best.left].previous);
      add_candidate(best.left);
    }
  }

  template <class Visit>
  void each_part(const Visit& visit) const {
    for (std::size_t i = 0; i < parts_.size(); i = parts_[i].next)
      visit(text_.substr(parts_[i].begin, parts_[i].size));
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  struct Part {
    std::size_t begin, size;  // in bytes; the size is 0 after it was joined with the previous one
    std::size_t previous, next;  // the neighbours; a first part has no previous one
  };
  struct Candidate {
    float score;
    std::size_t left, size;  // the left part, and the size of both in bytes
    bool operator<(
        const Candidate& other) const {  // of equal scores, the first in the text is best
      return std::tuple(score, other.left) < std::tuple(other.score, left);
    }
  };

  void add_candidate(std::size_t left) {
    const Part& part = parts_[left];
    if (part.next == none) return;
    const std::size_t size = part.size + parts_[part.next].size;
    const auto found = pieces_.ids_.find(std::string(text_.substr(part.begin, size)));
    if (found != pieces_.ids_.end())
      candidates_.push({pieces_.pieces_[found->second].score, left, size});
  }

  void join(std::size_t left) {
    Part& part = parts_[left];
    Part& right = parts_[part.next];
    part.size += right.size;
    right.size = 0;
    part.next = right.next;
    if (part.next != none) parts_[part.next].previous = left;
  }

  const SentencePiece& pieces_;
  std::string_view text_;
  std::vector<Part> parts_;
  std::priority_queue<Candidate> candidates_;
};

namespace {

constexpr std::string_view written_space = "\u2581";

std::string with_spaces(std::string_view written) {
  std::string text;
  for (std::size_t at; (at = written.find(written_space)) != written.npos;) {
    (text += written.substr(0, at)) += ' ';
    written.remove_prefix(at + written_space.size());
  }
  return text += written;
}

// The byte of a piece <0xNN>, or -1.
int byte_of(std::string_view written) {
  unsigned value = 0;
  if (written.size() != 6 || written.substr(0, 3) != "<0x" || written[5] != '>') return -1;
  const auto [end, error] = std::from_chars(written.data() + 3, written.data() + 5, value, 16);
  return error == std::errc() && end == written.data() + 5 ? static_cast<int>(value) : -1;
}

bool is_special(std::string_view written) {
  return written == "<unk>" || written == "<s>" || written == "</s>";
}

// The score at the end of a line.
float score_of(std::string_view text, const std::string& place) {
  float score = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), score);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(score))
    throw_error(place, ": the score ", in_quotes(text), " is not a finite number");
  return score;
}

}  // namespace

SentencePiece SentencePiece::from_contents(std::string_view vocabulary, const std::string& name) {
  SentencePiece result;
  result.bytes_.fill(std::numeric_limits<std::size_t>::max());
  std::vector<std::string> written;
  while (!vocabulary.empty()) {
    const std::string_view line = take_line(vocabulary);
    const std::string place = name + ": line " + std::to_string(written.size() + 1);
    const std::size_t tab = line.rfind('\t');
    if (tab == line.npos || tab == 0 || !is_utf8(line))
      throw_error(place, ", ", in_quotes(line), ", must be a piece in UTF-8, a tab and a score");
    written.emplace_back(line.substr(0, tab));
    result.add_piece(written.back(), score_of(line.substr(tab + 1), place), place);
  }
  distinct_ids(written, name, "lines");
  result.check_complete(name);
  return result;
}

void SentencePiece::add_piece(std::string_view written, float score, const std::string& place) {
  const std::size_t id = pieces_.size();
  if (const int byte = byte_of(written); byte >= 0) {
    bytes_[static_cast<std::size_t>(byte)] = id;
    pieces_.push_back({std::string(1, static_cast<char>(byte)), score});
    return;
  }
  pieces_.push_back({with_spaces(written), score});
  if (is_special(written)) {
    special_.emplace_back(written, id);
    if (written == "<s>") begin_of_text_ = id;
  } else if (!ids_.emplace(pieces_.back().text, id).second) {
    throw_error(place, ": is the piece ", in_quotes(written), " again; pieces must be distinct");
  }
}

void SentencePiece::check_complete(const std::string& name) const {
  if (pieces_.empty() || pieces_[begin_of_text_].text != "<s>")
    throw_error(name, ": has no token <s>; give the tokenizer of a model of Llama");
  for (std::size_t byte = 0; byte < bytes_.size(); ++byte)
    if (bytes_[byte] >= size())
      throw_error(name, ": has no token ", hexadecimal("<0x%02llX>", byte),
                  "; give a tokenizer with all 256 bytes");
}

void SentencePiece::append_piece(std::string_view text, std::vector<std::size_t>& ids) const {
  const auto found = ids_.find(std::string(text));
  if (found != ids_.end())
    ids.push_back(found->second);
  else
    for (const char c : text) ids.push_back(bytes_[static_cast<unsigned char>(c)]);
}

std::size_t SentencePiece::find(unsigned char ascii) const {
  std::vector<std::size_t> ids;
  append_piece(std::string(1, static_cast<char>(ascii)), ids);
  return ids[0];
}

void SentencePiece::append_text(std::string_view text, std::vector<std::size_t>& ids) const {
  PieceMerger merger(*this, text);
  merger.merge();
  merger.each_part([&](std::string_view part) { append_piece(part, ids); });
}

std::vector<std::size_t> SentencePiece::encode(std::string_view text, SpecialTokens special) const {
  check_encoding(text);
  std::vector<std::size_t> ids;
  std::string prefix = " ";  // before the first part
  split_at_special(
      text, special == SpecialTokens::as_tokens ? special_ : TokensOfText(),
      [&](std::string_view part) { append_text(std::exchange(prefix, "") += part, ids); },
      [&](std::size_t id) { ids.push_back(id); });
  if (ids.empty() || ids[0] != begin_of_text()) ids.insert(ids.begin(), begin_of_text());
  return ids;
}

std::string SentencePiece::decode(const std::vector<std::size_t>& ids) const {
  std::string text;
  bool begins = false;  // whether the last token was <s>
  for (const std::size_t id : ids) {
    if (id >= size()) throw_error("id ", id, " is not in the vocabulary of ", size(), " tokens");
    const std::string& piece = pieces_[id].text;
    text += std::string_view(piece).substr(begins && piece[0] == ' ' ? 1 : 0);
    begins = id == begin_of_text();
  }
  return text;
}

}  // namespace HEED_NAMESPACE
