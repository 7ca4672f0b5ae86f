// load.hpp: loads the parameters of a model from a file that is read piece by piece.
#pragma once

#include <vector>

#include "files/safetensors_reader.hpp"
#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE {

// Reads each parameter and each compact matrix directly into its memory, so that memory holds it
// once. Throws the errors of load(), and Error for a number that is too large for BF16. After an
// error about a number or the checksum, the values of the parameters are undefined.
void load_in_place(const SafetensorsReader& file, const Parameters& parameters,
                   const CompactMatrices& matrices = {});

// Returns the values that the file holds for the parameters, in the order of `parameters`. Throws
// the same errors as load().
std::vector<Array> parameter_values(const SafetensorsReader& file, const Parameters& parameters);

}  // namespace HEED_NAMESPACE
