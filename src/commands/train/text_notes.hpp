// text_notes.hpp: notes about a training text that may not be what the user meant.
#pragma once

#include <string>

#include "heed/text/corpus.hpp"

namespace heed::app {

// Prints a note for each problem of the text, with the command that solves it: line ends with CR,
// another encoding, characters that only the validation data has, a vocabulary of one character or
// of very many. `name` is the text's name.
void note_text_problems(const Corpus& corpus, const Vocabulary& vocabulary,
                        const std::string& name);

}  // namespace heed::app
