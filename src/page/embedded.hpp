// embedded.hpp: the pages of `heed look` and the operations' sources, which CMake embeds.
#pragma once

#include <string_view>

namespace heed::page {

// A style sheet or a script.
struct EmbeddedPart {
  std::string_view text;
  std::string_view sha256;  // of the text, hexadecimal
};

struct EmbeddedPage {
  std::string_view markup;
  EmbeddedPart style, script;
};

extern const EmbeddedPage attention;       // page.html, page.css and the *.js files, joined
extern const EmbeddedPage film;            // film/
extern const EmbeddedPage report;          // report/, without a script
extern const EmbeddedPart load;            // load.js, the first script of both pages
extern const std::string_view operations;  // src/ops/*.cpp, joined

}  // namespace heed::page
