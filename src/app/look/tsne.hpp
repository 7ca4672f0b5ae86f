// tsne.hpp: heed look --tsne.
#pragma once

#include "app/look/parts.hpp"

namespace heed::app {

// Places the queries and keys of one head (the first unless one was chosen) in the plane, says
// where the picture misleads, and draws tsne.svg. Returns the exit code; throws UsageError when the
// text is too short for the perplexity.
int look_tsne(const LookCommand& command, const nn::Gpt& model, const LookText& text);

}  // namespace heed::app
