// checkpoint.hpp: a model as named tensors and a few words about its form, and back.
#pragma once

#include <string>
#include <vector>

#include "heed/nn/gpt.hpp"
#include "heed/nn/safetensors.hpp"

namespace heed::nn {

// Adds "model.layers" and so on: all that GptConfig holds.
void put_config(Metadata& metadata, const GptConfig& config);
// Throws Error, with the file's name, when an entry is missing or not a number in range.
GptConfig config_from(const SafetensorsFile& file);

// Adds every parameter under its own name. The parameters must outlive the list.
void put_parameters(std::vector<StoredTensor>& tensors, const Parameters& parameters);
// Writes the file's values into the parameters. Throws Error before changing any, with the file's
// and the tensor's name, when one is missing, has another shape, or holds a value that is not
// finite, and for a tensor that is of none of them nor, by its name "optimizer. ...", a trainer's.
void load_parameters(const Parameters& parameters, const SafetensorsFile& file);

// The shortest text that reads back as the same number.
std::string exact(double value);

// An entry of the metadata. Throws Error when it is missing; whole() also when it is not a whole
// number of at most `most`.
const std::string& entry(const SafetensorsFile& file, const std::string& key);
std::uint64_t whole(const SafetensorsFile& file, const std::string& key,
                    std::uint64_t most = 1'000'000'000'000);

}  // namespace heed::nn
