// model_entries.hpp: a model's configuration as metadata. Every function that reads entries throws
// Error "PATH: ..." when one is missing, damaged or out of range.
#pragma once

#include <string>

#include "heed/files/safetensors.hpp"
#include "heed/nn/gpt.hpp"

namespace HEED_NAMESPACE {

// No tensor bounds the block size of rotary positions, and a cache of keys needs memory for it.
constexpr std::size_t max_rotary_block_size = 131072;

void put_config(Metadata& metadata, const nn::GptConfig& config);
// The configuration, checked against the tensors of the file.
nn::GptConfig config_in(const SafetensorsFile& file);
// Throws Error with the first difference unless the configurations are equal.
void check_same_model(const std::string& path, const nn::GptConfig& saved,
                      const nn::GptConfig& config);

}  // namespace HEED_NAMESPACE
