// byte_pairs.cpp: trains byte-pair encoding on a text, and encodes text.

#include "heed/text/byte_pairs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "heed/base/error.hpp"
#include "text/merges.hpp"

namespace HEED_NAMESPACE {
namespace {

using Merge = BytePairs::Merge;
using Ids = std::vector<std::int64_t>;

// The longest token. Without a limit, the tokens of a damaged checkpoint could fill the memory.
constexpr std::size_t max_token_bytes = 128;

// The longest chunk. It bounds the time for a text without white space.
constexpr std::size_t max_chunk_bytes = 256;

enum class ByteKind { white_space, letter, digit, other };

ByteKind kind_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte == ' ' || (byte >= '\t' && byte <= '\r')) return ByteKind::white_space;
  if (byte >= '0' && byte <= '9') return ByteKind::digit;
  const bool letter = byte >= 128 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  return letter ? ByteKind::letter : ByteKind::other;
}

// The end of the run of bytes of one kind that begins at `begin`, at most max_chunk_bytes after it.
std::size_t end_of_run(std::string_view text, std::size_t begin) {
  const std::size_t last = std::min(text.size(), begin + max_chunk_bytes);
  std::size_t end = begin;
  while (end < last && kind_of(text[end]) == kind_of(text[begin])) ++end;
  return end;
}

std::size_t end_of_chunk(std::string_view text, std::size_t begin) {
  const std::size_t end = end_of_run(text, begin);
  if (kind_of(text[begin]) != ByteKind::white_space || end == text.size() || text[end - 1] != ' ')
    return end;
  // The last space of the run belongs to the word after it.
  return end - begin > 1 ? end - 1 : end_of_run(text, end);
}

Ids bytes_of(std::string_view text) {
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

// The distinct chunks of a text as tokens, with the number of times that each pair occurs.
class PairCounts {
 public:
  explicit PairCounts(std::string_view text) {
    std::map<std::string_view, std::int64_t> counts;
    for (const std::string_view chunk : BytePairs::chunks_of(text)) ++counts[chunk];
    for (const auto& [chunk, count] : counts) words_.push_back({bytes_of(chunk), count});
    for (std::uint32_t w = 0; w < words_.size(); ++w)
      for (std::size_t i = 1; i < words_[w].ids.size(); ++i)
        add({words_[w].ids[i - 1], words_[w].ids[i]}, w);
    queue_added();
  }

  // The most frequent pair that occurs at least twice and is not too long, or nothing.
  std::optional<Merge> most_frequent() {
    while (!queue_.empty()) {
      const auto [count, merge] = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(merge);
      if (found == pairs_.end() || length_of(merge) > max_token_bytes) continue;
      if (found->second.count == count) return count >= 2 ? std::optional(merge) : std::nullopt;
      queue_.push({found->second.count, merge});  // the count in the queue was out of date
    }
    return {};
  }

  void merge(const Merge& merge, std::int64_t id) {
    lengths_.push_back(length_of(merge));
    for (const std::uint32_t w : std::exchange(pairs_.at(merge).words, {})) replace(merge, id, w);
    queue_added();
  }

 private:
  struct Hash {
    std::size_t operator()(const Merge& merge) const {
      constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // mixes the bits (Fibonacci hashing)
      const auto first = static_cast<std::uint64_t>(merge.first);
      return (first * odd + static_cast<std::uint64_t>(merge.second)) * odd >> 16;
    }
  };
  struct Word {
    Ids ids;
    std::int64_t count;  // how often the chunk occurs
  };
  struct Pair {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  // the chunks that contain the pair, or contained it
  };
  struct Entry {
    std::int64_t count;
    Merge merge;
    // The top of the queue has the largest count and, among equals, the smallest ids.
    bool operator<(const Entry& other) const {
      return count != other.count ? count < other.count : merge > other.merge;
    }
  };

  std::size_t length_of(const Merge& merge) const {
    return lengths_[static_cast<std::size_t>(merge.first)] +
           lengths_[static_cast<std::size_t>(merge.second)];
  }

  // Replaces `merge` by `id` in chunk w, from left to right, one occurrence after the other.
  void replace(const Merge& merge, std::int64_t id, std::uint32_t w) {
    Ids& ids = words_[w].ids;
    std::size_t size = 0;  // number of new ids, which overwrite the old ones from the left
    for (std::size_t i = 0; i < ids.size(); ++size) {
      if (i + 1 == ids.size() || Merge(ids[i], ids[i + 1]) != merge) {
        ids[size] = ids[i++];
        continue;
      }
      subtract(merge, w);
      if (size > 0) replace_pair({ids[size - 1], merge.first}, {ids[size - 1], id}, w);
      if (i + 2 < ids.size()) replace_pair({merge.second, ids[i + 2]}, {id, ids[i + 2]}, w);
      ids[size] = id;
      i += 2;
    }
    ids.resize(size);
  }
  void replace_pair(const Merge& old, const Merge& merge, std::uint32_t w) {
    subtract(old, w);
    add(merge, w);
  }
  void subtract(const Merge& merge, std::uint32_t w) { pairs_.at(merge).count -= words_[w].count; }
  void add(const Merge& merge, std::uint32_t w) {
    const auto [found, is_new] = pairs_.try_emplace(merge);
    auto& [count, words] = found->second;
    count += words_[w].count;
    if (is_new) added_.push_back(merge);
    if (words.empty() || words.back() != w) words.push_back(w);
  }
  void queue_added() {
    for (const Merge& merge : added_) queue_.push({pairs_.at(merge).count, merge});
    added_.clear();
  }

  std::vector<std::size_t> lengths_ = std::vector<std::size_t>(256, 1);  // sizes of tokens in bytes
  std::vector<Word> words_;
  std::unordered_map<Merge, Pair, Hash> pairs_;
  std::priority_queue<Entry> queue_;  // each pair at least once; its count may be out of date
  std::vector<Merge> added_;          // new pairs, which are not in the queue yet
};

}  // namespace

