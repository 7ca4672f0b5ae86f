// model_file.hpp: saves and loads a trained model or a training run as a safetensors file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "heed/io/safetensors.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/text/vocabulary.hpp"
#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

// Identifies the training text of a run, so that a run cannot be resumed with another text.
struct TextFingerprint {
  std::string path;        // empty for the default text
  std::size_t bytes = 0;   // length of the text
  std::uint64_t hash = 0;  // hash64 of the text
};
// The fingerprint of a text that was read from `path`.
TextFingerprint fingerprint_of(const std::string& path, std::string_view text);

// Every option's name and value, such as {"batch_size", "12"}. Numbers can be read back exactly.
std::map<std::string, std::string> option_texts(const TrainOptions& options);

// A safetensors file with a model's parameters, configuration and vocabulary. The checkpoint of a
// run also has the trainer's state. Every member function that reads an entry throws Error "PATH:
// ..." when the entry is missing, damaged or out of range.
class ModelFile {
 public:
  // The file has been read by read_safetensors; see open().
  explicit ModelFile(SafetensorsFile file) : file_(std::move(file)) {}
  // Throws the errors of read_safetensors and, for other formats, "PATH: not a checkpoint: ...".
  static ModelFile open(const std::filesystem::path& path);

  const std::string& path() const { return file_.path; }  // as it was opened
  // Whether the file has a (valid) checksum.
  bool has_checksum() const { return file_.has_checksum; }
  // Whether the file is a run's checkpoint, with a text().
  bool has_text() const { return file_.metadata.count("text.path") != 0; }

  // The entries of the file; options() and text() only of a run's checkpoint.
  nn::GptConfig config() const;
  Vocabulary vocabulary() const;
  TrainOptions options() const;
  TextFingerprint text() const;

  // Copies the file's values into the parameters. Throws Error, before it changes a parameter, if a
  // tensor is missing, has another shape, holds a value that is not finite, or belongs to no
  // parameter. Ignores the optimizer's tensors, whose names begin with "optimizer".
  void load_parameters(const Parameters& parameters) const;

  // Sets the trainer to the state in which the run was saved. Throws Error, and changes nothing,
  // when the file does not fit the trainer.
  void restore(Trainer& trainer) const;

 private:
  SafetensorsFile file_;
};

// A model with its vocabulary, loaded from a file.
struct LoadedModel {
  // Throws Error "PATH: ...". Draws initial weights, then replaces them by the file's weights.
  explicit LoadedModel(const ModelFile& file, Generator generator = Generator(0));
  LoadedModel(const LoadedModel&) = delete;  // a copy would share its weights
  LoadedModel& operator=(const LoadedModel&) = delete;

  Vocabulary vocabulary;  // for encode and decode
  Parameters parameters;  // the model's, loaded from the file
  nn::Gpt model;          // uses the parameters
};

// Saves a model without the trainer's state, so that its training cannot be resumed. Replaces an
// existing file. Throws Error when writing fails.
void save_model(const std::filesystem::path& path, const Parameters& parameters,
                const nn::GptConfig& config, const Vocabulary& vocabulary);

// Saves a run's checkpoint: the model and the trainer's state, to resume the run bit-identically.
// Throws Diverged, and saves nothing, if a value is not finite. Throws Error when writing fails.
void save_run(const std::filesystem::path& path, const Trainer& trainer,
              const Vocabulary& vocabulary, const TextFingerprint& text);

}  // namespace HEED_NAMESPACE
