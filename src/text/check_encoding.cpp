// check_encoding.cpp: the error about a text that is not UTF-8.

#include "text/check_encoding.hpp"

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {

void check_encoding(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = decode_utf8(text, i).size;
    if (size == 0)
      throw_error("encode: the text is not UTF-8 at byte ", i, " (",
                  hexadecimal("0x%02llx", static_cast<unsigned char>(text[i])),
                  "); convert it with iconv -t UTF-8");
    i += size;
  }
}

}  // namespace HEED_NAMESPACE
