// tokenizer.hpp: checks the settings of a folder's tokenizer.
#pragma once

#include <filesystem>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE::hugging_face {

// Throws Error "PATH: ..." if the folder names a tokenizer, or settings of one, that heed lacks: of
// BERT, a cased one, also if only its vocabulary tells.
void check_gpt2_tokenizer(const std::filesystem::path& folder);
void check_bert_tokenizer(const std::filesystem::path& folder);

}  // namespace HEED_NAMESPACE::hugging_face
