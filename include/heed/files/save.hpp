// save.hpp: saves and loads the parameters of a model as a safetensors file.
#pragma once

#include <filesystem>

#include "heed/files/safetensors.hpp"
#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE {

// Saves each parameter under its name. Replaces an existing file. PyTorch reads the file with
// safetensors.torch.load_file. Throws Error `PATH: reason` when writing fails and, before it
// writes, for a value that is not finite, which load() would reject.
void save(const std::filesystem::path& path, const Parameters& parameters,
          SourceLocation location = SourceLocation::current());

// Copies the values in the file into the parameters of the same names. Throws Error, before it
// changes a parameter, if a tensor is missing, differs in shape from its parameter, holds a value
// that is not finite, or belongs to no parameter. Ignores tensors whose names begin with
// "optimizer." (the optimizer's state in the checkpoint of a training run).
void load(const std::filesystem::path& path, const Parameters& parameters,
          SourceLocation location = SourceLocation::current());
void load(const SafetensorsFile& file, const Parameters& parameters,
          SourceLocation location = SourceLocation::current());

// Sets the i-th parameter to values[i]. Throws Error, before it changes a parameter, unless
// there is exactly one value of the right shape for each parameter.
void set_values(const Parameters& parameters, std::vector<Array> values,
                SourceLocation location = SourceLocation::current());

// The names of an optimizer's tensors in a checkpoint file begin with this prefix.
inline constexpr std::string_view optimizer_prefix = "optimizer.";

}  // namespace HEED_NAMESPACE
