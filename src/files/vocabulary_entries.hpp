// vocabulary_entries.hpp: a model's vocabulary as metadata.
#pragma once

#include "heed/files/safetensors.hpp"
#include "heed/text/vocabulary.hpp"

namespace HEED_NAMESPACE {

void put_vocabulary(Metadata& metadata, const Vocabulary& vocabulary);
// Throws Error "PATH: ..." when an entry is missing or damaged.
Vocabulary vocabulary_in(const SafetensorsFile& file);

}  // namespace HEED_NAMESPACE
