// packed_codes.cpp: compresses 16-bit codes with Huffman codes of their bytes.

#include "page/packed_codes.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t max_codeword_bits = 15;  // a length is stored in four bits

// The codeword of each symbol: in the order of the lengths, then of the symbols.
std::vector<std::uint32_t> codewords(const std::vector<std::size_t>& lengths) {
  std::vector<std::uint32_t> words(lengths.size());
  std::uint32_t next = 0;
  for (std::size_t length = 1; length <= max_codeword_bits; ++length, next <<= 1)
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol] == length) words[symbol] = next++;
  return words;
}

// The bits of all codewords, most significant bit first.
std::string coded(const std::string& bytes, const std::vector<std::size_t>& lengths) {
  const std::vector<std::uint32_t> words = codewords(lengths);
  std::string text;
  std::uint32_t bits = 0;
  std::size_t count = 0;  // the bits that are not written yet
  const auto append = [&](std::uint32_t word, std::size_t length) {
    bits = bits << length | word;
    for (count += length; count >= 8; count -= 8) text += static_cast<char>(bits >> (count - 8));
  };
  for (const char byte : bytes) {
    const auto symbol = static_cast<unsigned char>(byte);
    append(words[symbol], lengths[symbol]);
  }
  if (count > 0) append(0, 8 - count);
  return text;
}

// One byte of each code, coded or as it is, whichever is shorter.
std::string plane(const std::string& bytes) {
  std::vector<std::size_t> counts(256);
  for (const char byte : bytes) ++counts[static_cast<unsigned char>(byte)];
  const std::vector<std::size_t> lengths = code_lengths(counts);
  std::string text(1, '\1');
  for (std::size_t i = 0; i < lengths.size(); i += 2)
    text += static_cast<char>(lengths[i] << 4 | lengths[i + 1]);
  text += coded(bytes, lengths);
  return text.size() <= bytes.size() ? text : std::string(1, '\0') + bytes;
}

// The depths of the leaves in the tree that Huffman's algorithm makes.
std::vector<std::size_t> huffman_depths(const std::vector<std::size_t>& counts) {
  using Item = std::pair<std::size_t, std::size_t>;  // count and node
  std::priority_queue<Item, std::vector<Item>, std::greater<>> smallest;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol)
    if (counts[symbol] > 0) smallest.emplace(counts[symbol], symbol);
  std::vector<std::size_t> parent(2 * counts.size()), depth(2 * counts.size());
  std::size_t node = counts.size();
  while (smallest.size() > 1) {
    const auto [a, left] = smallest.top();
    smallest.pop();
    const auto [b, right] = smallest.top();
    smallest.pop();
    parent[left] = parent[right] = node;
    smallest.emplace(a + b, node++);
  }
  if (smallest.empty()) return std::vector<std::size_t>(counts.size());
  const std::size_t root = smallest.top().second;
  for (std::size_t i = root; i-- > 0;)  // a parent has a larger number than its children
    if (i >= counts.size() || counts[i] > 0) depth[i] = depth[parent[i]] + 1;
  if (root < counts.size()) depth[root] = 1;  // a symbol that is alone
  depth.resize(counts.size());
  return depth;
}

}  // namespace

std::vector<std::size_t> code_lengths(std::vector<std::size_t> counts) {
  while (true) {
    std::vector<std::size_t> lengths = huffman_depths(counts);
    if (*std::max_element(lengths.begin(), lengths.end()) <= max_codeword_bits) return lengths;
    for (std::size_t& count : counts) count = (count + 1) / 2;  // nearer to equal lengths
  }
}

std::string packed_codes(const std::vector<std::uint16_t>& codes) {
  std::string size, high, low;
  for (std::size_t i = 0; i < 4; ++i) size += static_cast<char>(codes.size() >> (8 * i));
  for (const std::uint16_t code : codes) {
    high += static_cast<char>(code >> 8);
    low += static_cast<char>(code & 0xff);
  }
  return size + plane(high) + plane(low);
}

}  // namespace HEED_NAMESPACE
