// llama_config.hpp: the config.json of models of Llama's family.
#pragma once

#include <string>

#include "files/hugging_face/config_keys.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/text/vocabulary.hpp"

namespace HEED_NAMESPACE::hugging_face {

// The configuration of LlamaForCausalLM or, with the type "qwen2", of Qwen2ForCausalLM.
nn::GptConfig llama_config(const ConfigKeys& config, const std::string& type);
// The config.json of a model that check_export() accepts for ExportFormat::llama.
Json llama_json(const nn::GptConfig& config, const Vocabulary& vocabulary);

}  // namespace HEED_NAMESPACE::hugging_face
