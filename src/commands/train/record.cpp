// record.cpp: the states that heed train --record keeps.

#include "commands/train/record.hpp"

namespace heed::app {

void thin_record(const StepFolder& record, std::int64_t every, std::int64_t step) {
  const std::int64_t spacing = record_spacing(every, step);
  for (const std::int64_t kept : record.steps())
    if (kept < step && kept % every == 0 && kept % spacing != 0) remove_file(record.file(kept));
}

}  // namespace heed::app
