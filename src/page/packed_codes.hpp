// packed_codes.hpp: packed_codes(), which compresses 16-bit codes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// Compresses 16-bit codes with one Huffman code for the high bytes and one for the low bytes. The
// format, which src/page/01_data.js reads:
//   the number of codes      4 bytes, little-endian
//   the plane of high bytes  see below
//   the plane of low bytes
// A plane is one byte, 0 or 1. After 0 follow its bytes. After 1 follow the lengths of the
// codewords of the 256 byte values, 4 bits each, the first in the high half of a byte; then the
// codewords of all bytes, most significant bit first, the last byte filled with zeros. The code is
// a canonical Huffman code (Huffman 1952; RFC 1951, section 3.2.2); length 0: the byte value does
// not occur.
std::string packed_codes(const std::vector<std::uint16_t>& codes);

// The lengths of the codewords of a Huffman code, at most 15 bits, for symbols with these counts; 0
// for a count of 0. A symbol that is alone has length 1.
std::vector<std::size_t> code_lengths(std::vector<std::size_t> counts);

}  // namespace HEED_NAMESPACE
