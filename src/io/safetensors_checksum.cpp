// safetensors_checksum.cpp: the checksum of a safetensors file, stored in its header.
//
// The value of "heed.checksum" is two hashes (XXH3) of 16 hexadecimal digits each: that of the
// header without these 32 digits, and that of the tensors' bytes.

#include "io/safetensors_checksum.hpp"

#include "heed/base/error.hpp"
#include "heed/base/hash.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::string_view checksum_key = "heed.checksum";
constexpr std::string_view checksum_text = "\"heed.checksum\":\"";  // in the header
constexpr std::string_view placeholder = "--------------------------------";
constexpr std::size_t sum_digits = 16;

// A second key: if a flipped bit renames "heed.checksum", this key shows that a checksum is
// missing.
constexpr std::string_view format_key = "heed.format";
constexpr std::string_view heed_prefix = "heed.";

constexpr std::string_view format = "2";
constexpr std::string_view old_format_text = "\"heed.format\":\"1\"";  // another checksum

// The index of the first checksum digit, or npos. A quote after { or , starts a key, because a
// backslash precedes every quote inside a JSON string.
std::size_t find_digits(std::string_view header) {
  std::size_t at = header.find(checksum_text);
  while (at != header.npos && (at == 0 || (header[at - 1] != '{' && header[at - 1] != ',')))
    at = header.find(checksum_text, at + 1);
  if (at == header.npos || header.size() - at < checksum_text.size() + placeholder.size())
    return header.npos;
  return at + checksum_text.size();
}

std::string header_sum(std::string_view header, std::size_t digits) {
  const std::uint64_t before = hash64(header.substr(0, digits));
  return hex_digits(hash64(header.substr(digits + placeholder.size()), before));
}

std::string data_sum(const std::vector<StoredTensor>& tensors) {
  std::uint64_t sum = 0;
  for (const StoredTensor& tensor : tensors)
    sum = hash64({reinterpret_cast<const char*>(tensor.data), tensor.bytes}, sum);
  return hex_digits(sum);
}

bool is_from_heed(const Metadata& metadata) {
  const auto first = metadata.lower_bound(std::string(heed_prefix));
  return first != metadata.end() && first->first.compare(0, heed_prefix.size(), heed_prefix) == 0;
}

}  // namespace

void announce_checksum(Metadata& metadata) {
  metadata[std::string(checksum_key)] = placeholder;
  metadata[std::string(format_key)] = format;
}

void fill_checksum(std::string& header, const std::vector<StoredTensor>& tensors) {
  const std::size_t digits = find_digits(header);
  header.replace(digits, placeholder.size(), header_sum(header, digits) + data_sum(tensors));
}

void check_header_sum(const std::string& header, const std::string& file) {
  const std::size_t digits = find_digits(header);
  if (digits == header.npos) return;
  if (header.find(old_format_text) != header.npos)
    throw_error(file,
                ": checksum: the file is in format 1, which this version of heed does "
                "not read; train the model again");
  if (header.compare(digits, sum_digits, header_sum(header, digits)) != 0)
    throw_error(file, ": checksum: the header changed after it was saved");
}

bool check_data_sum(const std::string& header, const SafetensorsFile& file) {
  if (!is_from_heed(file.metadata)) return false;
  const std::size_t digits = find_digits(header);
  if (digits == header.npos || file.metadata.count(std::string(checksum_key)) == 0)
    throw_error(file.path, ": checksum: missing or damaged in a file that heed wrote");
  if (header.compare(digits + sum_digits, sum_digits, data_sum(file.tensors)) != 0)
    throw_error(file.path, ": checksum: the tensors changed after they were saved");
  return true;
}

}  // namespace HEED_NAMESPACE
