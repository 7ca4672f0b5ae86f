// corpus_command.cpp: heed corpus: writes a text whose entropy is known exactly.

#include "heed/app/commands.hpp"
#include "heed/array/error.hpp"

namespace heed::app {

int corpus(const CorpusCommand&) { refuse("corpus: not written yet"); }

}  // namespace heed::app
