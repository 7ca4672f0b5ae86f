// run_entries.hpp: the metadata and tensors of a training run's checkpoint besides the model: the
// text's path, the options and the state of the trainer. Every function that reads an entry throws
// Error "PATH: ..." when the entry is missing, damaged or out of range.
#pragma once

#include <string>
#include <vector>

#include "files/safetensors_reader.hpp"
#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

// The path of the training text.
void put_path(Metadata& metadata, const std::string& path);
std::string path_in(const SafetensorsFile& file);

// The training options.
TrainOptions options_in(const SafetensorsFile& file);

// The state, which has the options. The optimizer's tensors point to the memory of `state`.
void put_trainer_state(Metadata& metadata, std::vector<StoredTensor>& tensors,
                       const TrainerState& state);
TrainerState trainer_state_in(const SafetensorsReader& file);

}  // namespace HEED_NAMESPACE
