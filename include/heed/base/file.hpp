// file.hpp: a text file's bytes, and what to warn of before training.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// All bytes of a file, in no more memory than they take: from then on nobody can change them.
// `path` is a regular file (an empty one is allowed), /dev/null, or "-": all of standard input.
// Throws Error, one line: "in.txt: No such file or directory",
// "in.txt: is a directory; give a text file", "in.txt: is not a regular file; ...".
std::string read_text(const std::string& path);

bool has_byte_order_mark(std::string_view text);  // begins with U+FEFF in UTF-8
bool has_crlf(std::string_view text);             // has a line that ends in "\r\n"

}  // namespace heed
