// safetensors_header.hpp: the header's JSON, to and from names, dtypes and shapes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/safetensors.hpp"

namespace heed {

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<StoredTensor> tensors;  // in the order of their bytes, `data` not set
  std::size_t data_bytes = 0;         // of all tensors
};

// Throws Error `FILE: reason` for all that the format forbids.
SafetensorsHeader parse_header(std::string_view text, const std::string& file);

// Padded to a multiple of 8 bytes; offsets follow from the order. Throws Error for a name or
// metadata that is not UTF-8. Only parse_header checks the rest.
std::string header_text(const Metadata& metadata, const std::vector<StoredTensor>& tensors,
                        const std::string& file);

}  // namespace heed
