// page.hpp: HTML pages in one file, without requests, and numbers as 16-bit codes for such pages.
#pragma once

#include <cstddef>
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
  double low, high;   // the numbers that the codes 0 and 65535 stand for
  std::string codes;  // first the high bytes of all codes, then the low bytes, in base64
};

// Codes `count` numbers between low and high; numbers outside are clamped. A decoded number differs
// from the original by less than (high - low) / 65535. If that step is smaller than the last of
// `decimals` decimals, both round to the same text with so many decimals. NaN is coded as low.
CodedNumbers coded_numbers(const Real* numbers, std::size_t count, double low, double high,
                           int decimals);
// Codes the numbers between the smallest and the largest of them.
CodedNumbers coded_numbers(const std::vector<Real>& numbers, int decimals);

// Text as HTML: &, <, >, " and ' become character references.
std::string escaped_html(std::string_view text);

// The page of `heed look --page`: one HTML file with its style sheet, its script and its data.
// `json` is the data and `gradients` the gradients of losses, as JSON, which the file holds
// compressed (zlib, RFC 1950) and in base64. A Content-Security-Policy forbids every request and
// every other script. Throws std::bad_alloc.
std::string attention_page(std::string_view title, std::string_view json,
                           std::string_view gradients);
// The page of `heed look --film`, in the same form.
std::string film_page(std::string_view title, std::string_view json);
// A page of charts and tables without a script: `body` is HTML. If `refresh` is above 0, the browser
// loads the page again after so many seconds. The policy of the page forbids every request.
std::string report_page(std::string_view title, std::string_view body, int refresh = 0);
// The bytes that a part of the data takes in the page, if it were compressed alone.
std::size_t compressed_size(std::string_view json);

// The source of an operation, such as "Softmax": its struct, with forward and backward, and the
// comment above it, which has the formula. "" if heed has no such operation.
std::string operation_source(std::string_view op);

}  // namespace HEED_NAMESPACE
