// random_state.cpp: the state of a Generator as text: state and set_state.

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "heed/array/random.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::string_view state_tag = "mt19937 ";

// Parses an integer at the front of `text` and removes it and the space after it.
template <class Integer>
bool take_number(std::string_view& text, Integer& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || (stop != end && *stop != ' ')) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + (stop != end ? 1 : 0));
  return true;
}

std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

double from_bits(std::uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

}  // namespace

// "mt19937", the index of the next word, the 624 words, and the bits of the cached normal if any.
std::string Generator::state() const {
  std::string text(state_tag);
  text += std::to_string(bits_.next);
  for (const std::uint32_t word : bits_.words) text += " " + std::to_string(word);
  return has_cached_normal_ ? text + " " + std::to_string(bits_of(cached_normal_)) : text;
}

// Comparing `text` with the state that was read finds extra characters and other number formats.
void Generator::set_state(const std::string& text) {
  Generator parsed(0, precision_);
  std::string_view rest = text;
  bool valid = rest.substr(0, state_tag.size()) == state_tag;
  if (valid) rest.remove_prefix(state_tag.size());
  valid = valid && take_number(rest, parsed.bits_.next) &&
          parsed.bits_.next <= parsed.bits_.words.size();
  for (std::uint32_t& word : parsed.bits_.words) valid = valid && take_number(rest, word);
  std::uint64_t bits = 0;
  parsed.has_cached_normal_ = valid && !rest.empty() && take_number(rest, bits);
  if (parsed.has_cached_normal_) parsed.cached_normal_ = from_bits(bits);
  if (!valid || !std::isfinite(parsed.cached_normal_) || parsed.state() != text)
    throw_error("set_state: not a generator's state (", text.size(),
                " characters); give the text that state() wrote");
  *this = parsed;
}

}  // namespace HEED_NAMESPACE
