// inflated.hpp: reads the compressed data of a page of `heed look --page`.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <string>

#include "catch.hpp"

namespace heed_test {

// The bytes of a base64 text.
inline std::string bytes_of(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 4; ++k)
      bits =
          bits << 6 | (text[i + k] == '=' ? 0u : static_cast<unsigned>(digits.find(text[i + k])));
    for (std::size_t k = 0; k < 3 && (k == 0 || text[i + k + 1] != '='); ++k)
      bytes += static_cast<char>(bits >> (16 - 8 * k) & 0xff);
  }
  return bytes;
}

// The text that is compressed in the element with this id.
inline std::string inflated(const std::string& page, const std::string& id) {
  const std::size_t begin = page.find('>', page.find("id=\"" + id + "\"")) + 1;
  const std::string bytes = bytes_of(page.substr(begin, page.find("</script>", begin) - begin));
  std::string text(64 * 1024 * 1024, '\0');
  uLongf size = text.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                     reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  return text.substr(0, size);
}

}  // namespace heed_test
