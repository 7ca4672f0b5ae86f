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

class SafetensorsReader;  // defined in files/safetensors_reader.hpp

// Identifies the training text of a run and the size of its byte-pair encoding, so that a run
// cannot be resumed with another text.
struct TextFingerprint {
  std::string path;        // path of the text, in any encoding; empty for the default text
  std::size_t bytes = 0;   // length of the text in bytes
  std::uint64_t hash = 0;  // hash64 of the text
  // With byte-pair encoding, the requested vocabulary size; the text may give fewer tokens. 0 for
  // other tokens, and in files of older versions, which split the tokens, not the bytes, of a text.
  std::size_t vocab_size = 0;
};
// The fingerprint of a text that was read from `path`.
TextFingerprint fingerprint_of(const std::string& path, std::string_view text);

// A safetensors file with a model's parameters, configuration and vocabulary. The checkpoint of a
// run also has the trainer's state. Every member function that reads an entry throws Error "PATH:
// ..." when the entry is missing, damaged or out of range.
class ModelFile {
 public:
  // A file in memory: the result of read_safetensors(). If only the header was read, the functions
  // that load tensors throw Error.
  explicit ModelFile(SafetensorsFile file);
  // Opens a file and reads its header; the functions that load tensors read them piece by piece,
  // and throw Error for a wrong checksum. Throws the errors of read_safetensors, except those about
  // the content of tensors, and for other formats "PATH: not a checkpoint: ...".
  static ModelFile open(const std::filesystem::path& path);

  const std::string& path() const;  // the path that was opened
  bool has_checksum() const;        // whether its metadata contains a checksum
  bool has_text() const;            // whether it is a checkpoint of `heed train`

  // Read from the file's metadata. Only a checkpoint of `heed train` has options(), steps(),
  // text().
  nn::GptConfig config() const;
  Vocabulary vocabulary() const;
  // Like config(), but throws Error unless vocab_size is the size of this vocabulary.
  nn::GptConfig config_for(const Vocabulary& vocabulary) const;
  TrainOptions options() const;
  std::int64_t steps() const;  // the number of steps that the run has done
  TextFingerprint text() const;
  // The libraries that computed the run's matrix products; OpenBLAS if the file names none.
  GemmChoice gemm() const;

  // Copies the file's values into the parameters. Throws Error, before it changes a parameter, if a
  // tensor is missing, differs in shape from its parameter, holds a value that is not finite, or
  // belongs to no parameter. Ignores the optimizer's tensors, whose names begin with "optimizer.".
  void load_parameters(const Parameters& parameters) const;
  // Like load_parameters(), but reads each tensor directly into its parameter, or into `matrices`
  // (rounded), so that memory holds it once. After an error about a number or the checksum,
  // the values are undefined.
  void load_in_place(const Parameters& parameters, const CompactMatrices& matrices = {}) const;

  // Sets the trainer to the state in which the run was saved. Throws Error, and changes nothing,
  // when the file does not fit the trainer.
  void restore(Trainer& trainer) const;

 private:
  explicit ModelFile(std::shared_ptr<const SafetensorsReader> reader)
      : reader_(std::move(reader)) {}
  const SafetensorsFile& header() const;

  std::shared_ptr<const SafetensorsReader> reader_;
};

// A model with its vocabulary, loaded from a file.
struct LoadedModel {
  // Throws Error "PATH: ..." if an entry of the file is missing or invalid, and if the memory does
  // not suffice for the model.
  explicit LoadedModel(const ModelFile& file, WeightType weights = WeightType::f32);
  LoadedModel(const LoadedModel&) = delete;  // not copyable: a copy would share the weights
  LoadedModel& operator=(const LoadedModel&) = delete;

  Vocabulary vocabulary;             // encodes and decodes text
  Parameters parameters;             // the model's other parameters, or all of them
  CompactMatrices compact_matrices;  // the weight matrices, if they are not in Real
  nn::Gpt model;                     // the model, which uses `parameters`
};

// The metadata entries that describe a model and its vocabulary in the file of save_model().
Metadata model_metadata(const nn::GptConfig& config, const Vocabulary& vocabulary);

// Throws Error `FUNCTION: ...` unless the parameters and the vocabulary have the sizes that the
// configuration says.
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
