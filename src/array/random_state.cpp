// random_state.cpp: a generator written down as text, and read back.

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "heed/array/random.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

constexpr std::string_view state_tag = "mt19937 ";

// Reads one space-separated token of `text` as a whole number and removes it.
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

// "mt19937", the next word's number, 624 words, and the waiting normal's bits where there is one.
std::string Generator::state() const {
  std::string text(state_tag);
  text += std::to_string(bits_.next);
  for (const std::uint32_t word : bits_.words) text += " " + std::to_string(word);
  return has_cached_normal_ ? text + " " + std::to_string(bits_of(cached_normal_)) : text;
}

// Only what state() writes comes back as the same text: spelling and leftovers need no own check.
void Generator::set_state(const std::string& text) {
  Generator read(0, precision_);
  std::string_view rest = text;
  bool good = rest.substr(0, state_tag.size()) == state_tag;
  if (good) rest.remove_prefix(state_tag.size());
  good = good && take_number(rest, read.bits_.next) && read.bits_.next <= read.bits_.words.size();
  for (std::uint32_t& word : read.bits_.words) good = good && take_number(rest, word);
  std::uint64_t bits = 0;
  read.has_cached_normal_ = good && !rest.empty() && take_number(rest, bits);
  if (read.has_cached_normal_) read.cached_normal_ = from_bits(bits);
  if (!good || !std::isfinite(read.cached_normal_) || read.state() != text)
    throw_error("set_state: not a generator's state (", text.size(),
                " characters); give the text that state() wrote");
  *this = read;
}

}  // namespace heed
