// embedded.hpp: the parts of the page of `heed look --page`, which CMake embeds from this folder.
#pragma once

#include <string_view>

namespace heed::page {

extern const std::string_view markup;         // content of page.html
extern const std::string_view style;          // content of page.css
extern const std::string_view load;           // content of load.js
extern const std::string_view script;         // all other *.js files of this folder, joined
extern const std::string_view style_sha256;   // SHA-256 of `style`, hexadecimal
extern const std::string_view load_sha256;    // SHA-256 of `load`, hexadecimal
extern const std::string_view script_sha256;  // SHA-256 of `script`, hexadecimal

}  // namespace heed::page
