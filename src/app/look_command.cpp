// look_command.cpp: heed look: what the heads of a trained model do with a text.

#include <iostream>

#include "heed/app/commands.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/array/error.hpp"
#include "heed/array/parallel.hpp"
#include "heed/nn/heads.hpp"
#include "heed/report/heatmap.hpp"
#include "heed/train/saved_model.hpp"

namespace heed::app {

int look(const LookCommand& command) {
  if (command.threads) set_num_threads(*command.threads);
  const SafetensorsFile file = open_checkpoint(checkpoint_in(command.run));
  const SavedModel saved(file);
  check_trusted(file, command.trust);
  refuse("look: not written yet");
}

}  // namespace heed::app
