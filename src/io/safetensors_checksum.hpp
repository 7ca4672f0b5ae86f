// safetensors_checksum.hpp: the sums that make damage to a saved file visible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/safetensors.hpp"

namespace heed {

// Inputs that differ within one word of 8 bytes, by a flipped bit for instance, always end in
// different sums; other differences go unseen once in 2^64 times. Not a defence against forgery.
class Checksum {
 public:
  void add(const void* data, std::size_t bytes);
  std::string hex() const;  // 16 digits

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325;  // FNV's start
};

// Adds "heed.checksum", not yet filled in, and "heed.format".
void announce_checksum(Metadata& metadata);

// Fills the sums in, where header_text wrote the announced metadata.
void fill_checksum(std::string& header, const std::vector<StoredTensor>& tensors);

// Both throw Error `FILE: checksum: ...` for a file from heed that is no longer as it was saved.
// The header's sum is checked before anything in the header is believed.
void check_header_sum(const std::string& header, const std::string& file);
// Returns false for a file from elsewhere, which has no checksum.
bool check_data_sum(const std::string& header, const SafetensorsFile& file);

}  // namespace heed
