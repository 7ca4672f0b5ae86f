// embedded.hpp: the parts of the page of `heed look --page`, which CMake embeds from this folder.
#pragma once

#include <string_view>

namespace heed::page {

extern const std::string_view markup;         // page.html
extern const std::string_view style;          // page.css
extern const std::string_view load;           // load.js
extern const std::string_view script;         // all other *.js files of this folder, joined
extern const std::string_view style_sha256;   // hexadecimal
extern const std::string_view load_sha256;    // hexadecimal
extern const std::string_view script_sha256;  // hexadecimal

}  // namespace heed::page
