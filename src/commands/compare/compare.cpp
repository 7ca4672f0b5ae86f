// compare.cpp: heed compare, which shows several training runs side by side.

#include "commands/compare/compare.hpp"

#include "commands/compare/comparison.hpp"

namespace heed::app {

void declare_flags(Flags& flags, CompareCommand& c) {
  flags.positionals("RUN", c.runs,
                    "folders of runs, such as runs/harbour, or of a sweep; runs that differ only "
                    "in --seed become one curve, their mean with its standard error",
                    "the folders of runs, such as runs/*/");
  flags.choice("--by", "the horizontal axis of the plot", {"step", "tokens", "seconds"}, c.by);
  flags.path("--page", "FILE", "write all of it as an HTML file", "file", c.page);
  flags.path("--out", "DIR", "folder of compare.svg, compare.csv and compare.gp [runs]", "folder",
             c.out);
  flags.example("./heed compare runs/harbour runs/wide");
  flags.example("./heed compare runs/harbour-sweep");
  flags.example("./heed compare runs/*/ --by tokens --page runs/compare.html");
}

int run(const CompareCommand& command) {
  RunComparison(command.runs, command.by).show(command.out, command.page);
  return 0;
}

}  // namespace heed::app