std::vector<std::string_view> BytePairs::chunks_of(std::string_view text) {
  return split_chunks(text, end_of_chunk);
}

BytePairs BytePairs::trained_on(std::string_view text, std::size_t vocab_size) {
  if (vocab_size < 256)
    throw_error("byte pairs: vocab_size is ", vocab_size, "; give at least 256, one for each byte");
  PairCounts counts(text);
  std::vector<Merge> merges;
  while (merges.size() + 256 < vocab_size) {
    const std::optional<Merge> merge = counts.most_frequent();
    if (!merge) break;
    counts.merge(*merge, static_cast<std::int64_t>(256 + merges.size()));
    merges.push_back(*merge);
  }
  return BytePairs(std::move(merges));
}

BytePairs::BytePairs(std::vector<Merge> merges) : merges_(std::move(merges)) {
  for (int byte = 0; byte < 256; ++byte) tokens_.emplace_back(1, static_cast<char>(byte));
  auto table = std::make_shared<Merges>();
  for (const Merge& merge : merges_) {
    const auto known = static_cast<std::int64_t>(tokens_.size());
    const auto [left, right] = merge;
    if (left < 0 || right < 0 || left >= known || right >= known ||
        table->add(static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right),
                   static_cast<std::uint32_t>(known)))
      throw_error("byte pairs: merge ", known - 256, " is ", left, " ", right,
                  "; it must join two of the ", known, " tokens before it, and differ from all ",
                  "merges before it");
    tokens_.push_back(tokens_[static_cast<std::size_t>(left)] +
                      tokens_[static_cast<std::size_t>(right)]);
    if (tokens_.back().size() > max_token_bytes)
      throw_error("byte pairs: merge ", known - 256, " makes a token of ", tokens_.back().size(),
                  " bytes; give at most ", max_token_bytes);
  }
  table_ = std::move(table);
}

const std::string& BytePairs::bytes(std::int64_t id) const {
  if (id < 0 || id >= static_cast<std::int64_t>(size()))
    throw_error("byte pairs: id ", id, " is not one of the ", size(), " tokens");
  return tokens_[static_cast<std::size_t>(id)];
}

std::string BytePairs::decode(const std::vector<std::int64_t>& ids) const {
  std::string text;
  for (const std::int64_t id : ids) text += bytes(id);
  return text;
}

std::vector<std::int64_t> BytePairs::encoded_chunk(std::string_view chunk) const {
  std::vector<std::uint32_t> bytes;
  for (const char c : chunk) bytes.push_back(static_cast<unsigned char>(c));
  const std::vector<std::uint32_t> tokens = table_->applied_to(std::move(bytes));
  return {tokens.begin(), tokens.end()};
}

std::vector<std::int64_t> BytePairs::encode(std::string_view text) const {
  std::unordered_map<std::string_view, Ids> encoded;  // each distinct chunk is encoded once
  Ids ids;
  for (const std::string_view chunk : chunks_of(text)) {
    const auto [found, is_new] = encoded.try_emplace(chunk);
    if (is_new) found->second = encoded_chunk(chunk);
    ids.insert(ids.end(), found->second.begin(), found->second.end());
  }
  return ids;
}

}  // namespace HEED_NAMESPACE
