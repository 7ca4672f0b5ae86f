// facts.hpp: the properties that all ranks of a training run must have in common, for agree().
#pragma once

#include "commands/ranks.hpp"
#include "commands/train/options.hpp"
#include "commands/train/training_text.hpp"

namespace heed::app {

// The command's options, the name of its text, and a hash of this program.
Facts facts_of(const TrainCommand& command, const TrainingText& text);

// Hashes of the text and of the initial weights, and the libraries of matrix products.
Facts facts_of(const TrainingText& text, const Parameters& parameters);

}  // namespace heed::app
