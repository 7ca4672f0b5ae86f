// safetensors_header.hpp: parsing and writing the JSON header of a safetensors file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/safetensors.hpp"

namespace HEED_NAMESPACE {

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<StoredTensor> tensors;  // in the order of their bytes; `data` is nullptr
  std::size_t data_bytes = 0;         // the sum over all tensors
};

// Throws Error `FILE: reason` for everything that the format forbids.
SafetensorsHeader parse_header(std::string_view text, const std::string& file);

// The header for tensors stored in this order, padded to a multiple of 8 bytes. Throws Error for
// names and metadata that are not UTF-8. parse_header checks everything else.
std::string header_text(const Metadata& metadata, const std::vector<StoredTensor>& tensors,
                        const std::string& file);

}  // namespace HEED_NAMESPACE
