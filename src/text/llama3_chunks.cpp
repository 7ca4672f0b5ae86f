// llama3_chunks.cpp: the pre-tokenizers of Llama 3, Qwen2 and SmolLM2, written out as matchers.

#include "base/unicode.hpp"
#include "text/byte_level_chunks.hpp"

namespace HEED_NAMESPACE {
namespace {

bool is_line_break(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == '\r' || text[at] == '\n');
}

// The size of 's, 't, 're, 've, 'm, 'll or 'd at `begin` in any case, or 0. U+017F is an s, too.
std::size_t contraction_of_any_case(std::string_view text, std::size_t begin) {
  if (text[begin] != '\'') return 0;
  const auto lower = [&](std::size_t at) {
    const char c = at < text.size() ? text[at] : '\0';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  };
  const char first = lower(begin + 1), second = lower(begin + 2);
  if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
      (first == 'l' && second == 'l'))
    return 3;
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  return text.substr(begin + 1, 2) == "\u017f" ? 3 : 0;
}

// The end of at most `most` characters of a kind.
std::size_t end_of_run(std::string_view text, std::size_t begin, CharacterKind kind,
                       std::size_t most = std::string_view::npos) {
  for (; begin < text.size() && most > 0; --most) {
    const KindOfCharacter next = kind_of_character(text, begin);
    if (next.kind != kind) break;
    begin += next.size;
  }
  return begin;
}

// `[^\r\n\p{L}\p{N}]?\p{L}+`: letters, and one character before them; or `begin`.
std::size_t end_of_word(std::string_view text, std::size_t begin, KindOfCharacter first) {
  if (first.kind == CharacterKind::number || is_line_break(text, begin)) return begin;
  const std::size_t letters = first.kind == CharacterKind::letter ? begin : begin + first.size;
  const std::size_t end = end_of_run(text, letters, CharacterKind::letter);
  return end == letters ? begin : end;
}

// ` ?[^\s\p{L}\p{N}]+[\r\n]*`, or `begin`.
std::size_t end_of_symbols(std::string_view text, std::size_t begin) {
  const std::size_t symbols = begin + (text[begin] == ' ' ? 1 : 0);
  std::size_t end = end_of_run(text, symbols, CharacterKind::other);
  if (end == symbols) return begin;
  while (is_line_break(text, end)) ++end;
  return end;
}

// `\s*[\r\n]+|\s+(?!\S)|\s+`: white space up to its last line break; or without its last character
// if something follows.
std::size_t end_of_white_space(std::string_view text, std::size_t begin) {
  const std::size_t end = end_of_run(text, begin, CharacterKind::white_space);
  for (std::size_t at = end; at > begin; --at)
    if (is_line_break(text, at - 1)) return at;
  std::size_t last = begin;
  for (std::size_t at = begin; at < end; at += kind_of_character(text, at).size) last = at;
  return end == text.size() || last == begin ? end : last;
}

// The alternatives of the expression in its order. begin < text.size().
template <std::size_t most_digits>
std::size_t end_of_llama3_match(std::string_view text, std::size_t begin) {
  if (const std::size_t size = contraction_of_any_case(text, begin)) return begin + size;
  const KindOfCharacter first = kind_of_character(text, begin);
  if (const std::size_t end = end_of_word(text, begin, first); end != begin) return end;
  if (first.kind == CharacterKind::number) return end_of_run(text, begin, first.kind, most_digits);
  if (const std::size_t end = end_of_symbols(text, begin); end != begin) return end;
  return end_of_white_space(text, begin);
}

}  // namespace

std::vector<std::string_view> llama3_chunks(std::string_view text) {
  return split_chunks(text, end_of_llama3_match<3>);
}

std::vector<std::string_view> qwen2_chunks(std::string_view text) {
  return split_chunks(text, end_of_llama3_match<1>);
}

std::vector<std::string_view> digit_chunks(std::string_view text) {
  std::vector<std::string_view> chunks;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && kind_of_character(text, end).kind != CharacterKind::number)
      end += kind_of_character(text, end).size;
    for (const std::string_view chunk : gpt2_chunks(text.substr(begin, end - begin)))
      chunks.push_back(chunk);
    if (end < text.size()) {
      const std::size_t size = kind_of_character(text, end).size;
      chunks.push_back(text.substr(end, size));
      end += size;
    }
    begin = end;
  }
  return chunks;
}

}  // namespace HEED_NAMESPACE
