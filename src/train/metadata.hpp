// metadata.hpp: reads and writes typed entries of a safetensors file's metadata.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/io/safetensors.hpp"
#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

// Each throws Error "PATH: ..." when the entry is missing or has another type.
const std::string& text_entry(const SafetensorsFile& file, const std::string& key);
std::uint64_t integer_entry(const SafetensorsFile& file, const std::string& key,
                            std::uint64_t max_value = 1'000'000'000'000);
double number_entry(const SafetensorsFile& file, const std::string& key);
bool flag_entry(const SafetensorsFile& file, const std::string& key);

// The number in `text`, which is the value of this entry or a part of it.
double number_in(const SafetensorsFile& file, const std::string& key, std::string_view text);

// The prefix of the names of the optimizer's tensors.
inline constexpr std::string_view optimizer_prefix = "optimizer.";

// Add the entries of a model ("model.layers") and of a run ("train.step"). The tensors point into
// the state's optimizer.
void put_config(Metadata& metadata, const nn::GptConfig& config);
void put_run(Metadata& metadata, std::vector<StoredTensor>& tensors, const TrainerState& state);

}  // namespace HEED_NAMESPACE
