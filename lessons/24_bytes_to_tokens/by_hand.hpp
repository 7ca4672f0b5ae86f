// by_hand.hpp: byte-pair encoding with loops for lesson 24: chunks, training, encode, decode.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>

#include "heed/text/byte_pairs.hpp"
#include "lesson.hpp"

namespace heed {

using Ids = std::vector<std::int64_t>;
using Merge = BytePairs::Merge;  // the ids of the two tokens

// Splits a text into chunks: between characters of different kinds, but a space stays with the
// characters behind it. (BytePairs also cuts chunks longer than 256 bytes.)
inline Names chunks_by_hand(const std::string& text) {
  enum Kind { white_space, digit, letter, other };
  const auto kind = [&text](std::size_t i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (std::isspace(c)) return white_space;
    if (std::isdigit(c)) return digit;
    return c >= 128 || std::isalpha(c) ? letter : other;
  };
  Names chunks;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool last_space =
        text[i] == ' ' && i + 1 < text.size() && kind(i + 1) != white_space;  // of its run
    const bool begins = i == 0 || last_space || (kind(i) != kind(i - 1) && text[i - 1] != ' ');
    if (begins) chunks.emplace_back();
    chunks.back() += text[i];
  }
  return chunks;
}

// A chunk as token ids, and how often it occurs in the text.
struct Word {
  Ids ids;
  std::int64_t count = 0;
};

inline Ids bytes_of(const std::string& text) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

// The distinct chunks of a text: a chunk that occurs 100 times is merged only once.
inline std::vector<Word> distinct_words(const std::string& text) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& chunk : chunks_by_hand(text)) ++counts[chunk];
  std::vector<Word> words;
  for (const auto& [chunk, count] : counts) words.push_back({bytes_of(chunk), count});
  return words;
}

// How often each pair of neighbouring tokens occurs. A map is sorted: smaller ids come first.
inline std::map<Merge, std::int64_t> pair_counts(const std::vector<Word>& words) {
  std::map<Merge, std::int64_t> counts;
  for (const Word& word : words)
    for (std::size_t i = 1; i < word.ids.size(); ++i)
      counts[{word.ids[i - 1], word.ids[i]}] += word.count;
  return counts;
}

// Replaces the pair by the new token, from left to right.
inline Ids merged(const Ids& ids, const Merge& pair, std::int64_t new_id) {
  Ids result;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool found = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
    result.push_back(found ? new_id : ids[i]);
    if (found) ++i;  // both tokens are used
  }
  return result;
}

// The most frequent pair, and its count; of equally frequent pairs the one with the smallest ids.
inline std::pair<Merge, std::int64_t> most_frequent(const std::vector<Word>& words) {
  std::pair<Merge, std::int64_t> best{{}, 0};
  for (const auto& [pair, count] : pair_counts(words))
    if (count > best.second) best = {pair, count};
  return best;
}

// One round of training. Returns false, and changes nothing, if no pair occurs twice.
inline bool learn_merge(std::vector<Word>& words, std::vector<Merge>& merges) {
  const auto [pair, count] = most_frequent(words);
  if (count < 2) return false;
  const std::int64_t new_id = 256 + std::int64_t(merges.size());
  for (Word& word : words) word.ids = merged(word.ids, pair, new_id);
  merges.push_back(pair);
  return true;
}

inline std::vector<Merge> train_by_hand(const std::string& text, std::size_t vocab_size) {
  std::vector<Word> words = distinct_words(text);
  std::vector<Merge> merges;
  while (256 + merges.size() < vocab_size && learn_merge(words, merges)) continue;
  return merges;
}

// Applies the merges to each chunk, in the order of learning.
inline Ids encode_by_hand(const std::vector<Merge>& merges, const std::string& text) {
  Ids all;
  for (const std::string& chunk : chunks_by_hand(text)) {
    Ids ids = bytes_of(chunk);
    for (std::size_t m = 0; m < merges.size(); ++m)
      ids = merged(ids, merges[m], 256 + std::int64_t(m));
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

// The bytes of each token: those of its two parts, one after the other.
inline std::string decode_by_hand(const std::vector<Merge>& merges, const Ids& ids) {
  Names bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.emplace_back(1, char(byte));
  for (const auto& [left, right] : merges)
    bytes.push_back(bytes[std::size_t(left)] + bytes[std::size_t(right)]);
  std::string text;
  for (const std::int64_t id : ids) text += bytes[std::size_t(id)];
  return text;
}

}  // namespace heed
