// switches.hpp: turns one mutant of instrumented code on, while the program runs.
//
// Instrumented code has a numbered switch at each place that a mutant changes. HEED_MUTANT is the
// number of the mutant that is on. HEED_MUTANTS_REACHED names a file with one byte for each
// mutant: without a mutant, the program sets the bytes of the switches that it has passed.
#pragma once

#include <type_traits>
#include <utility>

namespace heed_mutants {

extern int active;  // -1 records the switches that are passed
bool record(int id);
inline bool on(int id) { return active == id || (active < 0 && record(id)); }

template <class T>
bool flip(int id, T&& condition) {
  return static_cast<bool>(std::forward<T>(condition)) != on(id);
}
// Both arguments have one type, so that they can be swapped.
template <class T>
T&& pick(int id, T&& first, T&& second) {
  return on(id) ? std::forward<T>(second) : std::forward<T>(first);
}

#define HEED_MUTANT_OPERATOR(name, before, after)                                       \
  template <class L, class R>                                                           \
  auto name(int id, L&& l, R&& r) {                                                     \
    static_assert(std::is_same_v<decltype(std::forward<L>(l) before std::forward<R>(r)), \
                                 decltype(std::forward<L>(l) after std::forward<R>(r))>); \
    if (on(id)) return std::forward<L>(l) after std::forward<R>(r);                     \
    return std::forward<L>(l) before std::forward<R>(r);                                \
  }
HEED_MUTANT_OPERATOR(plus_minus, +, -)
HEED_MUTANT_OPERATOR(minus_plus, -, +)
HEED_MUTANT_OPERATOR(times_over, *, /)
HEED_MUTANT_OPERATOR(over_times, /, *)
HEED_MUTANT_OPERATOR(less_to_less_or_equal, <, <=)
HEED_MUTANT_OPERATOR(less_or_equal_to_less, <=, <)
HEED_MUTANT_OPERATOR(greater_to_greater_or_equal, >, >=)
HEED_MUTANT_OPERATOR(greater_or_equal_to_greater, >=, >)
HEED_MUTANT_OPERATOR(equal_differs, ==, !=)
HEED_MUTANT_OPERATOR(differs_equal, !=, ==)
#undef HEED_MUTANT_OPERATOR

}  // namespace heed_mutants
