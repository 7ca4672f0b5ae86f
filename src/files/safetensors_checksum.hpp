// safetensors_checksum.hpp: the checksum of a safetensors file, stored in its header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/files/safetensors.hpp"

namespace HEED_NAMESPACE {

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
// missing or is not `sum`.
void check_data_sum(const std::string& header, const SafetensorsFile& file, std::uint64_t sum);

// The checksum of the tensors: the hash of each tensor's bytes, whose seed is the hash of the
// tensor before it, or 0 for the first tensor.
std::uint64_t data_sum(const std::vector<StoredTensor>& tensors);

}  // namespace HEED_NAMESPACE
