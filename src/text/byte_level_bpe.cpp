// byte_level_bpe.cpp: reads GPT-2's vocabulary and merges, and encodes and decodes text with them.

#include "text/byte_level_bpe.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "text/vocabulary_files.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::string_view end_of_text_token = "<|endoftext|>";

bool stands_for_itself(std::uint32_t byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

// The byte that each code point below 256 + 68 stands for in the two files; -1: none.
std::vector<int> byte_of_code_point() {
  std::vector<int> bytes(256 + 68, -1);
  std::size_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const auto itself = static_cast<std::uint32_t>(byte);
    bytes[stands_for_itself(itself) ? itself : next++] = byte;
  }
  return bytes;
}

// The bytes of a token as it is written in the files. Throws Error `PLACE: ...`.
std::string bytes_of(std::string_view written, const std::string& place) {
  static const std::vector<int> byte_of = byte_of_code_point();
  std::string bytes;
  for (std::size_t i = 0; i < written.size();) {
    const auto [c, size] = decode_utf8(written, i);
    if (size == 0) throw_error(place, ": ", in_quotes(written), " is not UTF-8");
    if (c >= byte_of.size() || byte_of[c] < 0)
      throw_error(place, ": ", in_quotes(written), " has the character ",
                  hexadecimal("U+%04llX", c), ", which stands for no byte");
    bytes += static_cast<char>(byte_of[c]);
    i += size;
  }
  return bytes;
}

std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
  return std::uint64_t{left} << 32 | right;
}

// The two tokens of a line of merges.txt as they are written. Throws Error `PLACE: ...`.
std::pair<std::string, std::string> parts_of_merge(std::string_view line,
                                                   const std::string& place) {
  const std::size_t space = line.find(' ');
  if (space == 0 || space >= line.size() - 1 || line.find(' ', space + 1) != line.npos)
    throw_error(place, ": ", in_quotes(line), " must be two tokens, separated by one space");
  return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

// The tokens of a chunk as a linked list, so that joining two neighbours takes constant time.
struct Chain {
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  explicit Chain(std::size_t size) : ids(size), next(size), previous(size), joined(size) {
    for (std::size_t i = 0; i < size; ++i) {
      next[i] = i + 1 < size ? i + 1 : none;
      previous[i] = i > 0 ? i - 1 : none;
    }
  }

  // Replaces the token at `i` and the next one by `id`.
  void join(std::size_t i, std::uint32_t id) {
    const std::size_t right = next[i];
    ids[i] = id;
    joined[right] = 1;
    next[i] = next[right];
    if (next[i] != none) previous[next[i]] = i;
  }

  std::vector<std::uint32_t> ids;
  std::vector<std::size_t> next, previous;
  std::vector<char> joined;  // whether the token has become a part of the token before it
};

}  // namespace

ByteLevelBpe ByteLevelBpe::load(const std::filesystem::path& vocab_json,
                                const std::filesystem::path& merges_txt) {
  return from_contents(read_vocabulary_file(vocab_json), read_vocabulary_file(merges_txt),
                       vocab_json.string(), merges_txt.string());
}

ByteLevelBpe ByteLevelBpe::from_contents(std::string_view vocab_json, std::string_view merges_txt,
                                         const std::string& vocab_name,
                                         const std::string& merges_name) {
  ByteLevelBpe bpe;
  bpe.tokens_ = tokens_of_json(vocab_json, vocab_name);
  bpe.byte_ids_.fill(-1);
  for (std::size_t id = 0; id < bpe.tokens_.size(); ++id) {
    std::string& token = bpe.tokens_[id];
    token = bytes_of(token, vocab_name + ": id " + std::to_string(id));
    if (token == end_of_text_token) bpe.end_of_text_ = id;
    if (token.size() == 1)
      bpe.byte_ids_[static_cast<unsigned char>(token[0])] = static_cast<std::int64_t>(id);
  }
  bpe.read_merges(merges_txt, merges_name, vocab_name);
  return bpe;
}

// Reads the list of merges, whose first line can be a comment: "#version: 0.2".
void ByteLevelBpe::read_merges(std::string_view text, const std::string& name,
                               const std::string& vocab_name) {
  if (has_byte_order_mark(text)) text.remove_prefix(3);
  const std::vector<std::uint32_t> sorted = sorted_ids(tokens_);
  std::vector<char> made(tokens_.size());  // the tokens that the merges so far have made
  std::uint32_t last = 0;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view merge = take_line(text);
    const std::string place = name + ": line " + std::to_string(line);
    if (line == 1 && merge.substr(0, 9) == "#version:") {
      for (std::size_t i = 0; i < merge.size(); i += decode_utf8(merge, i).size)
        if (decode_utf8(merge, i).size == 0)
          throw_error(place, ": ", in_quotes(merge), " is not UTF-8");
      continue;
    }
    const auto id_of = [&](const std::string& written) {
      const std::int64_t id = find_token(tokens_, sorted, bytes_of(written, place));
      if (id < 0) throw_error(place, ": ", in_quotes(written), " is not a token of ", vocab_name);
      return static_cast<std::uint32_t>(id);
    };
    const auto [left, right] = parts_of_merge(merge, place);
    const std::uint32_t left_id = id_of(left), right_id = id_of(right), id = id_of(left + right);
    for (const auto& [part, written] : {std::pair(left_id, left), std::pair(right_id, right)})
      if (tokens_[part].size() > 1 && made[part] == 0)
        throw_error(place, ": no earlier line makes ", in_quotes(written),
                    "; merges must be in the order of training");
    if (made[id] == 0 && id < last)
      throw_error(place, ": makes token ", id, " after token ", last,
                  "; merges must be in the order of training, which is that of the ids");
    last = std::max(last, id);
    made[id] = 1;
    merges_.push_back({pair_of(left_id, right_id), static_cast<std::uint32_t>(merges_.size()), id});
  }
  sort_merges(name);
  check_made(made, name);
}

