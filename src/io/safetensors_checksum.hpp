// safetensors_checksum.hpp: checksums that detect damage to a safetensors file.
#pragma once

#include <string>
#include <vector>

#include "heed/io/safetensors.hpp"

namespace HEED_NAMESPACE {

// Adds "heed.checksum", with a placeholder as its value, and "heed.format".
void announce_checksum(Metadata& metadata);

// Replaces the placeholder in the text of header_text by the sums.
void fill_checksum(std::string& header, const std::vector<StoredTensor>& tensors);

// Both throw Error `FILE: checksum: ...` for a file from heed that changed after it was saved.
// check_header_sum must run before the header is parsed. It also rejects files in format 1, whose
// checksum was another one.
void check_header_sum(const std::string& header, const std::string& file);
// Returns false for a file from another program, which has no checksum.
bool check_data_sum(const std::string& header, const SafetensorsFile& file);

}  // namespace HEED_NAMESPACE
