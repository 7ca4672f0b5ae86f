// hugging_face.hpp: imports models of GPT-2, BERT and Llama from folders as Hugging Face ships
// them, and models of llama2.c, and exports models for nanoGPT, GPT2LMHeadModel, LlamaForCausalLM
// and PyTorch.
#pragma once

#include <filesystem>

#include "heed/nn/gpt.hpp"
#include "heed/text/vocabulary.hpp"

namespace HEED_NAMESPACE {

class Llama2CFile;  // files/llama2_c.hpp
namespace hugging_face {
struct Folder;
}

// A model read from a folder with
//   config.json          its sizes and variants
//   model.safetensors    its weights in F32, F16, BF16 or F64; or model.safetensors.index.json and
//                        the files that the index names
//   vocab.json, merges.txt (GPT-2), vocab.txt (BERT), tokenizer.json or tokenizer.vocab (Llama's
//   family) or meta.json (nanoGPT's characters)
// The folder is one of Hugging Face's models GPT-2, BERT, Llama and Qwen2, or was written by
// export_model. Names of tensors may have the prefix `transformer.`, `bert.` or `model.`; norms may
// be called gamma and beta; buffers with masks and BERT's pooler are ignored.
struct ImportedModel {
  // Reads the files tensor by tensor, so that the peak of memory is little above that of the model.
  // Throws Error "PATH: ..." if a file is missing or damaged; if a tensor is missing, is not a
  // parameter of the model, has another shape, or holds a number that is not finite; and if the
  // configuration requires a computation that Gpt does not support.
  explicit ImportedModel(const std::filesystem::path& folder);
  // Reads a model of Karpathy's llama2.c from a checkpoint of its version 0, such as
  // stories260K.bin, and its tokenizer.bin. Throws Error "PATH: ..." if a file is damaged or does
  // not fit the other one.
  ImportedModel(const std::filesystem::path& checkpoint, const std::filesystem::path& tokenizer);
  ImportedModel(const ImportedModel&) = delete;  // not copyable: a copy would share the weights
  ImportedModel& operator=(const ImportedModel&) = delete;

  Vocabulary vocabulary;  // encodes and decodes text
  Parameters parameters;  // the model's parameters
  nn::Gpt model;          // the model, which uses `parameters`

 private:
  ImportedModel(const std::filesystem::path& folder, const hugging_face::Folder& files);
  ImportedModel(const Llama2CFile& checkpoint, const std::filesystem::path& tokenizer);
};

// What export_model writes for: nanoGPT, Hugging Face's GPT2LMHeadModel or LlamaForCausalLM (with
// qkv_bias alone Qwen2ForCausalLM), or any PyTorch program (heed's own names of the parameters,
// which are those of a state dict).
enum class ExportFormat { nanogpt, gpt2, llama, pytorch };

// Throws Error if the format cannot express a model, such as rotary positions in nanoGPT.
void check_export(const nn::GptConfig& config, ExportFormat format,
                  SourceLocation location = SourceLocation::current());

// Writes model.safetensors, config.json, the vocabulary and load.py, a short program that loads the
// folder with torch alone, into the folder, which must exist. ImportedModel reads the folder back:
// the parameters have the same bytes. (GPT2LMHeadModel always has biases: a model without biases
// gets zeros. LlamaForCausalLM rotates the halves of a head: a model with RotaryPairs::interleaved
// gets its rows of queries and keys in that order, and is read back with RotaryPairs::halves.)
// Throws the errors of check_export before it writes a file.
void export_model(const std::filesystem::path& folder, const Parameters& parameters,
                  const nn::GptConfig& config, const Vocabulary& vocabulary, ExportFormat format);

}  // namespace HEED_NAMESPACE
