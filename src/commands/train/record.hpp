// record.hpp: at which steps heed train --record keeps the state of a run.
#pragma once

#include <cstdint>

#include "commands/run_folder.hpp"

namespace heed::app {

// The number of states that a record has at most: the first one, and 8 later ones.
constexpr std::int64_t max_recorded = 9;

// The steps between two recorded states of a run of so many steps: `every`, doubled until the
// record has at most max_recorded states.
std::int64_t record_spacing(std::int64_t every, std::int64_t steps);

// Whether the state after `step` steps is recorded. `every` 0 records nothing.
bool is_recorded(std::int64_t every, std::int64_t step);

// Removes the states of a smaller spacing than that of `step` steps. Keeps those at which the run
// was resumed between two multiples of `every`: they may have another learning rate schedule.
void thin_record(const StepFolder& record, std::int64_t every, std::int64_t step);

}  // namespace heed::app
