// finding.hpp: Finding, a likely fault of a training run.
#pragma once

#include <string>

namespace heed::app {

struct Finding {
  std::string name;        // such as "overfitting"
  std::string evidence;    // the numbers from which it follows
  std::string experiment;  // a command whose result decides whether it is right
};

}  // namespace heed::app
