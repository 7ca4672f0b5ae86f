// switches.hpp: turns one mutant of instrumented code on, while the program runs.
//
// Instrumented code has a numbered switch at each place that a mutant changes. HEED_MUTANT is the
// number of the mutant that is on. HEED_MUTANTS_REACHED names a file with one byte for each
// mutant: without a mutant, the program sets the bytes of the switches that it has passed.
#pragma once

namespace heed_mutants {

extern int active;  // -1 records the switches that are passed
bool record(int id);
inline bool on(int id) { return active == id || (active < 0 && record(id)); }

}  // namespace heed_mutants
