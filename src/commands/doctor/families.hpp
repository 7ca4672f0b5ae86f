// families.hpp: the families of findings of heed doctor, a source file each. The findings of the
// loss curve are in curve_findings.hpp.
#pragma once

#include <vector>

#include "commands/doctor/examined_run.hpp"

namespace heed::app {

using Findings = std::vector<Finding>;

Findings text_findings(const ExaminedRun& run);     // encoding, the two parts of the text
Findings weight_findings(const ExaminedRun& run);   // frozen and tied parameters
Findings head_findings(const ExaminedRun& run);     // dead, duplicate and saturated heads
Findings context_findings(const ExaminedRun& run);  // leaks, and context that is not used

// The first `windows` windows of validation data, of at most `length` tokens: (B, T). There are
// fewer if the text is short, and none if it is not available.
Indices validation_windows(const ExaminedRun& run, std::size_t windows, std::size_t length);

}  // namespace heed::app