// Special tokens, such as <|endoftext|> or [PAD], and up to 1 % of others, such as those that fill
// up the size of an embedding, need no merge. Without the merges of more tokens, a file that was
// cut off would split each text into many short tokens, on which the model was not trained.
void ByteLevelBpe::check_made(const std::vector<char>& made, const std::string& name) const {
  std::size_t missing = 0, first = 0;
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const std::string& token = tokens_[id];
    const bool special = (token.front() == '<' && token.back() == '>') ||
                         (token.front() == '[' && token.back() == ']');
    if (token.size() == 1 || special || made[id] != 0) continue;
    if (missing++ == 0) first = id;
  }
  if (missing * 100 > tokens_.size())
    throw_error(name, ": no line makes ", missing, " of the tokens, such as ",
                in_quotes(tokens_[first]), ", id ", first, "; download the file again");
}

void ByteLevelBpe::sort_merges(const std::string& name) {
  std::sort(merges_.begin(), merges_.end(), [](const Merge& a, const Merge& b) {
    return a.pair != b.pair ? a.pair < b.pair : a.rank < b.rank;
  });
  const auto twice =
      std::adjacent_find(merges_.begin(), merges_.end(),
                         [](const Merge& a, const Merge& b) { return a.pair == b.pair; });
  if (twice != merges_.end())
    throw_error(name, ": the merges ", twice->rank + 1, " and ", (twice + 1)->rank + 1,
                " are the same; each pair may be merged once");
}

const ByteLevelBpe::Merge* ByteLevelBpe::find_merge(std::uint32_t left, std::uint32_t right) const {
  const std::uint64_t pair = pair_of(left, right);
  const auto found =
      std::lower_bound(merges_.begin(), merges_.end(), pair,
                       [](const Merge& merge, std::uint64_t p) { return merge.pair < p; });
  return found != merges_.end() && found->pair == pair ? &*found : nullptr;
}

const std::string& ByteLevelBpe::piece(std::size_t id) const {
  if (id >= tokens_.size())
    throw_error("id ", id, " is not in the vocabulary of ", tokens_.size(), " tokens");
  return tokens_[id];
}

// Applies the earliest merge of the list that joins any two neighbours to all its occurrences from
// left to right, again and again. A queue holds the merges that apply, so that no step scans the
// chunk; an entry is out of date if its tokens have been joined with others since.
void ByteLevelBpe::append_chunk(std::string_view chunk, std::vector<std::size_t>& ids) const {
  Chain chain(chunk.size());
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const auto byte = static_cast<unsigned char>(chunk[i]);
    if (byte_ids_[byte] < 0)
      throw_error("encode: the byte ", hexadecimal("0x%02llx", byte), " in ", in_quotes(chunk),
                  " is not in the vocabulary");
    chain.ids[i] = static_cast<std::uint32_t>(byte_ids_[byte]);
  }
  const auto merge_at = [&](std::size_t i) -> const Merge* {
    if (i == Chain::none || chain.joined[i] != 0 || chain.next[i] == Chain::none) return nullptr;
    return find_merge(chain.ids[i], chain.ids[chain.next[i]]);
  };
  using Entry = std::pair<std::uint32_t, std::size_t>;  // a merge's rank, and where it applies
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto add = [&](std::size_t i) {
    if (const Merge* merge = merge_at(i)) queue.push({merge->rank, i});
  };
  for (std::size_t i = 0; i < chunk.size(); ++i) add(i);
  std::vector<std::size_t> changed;
  while (!queue.empty()) {
    const std::uint32_t rank = queue.top().first;
    changed.clear();
    for (; !queue.empty() && queue.top().first == rank; queue.pop()) {
      const std::size_t i = queue.top().second;
      const Merge* merge = merge_at(i);
      if (merge == nullptr || merge->rank != rank) continue;
      chain.join(i, merge->id);
      changed.push_back(i);
    }
    for (const std::size_t i : changed) {
      add(chain.previous[i]);
      add(i);
    }
  }
  for (std::size_t i = 0; i != Chain::none && i < chunk.size(); i = chain.next[i])
    ids.push_back(chain.ids[i]);
}

void ByteLevelBpe::append_text(std::string_view text, std::vector<std::size_t>& ids) const {
  for (const std::string_view chunk : chunks_of(text)) append_chunk(chunk, ids);
}

std::vector<std::size_t> ByteLevelBpe::encode(std::string_view text, EndOfText end_of_text) const {
  std::vector<std::size_t> ids;
  if (end_of_text == EndOfText::as_token && end_of_text_) {
    for (std::size_t at; (at = text.find(end_of_text_token)) != text.npos;) {
      append_text(text.substr(0, at), ids);
      ids.push_back(*end_of_text_);
      text.remove_prefix(at + end_of_text_token.size());
    }
  }
  append_text(text, ids);
  return ids;
}

std::string ByteLevelBpe::decode(const std::vector<std::size_t>& ids) const {
  std::string text;
  for (const std::size_t id : ids) text += piece(id);
  return text;
}

}  // namespace HEED_NAMESPACE
