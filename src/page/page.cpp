// page.cpp: writes HTML pages in one file, and codes numbers in 16 bits.

#include "page/page.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <new>

#include "heed/base/text.hpp"
#include "page/embedded.hpp"

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

std::string coded(const std::vector<std::uint16_t>& codes) {
  std::string high, low;
  for (const unsigned code : codes) {
    high += static_cast<char>(code >> 8);
    low += static_cast<char>(code & 0xff);
  }
  return base64(high + low);
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

std::string deflated(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string bytes(size, '\0');
  const auto target = reinterpret_cast<Bytef*>(bytes.data());
  const auto source = reinterpret_cast<const Bytef*>(text.data());
  if (compress(target, &size, source, text.size()) != Z_OK) throw std::bad_alloc();
  return bytes.substr(0, size);
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

std::string filled_page(const page::EmbeddedPage& page, std::string_view title,
                        std::map<std::string, std::string> parts) {
  parts.insert({{"title", escaped_html(title)},
                {"load-source", hash_source(page::load.sha256)},
                {"script-source", hash_source(page.script.sha256)},
                {"style-source", hash_source(page.style.sha256)},
                {"style", std::string(page.style.text)},
                {"load", std::string(page::load.text)},
                {"script", std::string(page.script.text)}});
  return filled(page.markup, parts);
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

CodedNumbers coded_numbers(const Real* numbers, std::size_t count, double low, double high,
                           int decimals) {
  std::vector<std::uint16_t> codes(count);
  std::transform(numbers, numbers + count, codes.begin(),
                 [=](Real x) { return code_of(static_cast<double>(x), low, high, decimals); });
  return {low, high, coded(codes)};
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
  return filled_page(
      page::attention, title,
      {{"data", base64(deflated(json))}, {"gradients", base64(deflated(gradients))}});
}

std::string film_page(std::string_view title, std::string_view json) {
  return filled_page(page::film, title, {{"data", base64(deflated(json))}});
}

std::string report_page(std::string_view title, std::string_view body, int refresh) {
  const std::string seconds = std::to_string(refresh);
  const std::string reload = "<meta http-equiv=\"refresh\" content=\"" + seconds + "\">\n";
  return filled_page(page::report, title,
                     {{"body", std::string(body)}, {"refresh", refresh > 0 ? reload : ""}});
}

std::size_t compressed_size(std::string_view json) { return base64(deflated(json)).size(); }

}  // namespace HEED_NAMESPACE
