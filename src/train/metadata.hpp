// metadata.hpp: reading typed entries from a safetensors file's metadata.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/io/safetensors.hpp"
#include "heed/train/trainer.hpp"

namespace heed {

// Each throws Error "PATH: ..." when the entry is missing, or is not such a value.
const std::string& text_entry(const SafetensorsFile& file, const std::string& key);
std::uint64_t integer_entry(const SafetensorsFile& file, const std::string& key,
                            std::uint64_t largest = 1'000'000'000'000);
double number_entry(const SafetensorsFile& file, const std::string& key);
bool flag_entry(const SafetensorsFile& file, const std::string& key);

// The number in `text`, which is the value of that entry or part of it.
double number_in(const SafetensorsFile& file, const std::string& key, std::string_view text);

// Names of the optimizer's tensors begin with this.
inline constexpr std::string_view optimizer_prefix = "optimizer.";

// The entries of a run, "train.step" and so on; tensors point into the state's optimizer.
void put_config(Metadata& metadata, const nn::GptConfig& config);
void put_run(Metadata& metadata, std::vector<StoredTensor>& tensors, const TrainerState& state);

}  // namespace heed
