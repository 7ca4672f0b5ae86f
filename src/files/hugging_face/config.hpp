// config.hpp: the content of config.json and of the index of a sharded model.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "heed/files/safetensors.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/text/vocabulary.hpp"

namespace HEED_NAMESPACE::hugging_face {

// Where a folder comes from: what its tensors are called, and how they are laid out.
enum class Source { gpt2, nanogpt, bert, llama, heed };

// The content of config.json.
struct ForeignConfig {
  Source source;
  nn::GptConfig model;
  Metadata metadata;  // of a model exported by heed: its model_metadata()
};
// Reads config.json. Throws Error "PATH: ..." for keys that are missing, wrong or not supported. A
// model exported by heed has its configuration only in `metadata`.
ForeignConfig read_config(const std::filesystem::path& folder);
// The text of config.json for a model.
std::string config_text(Source source, const nn::GptConfig& config, const Vocabulary& vocabulary);

// The weight_map of model.safetensors.index.json: the file of each tensor.
std::map<std::string, std::string> read_index(const std::filesystem::path& path);

}  // namespace HEED_NAMESPACE::hugging_face
