// llama2_c.hpp: reads the checkpoint and the tokenizer of Karpathy's llama2.c.
#pragma once

#include <filesystem>
#include <string>

#include "heed/base/file.hpp"
#include "heed/nn/gpt.hpp"

namespace HEED_NAMESPACE {

// A checkpoint of llama2.c in its version 0: seven int32 (width, hidden width of the MLPs, layers,
// heads, heads of keys and values, tokens, context length), then the weights in F32. A negative
// number of tokens means that the output layer has its own weights.
class Llama2CFile {
 public:
  // Reads the header. Throws Error "PATH: ..." for a wrong header, and unless the size of the file
  // is that of the model.
  explicit Llama2CFile(const std::filesystem::path& path);

  const nn::GptConfig& config() const { return config_; }
  // Reads the weights. Throws Error for a number that is not finite.
  void load(const Parameters& parameters) const;

 private:
  void check_size() const;
  double unused_numbers() const;

  std::string path_;
  InputFile file_;
  nn::GptConfig config_;
};

// The content of llama2.c's tokenizer.bin as the text of a vocabulary of SentencePiece (see
// Vocabulary::from_files). Throws Error "PATH: ..." for a damaged file, and unless it has
// vocab_size tokens.
std::string llama2_c_vocabulary(const std::filesystem::path& path, std::size_t vocab_size);

}  // namespace HEED_NAMESPACE
