// byte_pairs.hpp: byte-pair encoding (BPE), a tokenizer whose tokens are bytes and learned strings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

class Merges;

// Byte-level byte-pair encoding. The tokens 0 to 255 are the bytes, so every text can be encoded.
// Token 256 + i is the i-th merge: two earlier tokens, one after the other. Sennrich et al. 2016,
// "Neural Machine Translation of Rare Words with Subword Units", section 3.2; with bytes: Radford
// et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.2.
class BytePairs {
 public:
  using Merge = std::pair<std::int64_t, std::int64_t>;  // the tokens on the left and on the right

  // Learns merges from the text: again and again, the pair of neighbouring tokens that is most
  // frequent becomes a token (if several are, the pair with the smallest ids). Overlapping
  // occurrences count: 'aaa' has the pair a a twice. Stops at vocab_size tokens, or when no pair
  // occurs twice. No token gets longer than 128 bytes. Throws Error for a vocab_size below 256.
  static BytePairs trained_on(std::string_view text, std::size_t vocab_size);

  // Throws Error if a merge contains a token that no earlier merge has made, occurs twice, or makes
  // a token longer than 128 bytes.
  explicit BytePairs(std::vector<Merge> merges);

  std::size_t size() const { return tokens_.size(); }           // the number of tokens
  const std::vector<Merge>& merges() const { return merges_; }  // merges, in the order of learning
  // The bytes of a token. Throws Error for an id outside [0, size()).
  const std::string& bytes(std::int64_t id) const;

  // The token ids of a text: in each chunk, the earliest merge that applies is applied until no
  // merge applies. decode is the inverse; it throws Error for an id outside [0, size()).
  std::vector<std::int64_t> encode(std::string_view text) const;
  std::string decode(const std::vector<std::int64_t>& ids) const;

  // Splits a text into the chunks in which tokens are merged, so that no token reaches from one
  // word into the next: runs of letters (all bytes above 127 count as letters), of digits and of
  // other characters, each with the space before it, and runs of white space without a space that
  // belongs to the next chunk. A run longer than 256 bytes is cut. A simplified form of GPT-2's
  // rule, which is for Unicode.
  static std::vector<std::string_view> chunks_of(std::string_view text);

  // Two encodings are equal if their merges are.
  friend bool operator==(const BytePairs& a, const BytePairs& b) { return a.merges_ == b.merges_; }

 private:
  std::vector<std::int64_t> encoded_chunk(std::string_view chunk) const;

  std::vector<Merge> merges_;
  std::shared_ptr<const Merges> table_;  // the merges by their tokens; copies share it
  std::vector<std::string> tokens_;      // the bytes of each token
};

}  // namespace HEED_NAMESPACE
