// vocabulary.hpp: the vocabulary files of GPT-2, BERT, nanoGPT and Llama's family.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "files/hugging_face/config.hpp"

namespace HEED_NAMESPACE::hugging_face {

// The vocabulary of a folder, and its files. Vocabularies without files of their own are in
// meta.json: characters as nanoGPT's meta.pkl, others as metadata entries.
Vocabulary read_vocabulary(const std::filesystem::path& folder, const ForeignConfig& config);
std::map<std::string, std::string> vocabulary_files(const Vocabulary& vocabulary);

}  // namespace HEED_NAMESPACE::hugging_face
