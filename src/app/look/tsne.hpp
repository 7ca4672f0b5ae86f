// tsne.hpp: heed look --tsne, a t-SNE map of one head's queries and keys.
#pragma once

#include "app/look/parts.hpp"

namespace heed::app {

// Maps the queries and keys of one head (default: layer 0, head 0) by t-SNE, prints the map and the
// nearest key of each query, and draws tsne.svg. Returns the exit code. Throws UsageError if the
// text is too short for the perplexity.
int look_tsne(const LookCommand& command, const nn::Gpt& model, const LookText& text);

}  // namespace heed::app
