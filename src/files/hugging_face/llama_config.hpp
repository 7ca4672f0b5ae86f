// llama_config.hpp: the config.json of models of Llama's family.
#pragma once

#include <string>

#include "files/hugging_face/config_keys.hpp"
#include "heed/nn/gpt.hpp"

namespace HEED_NAMESPACE::hugging_face {

// The configuration of LlamaForCausalLM or, with the type "qwen2", of Qwen2ForCausalLM.
nn::GptConfig llama_config(const ConfigKeys& config, const std::string& type);

}  // namespace HEED_NAMESPACE::hugging_face
