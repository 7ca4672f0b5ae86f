// page.cpp: writes HTML pages in one file, and codes numbers in 16 bits.

#include "page/page.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "heed/base/text.hpp"
#include "page/embedded.hpp"
#include "page/packed_codes.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr double largest_code = 65535;

double decoded(double code, double low, double high) {
  return low + code * (high - low) / largest_code;
}

// Returns the nearest code of x, or the next one if only that one rounds to the same text as x.
std::uint16_t code_of(double x, double low, double high, int decimals) {
  if (!(high > low) || std::isnan(x)) return 0;
  const double exact_code = std::clamp((x - low) / (high - low), 0.0, 1.0) * largest_code;
  const double nearest = std::round(exact_code);
  const double other = std::clamp(nearest + (exact_code > nearest ? 1 : -1), 0.0, largest_code);
  const std::string text = decimal(x, decimals);
  const bool use_other = decimal(decoded(nearest, low, high), decimals) != text &&
                         decimal(decoded(other, low, high), decimals) == text;
  return static_cast<std::uint16_t>(use_other ? other : nearest);
}

// The codes in base64, packed if that is shorter.
std::string text_of(const std::vector<std::uint16_t>& codes) {
  const std::string plain = base64(codes), packed = "*" + base64(packed_codes(codes));
  return packed.size() < plain.size() ? packed : plain;
}

// Returns the template with each {{name}} replaced by parts.at(name). The parts are not searched.
std::string filled(std::string_view text, const std::map<std::string, std::string>& parts) {
  std::string result;
  for (std::size_t open; (open = text.find("{{")) != text.npos;) {
    const std::size_t close = text.find("}}", open);
    result += text.substr(0, open);
    result += parts.at(std::string(text.substr(open + 2, close - open - 2)));
    text.remove_prefix(close + 2);
  }
  return result.append(text);
}

// Escapes '<', so that no text in the JSON can end the script element.
std::string in_script(std::string_view json) {
  std::string result;
  for (const char c : json)
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  return result;
}

std::string bytes_of_hexadecimal(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

// Returns the source of a Content-Security-Policy that allows one inline script or style sheet.
std::string hash_source(std::string_view sha256) {
  return "'sha256-" + base64(bytes_of_hexadecimal(sha256)) + "'";
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t present = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < present ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= present ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string base64(const std::vector<std::uint16_t>& codes) {
  std::string bytes;
  for (const unsigned code : codes) {
    bytes += static_cast<char>(code & 0xff);
    bytes += static_cast<char>(code >> 8);
  }
  return base64(bytes);
}

CodedNumbers coded_numbers(const Real* numbers, std::size_t count, double low, double high,
                           int decimals) {
  std::vector<std::uint16_t> codes(count);
  std::transform(numbers, numbers + count, codes.begin(),
                 [=](Real x) { return code_of(static_cast<double>(x), low, high, decimals); });
  return {low, high, text_of(codes)};
}

CodedNumbers coded_numbers(const std::vector<Real>& numbers, int decimals) {
  if (numbers.empty()) return {0, 0, ""};
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  return coded_numbers(numbers.data(), numbers.size(), static_cast<double>(*low),
                       static_cast<double>(*high), decimals);
}

std::string escaped_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string attention_page(std::string_view title, std::string_view json,
                           std::string_view gradients) {
  return filled(page::markup, {{"title", escaped_html(title)},
                               {"script-source", hash_source(page::script_sha256)},
                               {"style-source", hash_source(page::style_sha256)},
                               {"style", std::string(page::style)},
                               {"script", std::string(page::script)},
                               {"data", in_script(json)},
                               {"gradients", in_script(gradients)}});
}

}  // namespace HEED_NAMESPACE
