// facts.hpp: what all ranks of a training run must have in common, as facts for agree().
#pragma once

#include "commands/ranks.hpp"
#include "commands/train/options.hpp"
#include "commands/train/training_text.hpp"

namespace heed::app {

// The options of the command, the name of its text and this program.
Facts facts_of(const TrainCommand& command, const TrainingText& text);

// The text, the weights before the first step and the libraries of matrix products.
Facts facts_of(const TrainingText& text, const Parameters& parameters);

}  // namespace heed::app
