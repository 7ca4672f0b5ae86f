// safetensors_checksum.cpp: computes and checks the checksum of a safetensors file.
//
// The value of "heed.checksum" has 32 hexadecimal digits: 16 for the hash (XXH3) of the header
// without these digits, and 16 for the hash of the tensors' bytes.

#include "files/safetensors_checksum.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr const char* checksum_key = "heed.checksum";
constexpr std::string_view placeholder = "--------------------------------";
constexpr std::size_t sum_digits = 16;

// A second metadata key. It shows that the file must have a checksum, even if a flipped bit has
// renamed the key "heed.checksum".
constexpr const char* format_key = "heed.format";

// The index of the first checksum digit in the header, or npos if it has none. Every `{"` or `,"`
// begins a key, because a backslash precedes each quote inside a JSON string.
std::size_t find_digits(std::string_view header) {
  constexpr std::string_view first_key = R"({"heed.checksum":")",
                             later_key = R"(,"heed.checksum":")";
  const std::size_t at = std::min(header.find(first_key), header.find(later_key));
  const bool found =
      at != header.npos && header.size() - at >= first_key.size() + placeholder.size();
  return found ? at + first_key.size() : header.npos;
}

std::string header_sum(std::string_view header, std::size_t digits) {
  const std::uint64_t before = hash64(header.substr(0, digits));
  return hexadecimal("%016llx", hash64(header.substr(digits + placeholder.size()), before));
}

std::string digits_of(std::uint64_t sum) { return hexadecimal("%016llx", sum); }

}  // namespace

std::uint64_t data_sum(const std::vector<StoredTensor>& tensors) {
  std::uint64_t sum = 0;
  for (const StoredTensor& tensor : tensors)
    sum = hash64({reinterpret_cast<const char*>(tensor.data), tensor.bytes}, sum);
  return sum;
}

void announce_checksum(Metadata& metadata) {
  metadata[checksum_key] = placeholder;
  metadata[format_key] = "2";
}

void fill_checksum(std::string& header, const std::vector<StoredTensor>& tensors) {
  const std::size_t digits = find_digits(header);
  header.replace(digits, placeholder.size(),
                 header_sum(header, digits) + digits_of(data_sum(tensors)));
}

void check_header_sum(const std::string& header, const std::string& file) {
  const std::size_t digits = find_digits(header);
  if (digits == header.npos) return;
  if (header.find(R"("heed.format":"1")") != header.npos)
    throw_error(file,
                ": checksum: the file is in format 1, which this version of heed does "
                "not read; train the model again");
  if (header.compare(digits, sum_digits, header_sum(header, digits)) != 0)
    throw_error(file, ": checksum: the header changed after it was saved");
}

bool promises_checksum(const SafetensorsFile& file) {
  const auto first = file.metadata.lower_bound("heed.");
  return first != file.metadata.end() && first->first.compare(0, 5, "heed.") == 0;
}

void check_data_sum(const std::string& header, const SafetensorsFile& file, std::uint64_t sum) {
  if (!promises_checksum(file)) return;
  const std::size_t digits = find_digits(header);
  if (digits == header.npos || file.metadata.count(checksum_key) == 0)
    throw_error(file.path, ": checksum: missing or damaged in a file that heed wrote");
  if (header.compare(digits + sum_digits, sum_digits, digits_of(sum)) != 0)
    throw_error(file.path, ": checksum: the tensors changed after they were saved");
}

}  // namespace HEED_NAMESPACE
