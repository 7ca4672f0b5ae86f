// record.cpp: at which steps heed train --record keeps the state of a run.

#include "commands/train/record.hpp"

namespace heed::app {

std::int64_t record_spacing(std::int64_t every, std::int64_t steps) {
  while (steps / every >= max_recorded) every *= 2;
  return every;
}

bool is_recorded(std::int64_t every, std::int64_t step) {
  return every > 0 && step % record_spacing(every, step) == 0;
}

void thin_record(const StepFolder& record, std::int64_t every, std::int64_t step) {
  const std::int64_t spacing = record_spacing(every, step);
  for (const std::int64_t kept : record.steps())
    if (kept < step && kept % every == 0 && kept % spacing != 0) remove_file(record.file(kept));
}

}  // namespace heed::app
