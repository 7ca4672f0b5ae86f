// entries.hpp: texts and numbers in the metadata of a model's file. Every function that reads an
// entry throws Error "PATH: ..." when the entry is missing, damaged or out of range.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "heed/files/safetensors.hpp"

namespace HEED_NAMESPACE {

// If all of `text` is a number of type Number, writes the number to `value` and returns true.
template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

const std::string& text_entry(const SafetensorsFile& file, const std::string& key);
constexpr std::uint64_t any_integer = static_cast<std::uint64_t>(-1);
std::uint64_t integer_entry(const SafetensorsFile& file, const std::string& key,
                            std::uint64_t max_value = 1'000'000'000'000);
std::size_t size_entry(const SafetensorsFile& file, const std::string& key);  // at least 1
double number_entry(const SafetensorsFile& file, const std::string& key);
// The number in `text`, which is the value of metadata entry `key` or a part of this value.
double number_in(const SafetensorsFile& file, const std::string& key, std::string_view text);

}  // namespace HEED_NAMESPACE
