// byte_level_chunks.hpp: splits a text into the chunks in which byte-level tokens are merged.
#pragma once

#include <string_view>
#include <vector>

#include "heed/array/precision.hpp"
#include "text/merges.hpp"

namespace HEED_NAMESPACE {

// The kinds of characters that the regular expressions distinguish: \s, \p{L}, \p{N} and others.
enum class CharacterKind { white_space, letter, number, other };
struct KindOfCharacter {
  CharacterKind kind;
  std::size_t size;  // size in bytes
};
// The kind of the character at byte `at`. Throws Error if the text is not UTF-8 there.
KindOfCharacter kind_of_character(std::string_view text, std::size_t at);

// The chunks of GPT-2's regular expression:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::vector<std::string_view> gpt2_chunks(std::string_view text);
// Each character of the kind number, and between them the chunks of GPT-2's expression.
std::vector<std::string_view> digit_chunks(std::string_view text);
// The chunks of Llama 3's regular expression:
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//    ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
std::vector<std::string_view> llama3_chunks(std::string_view text);
// The same with \p{N} for \p{N}{1,3}, as Qwen2's regular expression.
std::vector<std::string_view> qwen2_chunks(std::string_view text);

}  // namespace HEED_NAMESPACE
