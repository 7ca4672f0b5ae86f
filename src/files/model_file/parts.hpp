// parts.hpp: the metadata entries of a model's file, by subject. Every function that reads an entry
// throws Error "PATH: ..." when the entry is missing, damaged or out of range.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "heed/files/model_file.hpp"
#include "heed/files/safetensors.hpp"

namespace HEED_NAMESPACE::model_file {

// ---- entries.cpp: texts and numbers

// If all of `text` is a number of type Number, writes the number to `value` and returns true.
template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

const std::string& text_entry(const SafetensorsFile& file, const std::string& key);
constexpr std::uint64_t any_integer = static_cast<std::uint64_t>(-1);
std::uint64_t integer_entry(const SafetensorsFile& file, const std::string& key,
                            std::uint64_t max_value = 1'000'000'000'000);
std::size_t size_entry(const SafetensorsFile& file, const std::string& key);  // at least 1
double number_entry(const SafetensorsFile& file, const std::string& key);
// The number in `text`, which is the value of metadata entry `key` or a part of this value.
double number_in(const SafetensorsFile& file, const std::string& key, std::string_view text);

// ---- config.cpp: the sizes and variants of the model

void put_config(Metadata& metadata, const nn::GptConfig& config);
nn::GptConfig config_in(const SafetensorsFile& file);
// Throws Error with the first difference unless the configurations are equal.
void check_same_model(const std::string& path, const nn::GptConfig& saved,
                      const nn::GptConfig& config);

// ---- vocabulary.cpp

void put_vocabulary(Metadata& metadata, const Vocabulary& vocabulary);
Vocabulary vocabulary_in(const SafetensorsFile& file);

// ---- path.cpp: the path of the training text

void put_path(Metadata& metadata, const std::string& path);
std::string path_in(const SafetensorsFile& file);

// ---- options.cpp: the training options

void put_options(Metadata& metadata, const TrainOptions& options);
TrainOptions options_in(const SafetensorsFile& file);

// ---- trainer_state.cpp: what a run needs to be resumed

// Adds the entries of a state, and the optimizer's tensors, which point to the memory of `state`.
void put_trainer_state(Metadata& metadata, std::vector<StoredTensor>& tensors,
                       const TrainerState& state);
TrainerState trainer_state_in(const SafetensorsFile& file);

}  // namespace HEED_NAMESPACE::model_file
