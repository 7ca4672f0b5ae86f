// safetensors_checksum.cpp: a fast sum of words, and its place in the header it is a sum of.
//
// The value of "heed.checksum" is two sums of 16 digits: one of the header, in which these
// 32 digits count as dashes, and one of the tensors' bytes.

#include "io/safetensors_checksum.hpp"

#include <cstring>

#include "heed/base/error.hpp"

namespace heed {
namespace {

constexpr std::string_view checksum_key = "heed.checksum";
constexpr std::string_view checksum_text = "\"heed.checksum\":\"";  // as it stands in the header
constexpr std::string_view blank = "--------------------------------";
constexpr std::size_t sum_digits = 16;

// One flipped bit can rename "heed.checksum", but not this key too, which says that there was one.
constexpr std::string_view format_key = "heed.format";
constexpr std::string_view heed_prefix = "heed.";

// Each step can be undone when the word is known, so sums that differ stay different. It is
// FNV-1a's, on 8 bytes at a time, with a rotation, without which the high bits of a word would
// never reach the low bits of the sum.
std::uint64_t step(std::uint64_t sum, const void* data, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, data, bytes);
  sum = (sum ^ word) * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio; odd, so it has an inverse
  return sum << 29 | sum >> 35;
}

// Where the digits begin, or npos. A quote after { or , opens a key of the header: the quotes
// inside a JSON string stand after a backslash.
std::size_t find_digits(std::string_view header) {
  std::size_t at = header.find(checksum_text);
  while (at != header.npos && (at == 0 || (header[at - 1] != '{' && header[at - 1] != ',')))
    at = header.find(checksum_text, at + 1);
  if (at == header.npos || header.size() - at < checksum_text.size() + blank.size())
    return header.npos;
  return at + checksum_text.size();
}

std::string header_sum(std::string_view header, std::size_t digits) {
  Checksum sum;
  sum.add(header.data(), digits);
  const std::string_view rest = header.substr(digits + blank.size());
  sum.add(rest.data(), rest.size());
  return sum.hex();
}

std::string data_sum(const std::vector<StoredTensor>& tensors) {
  Checksum sum;
  for (const StoredTensor& tensor : tensors) sum.add(tensor.data, tensor.bytes);
  return sum.hex();
}

bool is_from_heed(const Metadata& metadata) {
  const auto first = metadata.lower_bound(std::string(heed_prefix));
  return first != metadata.end() && first->first.compare(0, heed_prefix.size(), heed_prefix) == 0;
}

}  // namespace

void Checksum::add(const void* data, std::size_t bytes) {
  const auto* next = static_cast<const unsigned char*>(data);
  std::uint64_t sum = sum_;
  std::size_t left = bytes;
  for (; left >= 8; left -= 8, next += 8) sum = step(sum, next, 8);
  if (left > 0) sum = step(sum, next, left);
  sum_ = step(sum, &bytes, sizeof bytes);  // where one piece ends and the next begins counts too
}

std::string Checksum::hex() const {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(sum_ >> shift) & 15];
  return text;
}

void announce_checksum(Metadata& metadata) {
  metadata[std::string(checksum_key)] = blank;
  metadata[std::string(format_key)] = "1";
}

void fill_checksum(std::string& header, const std::vector<StoredTensor>& tensors) {
  const std::size_t digits = find_digits(header);
  header.replace(digits, blank.size(), header_sum(header, digits) + data_sum(tensors));
}

void check_header_sum(const std::string& header, const std::string& file) {
  const std::size_t digits = find_digits(header);
  if (digits == header.npos) return;
  if (header.compare(digits, sum_digits, header_sum(header, digits)) != 0)
    throw_error(file, ": checksum: the header is not as it was saved");
}

bool check_data_sum(const std::string& header, const SafetensorsFile& file) {
  if (!is_from_heed(file.metadata)) return false;
  const std::size_t digits = find_digits(header);
  if (digits == header.npos || file.metadata.count(std::string(checksum_key)) == 0)
    throw_error(file.path, ": checksum: missing or damaged, though heed wrote this file");
  if (header.compare(digits + sum_digits, sum_digits, data_sum(file.tensors)) != 0)
    throw_error(file.path, ": checksum: the tensors are not as they were saved");
  return true;
}

}  // namespace heed
