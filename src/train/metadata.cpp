// metadata.cpp: reads typed entries from a safetensors file's metadata.

#include "train/metadata.hpp"

#include <charconv>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

const std::string& text_entry(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    throw_error(file.path, ": not a checkpoint of heed: its metadata has no '", key, "'");
  return found->second;
}

std::uint64_t integer_entry(const SafetensorsFile& file, const std::string& key,
                            std::uint64_t max_value) {
  const std::string& text = text_entry(file, key);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max_value)
    throw_error(file.path, ": metadata '", key, "' is ", in_quotes(text),
                ", not a whole number up to ", max_value);
  return value;
}

bool flag_entry(const SafetensorsFile& file, const std::string& key) {
  return integer_entry(file, key, 1) == 1;
}

double number_in(const SafetensorsFile& file, const std::string& key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw_error(file.path, ": metadata '", key, "' holds ", in_quotes(text), ", not a number");
  return value;
}

double number_entry(const SafetensorsFile& file, const std::string& key) {
  return number_in(file, key, text_entry(file, key));
}

}  // namespace HEED_NAMESPACE
