// model_entries.hpp: a model's configuration and its vocabulary as metadata. Every function that
// reads entries throws Error "PATH: ..." when one is missing, damaged or out of range.
#pragma once

#include <string>

#include "heed/files/safetensors.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/text/vocabulary.hpp"

namespace HEED_NAMESPACE {

void put_config(Metadata& metadata, const nn::GptConfig& config);
// The configuration, checked against the tensors of the file.
nn::GptConfig config_in(const SafetensorsFile& file);
// Throws Error with the first difference unless the configurations are equal.
void check_same_model(const std::string& path, const nn::GptConfig& saved,
                      const nn::GptConfig& config);

void put_vocabulary(Metadata& metadata, const Vocabulary& vocabulary);
Vocabulary vocabulary_in(const SafetensorsFile& file);

}  // namespace HEED_NAMESPACE
