// page.hpp: HTML pages in one file, without requests, and numbers as 16-bit codes for such pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// Bytes as base64 (RFC 4648, section 4).
std::string base64(std::string_view bytes);

// Numbers as unsigned 16-bit codes in base64. The code c stands for the number
// low + c * (high - low) / 65535.
struct CodedNumbers {
  double low, high;  // the numbers of the codes 0 and 65535
  // The codes, little-endian, in base64; or packed, if that is shorter: then '*', and in base64
  // what packed_codes() of src/page/packed_codes.hpp returns.
  std::string codes;
};

// Codes `count` numbers between low and high; numbers outside are clamped. A decoded number differs
// from the original by less than (high - low) / 65535. If that step is smaller than the last of
// `decimals` decimals, both round to the same text with so many decimals. NaN is coded as low.
CodedNumbers coded_numbers(const Real* numbers, std::size_t count, double low, double high,
                           int decimals);
// The same with low and high the smallest and the largest of the numbers.
CodedNumbers coded_numbers(const std::vector<Real>& numbers, int decimals);
// Codes that are already integers.
std::string base64(const std::vector<std::uint16_t>& codes);

// Text as HTML: &, <, >, " and ' become character references.
std::string escaped_html(std::string_view text);

// The page of `heed look --page`: one HTML file with its style sheet, its script and its data.
// `json` is the data and `gradients` the gradients of losses, as ASCII JSON; every '<' in it
// becomes an escape sequence, so that no text can end the script element. A Content-Security-Policy
// forbids every request and every other script.
std::string attention_page(std::string_view title, std::string_view json,
                           std::string_view gradients);

}  // namespace HEED_NAMESPACE
