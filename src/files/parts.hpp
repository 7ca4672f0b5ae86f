// parts.hpp: the JSON header of a safetensors file, and its checksum.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/base/file.hpp"
#include "heed/files/safetensors.hpp"

namespace HEED_NAMESPACE {

constexpr std::size_t prefix_bytes = 8;  // the header's length is stored in 8 bytes

// Parses the header `text`. Returns the metadata, and the tensors in the order of their offsets,
// without setting `data`. Throws Error `PATH: reason` for everything that the format forbids.
SafetensorsFile parse_header(std::string_view text, const std::string& path);

// Throws Error unless `bytes` bytes of memory are available. `what` begins the message, such as
// "PATH: has".
void check_memory(std::size_t bytes, const std::string& what);

// Reads the header of a file, without the 8 bytes of its length. Throws Error `PATH: reason` for a
// truncated file, and NotSafetensors for another format.
std::string read_header(const InputFile& input, const std::string& path);

// Throws Error unless the tensors take `stored` bytes, the number of bytes after the header.
void check_data_size(std::size_t stored, const SafetensorsFile& file);

// Returns the header of a file with `tensors` in this order, padded to a multiple of 8 bytes.
// Throws Error for names and metadata that are not UTF-8; parse_header does all other checks.
std::string header_text(const Metadata& metadata, const std::vector<StoredTensor>& tensors,
                        const std::string& path);

// Adds the metadata entries "heed.checksum" (with a placeholder as its value) and "heed.format".
void announce_checksum(Metadata& metadata);

// Replaces the placeholder in `header` by the checksums of the header and of the tensors.
void fill_checksum(std::string& header, const std::vector<StoredTensor>& tensors);

// Throws Error `PATH: checksum: ...` if heed wrote the file and the header changed afterwards, or
// if the file has heed's older format 1. Must be called before parse_header.
void check_header_sum(const std::string& header, const std::string& path);
// Whether heed wrote the file, so that it must have a checksum: its metadata has a key "heed...".
bool promises_checksum(const SafetensorsFile& file);
// Throws Error `PATH: checksum: ...` if heed wrote the file and the checksum of the tensors is
// missing or is not `sum`. Returns false for a file that another program wrote without a checksum.
bool check_data_sum(const std::string& header, const SafetensorsFile& file, std::uint64_t sum);
// The checksum of the tensors: the hash of each tensor's bytes, whose seed is the hash of the
// tensor before it, or 0 for the first tensor.
std::uint64_t data_sum(const std::vector<StoredTensor>& tensors);

}  // namespace HEED_NAMESPACE
