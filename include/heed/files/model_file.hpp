// model_file.hpp: saves and loads a trained model or a training run as a safetensors file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "heed/files/safetensors.hpp"
#include "heed/gemm/gemm_choice.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/text/vocabulary.hpp"
#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

class SafetensorsReader;  // files/safetensors_reader.hpp

// Identifies the training text of a run and its byte pairs, so that a run cannot be resumed with
// another text.
struct TextFingerprint {
  std::string path;        // path of the text, in any encoding; empty for the default text
  std::size_t bytes = 0;   // length of the text in bytes
  std::uint64_t hash = 0;  // hash64 of the text
  // With byte pairs, the number of tokens that was asked for, of which the text may give fewer. 0:
  // other tokens, or the file of a heed that split the tokens, not the bytes, of such a text.
  std::size_t vocab_size = 0;
};
// The fingerprint of a text that was read from `path`.
TextFingerprint fingerprint_of(const std::string& path, std::string_view text);

// A safetensors file with a model's parameters, configuration and vocabulary. The checkpoint of a
// run also has the trainer's state. Every member function that reads an entry throws Error "PATH:
// ..." when the entry is missing, damaged or out of range.
class ModelFile {
 public:
  // A file in memory: the result of read_safetensors(). If its tensors have no numbers, the
  // functions that load them throw Error.
  explicit ModelFile(SafetensorsFile file);
  // Opens a file and reads its header; the functions that load numbers read them piece by piece,
  // and throw Error for a wrong checksum. Throws the errors of read_safetensors, except those about
  // the tensors' numbers, and for other formats "PATH: not a checkpoint: ...".
  static ModelFile open(const std::filesystem::path& path);

  const std::string& path() const;  // the path that was opened
  bool has_checksum() const;        // whether the file claims to have a checksum
  bool has_text() const;            // whether it is the checkpoint of a run, which has a text()

  // The entries of the file. Only the checkpoint of a training run has options(), steps() and text().
  nn::GptConfig config() const;
  Vocabulary vocabulary() const;
  // config(), of which the vocab_size must be the size of the file's vocabulary.
  nn::GptConfig config_for(const Vocabulary& vocabulary) const;
  TrainOptions options() const;
  std::int64_t steps() const;  // the number of steps that the run has done
  TextFingerprint text() const;
  // The libraries that computed the run's matrix products; OpenBLAS in files that do not say.
  GemmChoice gemm() const;

  // Copies the file's values into the parameters. Throws Error, before it changes a parameter, if a
  // tensor is missing, differs in shape from its parameter, holds a value that is not finite, or
  // belongs to no parameter. Ignores the optimizer's tensors, whose names begin with "optimizer.".
  void load_parameters(const Parameters& parameters) const;
  // The same, straight into place, so that the numbers are in memory once: those of `matrices` in
  // BF16. After an error about a number or the checksum, the values are undefined.
  void load_in_place(const Parameters& parameters, const Bf16Matrices& matrices = {}) const;

  // Sets the trainer to the state in which the run was saved. Throws Error, and changes nothing,
  // when the file does not fit the trainer.
  void restore(Trainer& trainer) const;

 private:
  explicit ModelFile(std::shared_ptr<const SafetensorsReader> reader)
      : reader_(std::move(reader)) {}
  const SafetensorsFile& header() const;

  std::shared_ptr<const SafetensorsReader> reader_;
};

// The number type of a loaded model's weight matrices: Real (F32 in the library `heed`), or BF16
// for inference, in half the memory.
enum class WeightType { f32, bf16 };

// A model with its vocabulary, loaded from a file.
struct LoadedModel {
  // Throws Error "PATH: ..." if an entry of the file is missing or invalid, and if the memory does
  // not suffice for the model.
  explicit LoadedModel(const ModelFile& file, WeightType weights = WeightType::f32);
  LoadedModel(const LoadedModel&) = delete;  // not copyable: a copy would share the weights
  LoadedModel& operator=(const LoadedModel&) = delete;

  Vocabulary vocabulary;       // encodes and decodes text
  Parameters parameters;       // the model's parameters, loaded from the file
  Bf16Matrices bf16_matrices;  // the other weights of the model if its weights are in BF16
  nn::Gpt model;               // the model, which uses `parameters`
};

// The metadata entries that describe a model and its vocabulary in the file of save_model().
Metadata model_metadata(const nn::GptConfig& config, const Vocabulary& vocabulary);

// Throws Error `FUNCTION: ...` unless the parameters and the vocabulary are as many as those of a
// model of this configuration.
void check_complete(const char* function, const Parameters& parameters, const nn::GptConfig& config,
                    const Vocabulary& vocabulary);

// Saves a model without the trainer's state, so that its training cannot be resumed. Replaces an
// existing file. Throws the errors of check_complete(), and Error when writing fails.
void save_model(const std::filesystem::path& path, const Parameters& parameters,
                const nn::GptConfig& config, const Vocabulary& vocabulary);

// Saves a run's checkpoint: the model and the trainer's state, to resume the run bit-identically.
// Throws Diverged, and saves nothing, if a parameter or a moment is not finite. Throws Error when
// writing fails.
void save_run(const std::filesystem::path& path, const Trainer& trainer,
              const Vocabulary& vocabulary, const TextFingerprint& text);

// Throws the errors that save_run would throw before it writes the tensors, and changes no file.
// Call it before training: the first checkpoint may be due after hours.
void check_run(const std::filesystem::path& path, const Trainer& trainer,
               const Vocabulary& vocabulary, const TextFingerprint& text);

}  // namespace HEED_NAMESPACE
