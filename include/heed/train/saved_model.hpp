// saved_model.hpp: a model with its vocabulary, ready to use: from a checkpoint, and into one.
#pragma once

#include <filesystem>

#include "heed/nn/gpt.hpp"
#include "heed/nn/safetensors.hpp"
#include "heed/text/vocabulary.hpp"

namespace heed {

// "vocabulary.unit" and "vocabulary.symbols": numbers, or words with a blank between them.
void put_vocabulary(Metadata& metadata, const Vocabulary& vocabulary);
// Throws Error, with the file's name, when an entry is missing or damaged.
Vocabulary vocabulary_from(const SafetensorsFile& file);

// A trained model as a file has it, be it a run's checkpoint or written by save_model.
struct SavedModel {
  // Throws Error, with the file's name, when it does not hold a model of heed, whole and finite.
  explicit SavedModel(const SafetensorsFile& file);
  SavedModel(const SavedModel&) = delete;  // a copy would share its weights
  SavedModel& operator=(const SavedModel&) = delete;

  Vocabulary vocabulary;
  Parameters parameters;
  nn::Gpt model;

 private:
  SavedModel(const SafetensorsFile& file, Generator generator);
};

// Writes a model alone, without what it would take to train on: it can be used, not resumed.
// Replaces a file that is there. Throws Error when that fails.
void save_model(const std::filesystem::path& path, const Parameters& parameters,
                const nn::GptConfig& config, const Vocabulary& vocabulary);

}  // namespace heed
