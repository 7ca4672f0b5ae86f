// byte_level_bpe.cpp: reads vocabularies of byte-level BPE, and encodes and decodes text with them.

#include "text/byte_level_bpe.hpp"

#include <algorithm>
#include <utility>

#include "base/unicode.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "text/check_encoding.hpp"
#include "text/special_tokens.hpp"
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

// The two tokens of a line of merges.txt as they are written. Throws Error `PLACE: ...`.
std::pair<std::string, std::string> parts_of_merge(std::string_view line,
                                                   const std::string& place) {
  const std::size_t space = line.find(' ');
  if (space == 0 || space >= line.size() - 1 || line.find(' ', space + 1) != line.npos)
    throw_error(place, ": ", in_quotes(line), " must be two tokens, separated by one space");
  return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

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
  if (bpe.end_of_text_) bpe.special_ = {{std::string(end_of_text_token), *bpe.end_of_text_}};
  bpe.read_merges(merges_txt, merges_name, vocab_name);
  return bpe;
}

ByteLevelBpe ByteLevelBpe::from_tokenizer_json(std::string_view json, const std::string& name) {
  TokenizerJson read(json, name);
  ByteLevelBpe bpe;
  bpe.read_tokens(read, name);
  const TokenIds ids = ids_of(bpe.tokens_);
  const auto id_of = [&](const std::string& token) {
    const auto found = ids.find(token);
    if (found == ids.end())
      throw_error(name, ": a merge makes or joins ", in_quotes(token), ", which is no token");
    return found->second;
  };
  for (const auto& [left, right] : read.merges) {
    const std::string first = bytes_of(left, name), second = bytes_of(right, name);
    if (bpe.merges_.add(id_of(first), id_of(second), id_of(first + second)))
      throw_error(name, ": the merge of ", in_quotes(left), " and ", in_quotes(right), " is twice");
  }
  if (read.ignores_merges) bpe.whole_chunks_ = ids;
  bpe.order_ = Merges::Order::first_occurrence;
  bpe.begin_of_text_ = read.begin_of_text;
  bpe.special_ = std::move(read.special);
  bpe.added_ = std::move(read.added);
  bpe.composes_ = read.composes;
  bpe.chunks_ = read.chunks == TokenizerJson::Chunks::llama3   ? llama3_chunks
                : read.chunks == TokenizerJson::Chunks::qwen2  ? qwen2_chunks
                : read.chunks == TokenizerJson::Chunks::digits ? digit_chunks
                                                               : gpt2_chunks;
  return bpe;
}

// Added tokens are written as text, the others as visible characters that stand for bytes.
void ByteLevelBpe::read_tokens(const TokenizerJson& json, const std::string& name) {
  std::vector<char> is_text(json.tokens.size());
  for (const TokensOfText* added : {&json.special, &json.added})
    for (const auto& [token, id] : *added) is_text[id] = 1;
  byte_ids_.fill(-1);
  for (std::size_t id = 0; id < json.tokens.size(); ++id) {
    const std::string& written = json.tokens[id];
    tokens_.push_back(is_text[id] != 0 ? written
                                       : bytes_of(written, name + ": id " + std::to_string(id)));
    if (tokens_[id] == end_of_text_token) end_of_text_ = id;
    if (tokens_[id].size() == 1 && is_text[id] == 0)
      byte_ids_[static_cast<unsigned char>(tokens_[id][0])] = static_cast<std::int64_t>(id);
  }
}

// Reads the list of merges, whose first line can be a comment: "#version: 0.2".
void ByteLevelBpe::read_merges(std::string_view text, const std::string& name,
                               const std::string& vocab_name) {
  if (has_byte_order_mark(text)) text.remove_prefix(3);
  const TokenIds ids = ids_of(tokens_);
  std::vector<char> made(tokens_.size());  // the tokens that the merges so far have made
  std::uint32_t last = 0;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view merge = take_line(text);
    const std::string place = name + ": line " + std::to_string(line);
    if (line == 1 && merge.substr(0, 9) == "#version:") {
      if (!is_utf8(merge)) throw_error(place, ": ", in_quotes(merge), " is not UTF-8");
      continue;
    }
    const auto id_of = [&](const std::string& written) {
      const auto found = ids.find(bytes_of(written, place));
      if (found == ids.end())
        throw_error(place, ": ", in_quotes(written), " is not a token of ", vocab_name);
      return found->second;
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
    if (const auto same = merges_.add(left_id, right_id, id))
      throw_error(name, ": the merges ", *same + 1, " and ", merges_.size() + 1,
                  " are the same; each pair may be merged once");
  }
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

const std::string& ByteLevelBpe::piece(std::size_t id) const {
  if (id >= tokens_.size())
    throw_error("id ", id, " is not in the vocabulary of ", tokens_.size(), " tokens");
  return tokens_[id];
}

void ByteLevelBpe::append_chunk(std::string_view chunk, std::vector<std::size_t>& ids) const {
  if (const auto found = whole_chunks_.find(std::string(chunk)); found != whole_chunks_.end())
    return ids.push_back(found->second);
  std::vector<std::uint32_t> tokens;
  for (const char c : chunk) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte_ids_[byte] < 0)
      throw_error("encode: the byte ", hexadecimal("0x%02llx", byte), " in ", in_quotes(chunk),
                  " is not in the vocabulary");
    tokens.push_back(static_cast<std::uint32_t>(byte_ids_[byte]));
  }
  tokens = merges_.applied_to(std::move(tokens), order_);
  ids.insert(ids.end(), tokens.begin(), tokens.end());
}

void ByteLevelBpe::append_text(std::string_view text, std::vector<std::size_t>& ids) const {
  const std::string normalized = composes_ ? composed(text) : "";
  for (const std::string_view chunk : chunks_(composes_ ? normalized : text))
    append_chunk(chunk, ids);
}

std::vector<std::size_t> ByteLevelBpe::encode(std::string_view text, SpecialTokens special) const {
  TokensOfText tokens = added_;
  if (special == SpecialTokens::as_tokens)
    tokens.insert(tokens.end(), special_.begin(), special_.end());
  if (composes_) check_encoding(text);
  std::vector<std::size_t> ids;
  split_at_special(
      text, tokens, [&](std::string_view part) { append_text(part, ids); },
      [&](std::size_t id) { ids.push_back(id); });
  if (begin_of_text_ && (ids.empty() || ids[0] != *begin_of_text_))
    ids.insert(ids.begin(), *begin_of_text_);
  return ids;
}

std::string ByteLevelBpe::decode(const std::vector<std::size_t>& ids) const {
  std::string text;
  for (const std::size_t id : ids) text += piece(id);
  return text;
}

}  // namespace HEED_NAMESPACE
