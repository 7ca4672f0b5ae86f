// record.hpp: the states that heed train --record keeps (see heed/train/recorder.hpp).
#pragma once

#include <cstdint>

#include "commands/run_folder.hpp"
#include "heed/train/recorder.hpp"

namespace heed::app {

// Removes the states of a smaller spacing than that of `step` steps. Keeps those at which the run
// was resumed between two multiples of `every`: they may have another learning rate schedule.
void thin_record(const StepFolder& record, std::int64_t every, std::int64_t step);

}  // namespace heed::app
