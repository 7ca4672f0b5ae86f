// resume.hpp: the checkpoint from which a run is resumed, and the model from which a run starts.
#pragma once

#include <string>

#include "commands/run_folder.hpp"
#include "commands/train/options.hpp"
#include "commands/train/training_text.hpp"

namespace heed::app {

// Opens the checkpoint in the folder and sets the options of `command` from it, except --steps and
// --decay-steps if they are given. If the command names no text, sets `path` to the path of the
// run's text. Throws UsageError for flags that differ from the checkpoint's options.
ModelFile open_checkpoint(const RunFolder& folder, TrainCommand& command, std::string& path);

// Opens the run in --init and sets the model of the command to that of the run.
ModelFile open_initial(TrainCommand& command);

// Whether a resumed run keeps the vocabulary of its checkpoint. Byte pairs are not learned again: a
// later version of heed may learn others from the same text. A run that began with --init may have
// a vocabulary with characters that its text does not have.
bool keeps_vocabulary(const ModelFile& checkpoint, const TextFingerprint& text);

// Throws Error if the text is not that of the checkpoint.
void check_same_text(const ModelFile& checkpoint, const TrainingText& text);

// Whether sample.txt, the last file that a run writes, belongs to the checkpoint.
bool has_last_file(const RunFolder& folder);

// Sets the trainer to the state in the checkpoint. Throws UsageError if the run has done all steps
// and has all its files.
void restore(const ModelFile& checkpoint, const RunFolder& folder, Trainer& trainer);

// Prints a note if the current options change the learning rate of a step that is already done.
void note_schedule(const TrainOptions& saved_options, const Trainer& trainer);

}  // namespace heed::app
