// merges.hpp: Merges, the merges of a byte-pair encoding, and the chunks in which they apply.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// Pairs of neighbouring tokens that become one token. The rank of a merge is its position in the
// list: the merge with the lowest rank applies first.
class Merges {
 public:
  struct Merge {
    std::uint32_t rank;
    std::uint32_t id;  // the token that it makes
  };

  std::size_t size() const { return merges_.size(); }
  // Adds a merge at the end of the list. Returns nothing, or the rank of the merge that joins the
  // same two tokens already.
  std::optional<std::uint32_t> add(std::uint32_t left, std::uint32_t right, std::uint32_t id);

  // Applies the merge with the lowest rank that joins any two neighbours to all its occurrences
  // from left to right (or to the first one, as Hugging Face's tokenizers do), again and again, and
  // returns the tokens that are left. The two orders differ only if several merges make the same
  // token. Takes O(n log n) time for n tokens.
  enum class Order { all_occurrences, first_occurrence };
  std::vector<std::uint32_t> applied_to(std::vector<std::uint32_t> ids,
                                        Order order = Order::all_occurrences) const;

 private:
  const Merge* find(std::uint32_t left, std::uint32_t right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;  // key: left * 2^32 + right
};

// Splits a text into chunks. end_of_chunk(text, begin) is the end of the chunk that begins at
// `begin`, and more than `begin`.
std::vector<std::string_view> split_chunks(std::string_view text,
                                           std::size_t (*end_of_chunk)(std::string_view,
                                                                       std::size_t));

}  // namespace HEED_NAMESPACE
