// safetensors_header.hpp: parses and writes the JSON header of a safetensors file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/files/safetensors.hpp"

namespace HEED_NAMESPACE {

constexpr std::size_t prefix_bytes = 8;                  // the header's length is stored in 8 bytes
constexpr std::uint64_t max_header_bytes = 100'000'000;  // the format's limit for the header

// The sum of the tensors' bytes. Cannot overflow for the tensors of parse_header.
std::size_t bytes_of(const std::vector<StoredTensor>& tensors);

// Parses the header `text`. Returns the metadata, and the tensors in the order of their offsets,
// without setting `data`. Throws Error `PATH: reason` for everything that the format forbids.
SafetensorsFile parse_header(std::string_view text, const std::string& path);

// Returns the header of a file with `tensors` in this order, padded to a multiple of 8 bytes.
// Throws Error for names and metadata that are not UTF-8; parse_header does all other checks.
std::string header_text(const Metadata& metadata, const std::vector<StoredTensor>& tensors,
                        const std::string& path);

}  // namespace HEED_NAMESPACE
