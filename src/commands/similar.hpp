// similar.hpp: the name that a misspelt command or option may mean.
#pragma once

#include <string>
#include <vector>

namespace heed::app {

// The number of substitutions, insertions, deletions and swaps of adjacent characters that turn `a`
// into `b` (the restricted distance of Damerau 1964).
std::size_t edit_distance(const std::string& a, const std::string& b);

// The name nearest to `word`, the first one of several; "" if no name differs from the word in at
// most a third of the word's characters, or in one.
std::string nearest(const std::string& word, const std::vector<std::string>& names);

// The option of heed with the meaning of an option of another program, such as nanoGPT: "--heads"
// for "--n-head"; "" if there is none.
std::string option_of_meaning(const std::string& option);

}  // namespace heed::app
