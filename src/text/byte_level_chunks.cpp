// byte_level_chunks.cpp: GPT-2's pre-tokenizer, a regular expression written out as a matcher.

#include "text/byte_level_chunks.hpp"

#include "base/unicode.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {
namespace {

CharacterKind kind_of(char32_t c) {
  if (c < 0x80) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) return CharacterKind::white_space;
    if (c >= '0' && c <= '9') return CharacterKind::number;
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ? CharacterKind::letter : CharacterKind::other;
  }
  if (is_letter(c)) return CharacterKind::letter;
  if (is_number(c)) return CharacterKind::number;
  return is_white_space(c) ? CharacterKind::white_space : CharacterKind::other;
}

}  // namespace

KindOfCharacter kind_of_character(std::string_view text, std::size_t at) {
  const auto [c, size] = decode_utf8(text, at);
  if (size == 0)
    throw_error("encode: the text is not UTF-8 at byte ", at, " (",
                hexadecimal("0x%02llx", static_cast<unsigned char>(text[at])),
                "); convert it with iconv -t UTF-8");
  return {kind_of(c), size};
}

namespace {

// The size of 's, 't, 're, 've, 'm, 'll or 'd at `begin`, or 0. Capital letters do not count.
std::size_t contraction(std::string_view text, std::size_t begin) {
  if (text[begin] != '\'') return 0;
  for (const std::string_view end : {"s", "t", "re", "ve", "m", "ll", "d"})
    if (text.substr(begin + 1, end.size()) == end) return 1 + end.size();
  return 0;
}

struct Run {
  std::size_t end;   // the end of the run, in bytes
  std::size_t last;  // where the run's last character begins
};

// The run of characters of one kind that begins at `begin`.
Run run_of(std::string_view text, std::size_t begin, CharacterKind kind) {
  Run run{begin, begin};
  while (run.end < text.size()) {
    const KindOfCharacter next = kind_of_character(text, run.end);
    if (next.kind != kind) break;
    run.last = run.end;
    run.end += next.size;
  }
  return run;
}

// The alternatives of the expression in its order. begin < text.size().
std::size_t end_of_match(std::string_view text, std::size_t begin) {
  if (const std::size_t size = contraction(text, begin)) return begin + size;
  // ` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+`: a run that is not white space, and a space before it.
  const std::size_t first = begin + (text[begin] == ' ' ? 1 : 0);
  if (first < text.size()) {
    const CharacterKind kind = kind_of_character(text, first).kind;
    if (kind != CharacterKind::white_space) return run_of(text, first, kind).end;
  }
  // `\s+(?!\S)|\s+`: white space, without its last character if something follows: that can be the
  // space before a word. A single character of white space is a chunk in any case.
  const Run run = run_of(text, begin, CharacterKind::white_space);
  return run.end == text.size() || run.last == begin ? run.end : run.last;
}

}  // namespace

std::vector<std::string_view> gpt2_chunks(std::string_view text) {
  return split_chunks(text, end_of_match);
}

}  // namespace HEED_NAMESPACE
