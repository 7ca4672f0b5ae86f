// parts.hpp: declarations shared by the source files that import and export models.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heed/files/safetensors.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/text/vocabulary.hpp"

namespace HEED_NAMESPACE::hugging_face {

// Where a folder comes from: what its tensors are called, and how they are laid out.
enum class Source { gpt2, nanogpt, bert, heed };

// The content of config.json.
struct ForeignConfig {
  Source source;
  nn::GptConfig model;
  Metadata metadata;  // of Source::heed: the entries of model_metadata()
};
// Reads config.json. Throws Error "PATH: ..." for keys that are missing, wrong or not supported.
// The configuration of Source::heed is in `metadata` alone.
ForeignConfig read_config(const std::filesystem::path& folder);
// The text of config.json for a model.
std::string config_text(Source source, const nn::GptConfig& config, const Vocabulary& vocabulary);

// The weight_map of model.safetensors.index.json: the file of each tensor.
std::map<std::string, std::string> read_index(const std::filesystem::path& path);

// A tensor of the folder: the parameters that it holds, concatenated along axis 0. A transposed
// matrix is (in, out), as in the Conv1D of GPT-2, where Linear has (out, in).
struct ForeignTensor {
  std::string name;                     // without the prefix, such as "h.0.attn.c_attn.weight"
  std::vector<std::string> parameters;  // names in heed, such as "blocks.0.attention.query.weight"
  bool transposed = false;
};
// All tensors of a model, in the order of the file.
std::vector<ForeignTensor> tensors_of(Source source, const nn::GptConfig& config);
// The prefix that names of tensors may have: "transformer." or "bert."; "" if there is none.
std::string_view prefix_of(Source source);
// The name without the prefix, with weight and bias for gamma and beta.
std::string canonical_name(Source source, std::string_view name);
// Whether a canonical name is that of a tensor that is no parameter, such as a buffer with a mask.
bool is_ignorable(Source source, std::string_view canonical);

// The vocabulary of a folder, and its files. Vocabularies without files of their own are in
// meta.json: characters as nanoGPT's meta.pkl, others as metadata entries.
Vocabulary read_vocabulary(const std::filesystem::path& folder, const ForeignConfig& config);
std::map<std::string, std::string> vocabulary_files(const Vocabulary& vocabulary);

// Throws Error "PATH: ..." if the folder names a tokenizer, or settings of one, that heed lacks: of
// BERT, a cased one, also if only its vocabulary tells.
void check_gpt2_tokenizer(const std::filesystem::path& folder);
void check_bert_tokenizer(const std::filesystem::path& folder);

bool file_exists(const std::filesystem::path& path);
// Reads a text file of at most `max_bytes` bytes. Throws Error "PATH: ...".
std::string read_small_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace HEED_NAMESPACE::hugging_face
