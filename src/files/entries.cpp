// entries.cpp: reads texts and numbers from the metadata of a model's file.

#include "files/entries.hpp"

#include <cmath>

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
  if (!parse(text, value) || value > max_value)
    throw_error(file.path, ": metadata '", key, "' is ", in_quotes(text),
                ", not a whole number up to ", max_value);
  return value;
}

std::size_t size_entry(const SafetensorsFile& file, const std::string& key) {
  const std::size_t size = integer_entry(file, key);
  if (size == 0) throw_error(file.path, ": metadata '", key, "' is 0, a model needs at least 1");
  return size;
}

double number_in(const SafetensorsFile& file, const std::string& key, std::string_view text) {
  double value = 0;
  if (!parse(text, value) || !std::isfinite(value))
    throw_error(file.path, ": metadata '", key, "' holds ", in_quotes(text),
                ", not a finite number");
  return value;
}

double number_entry(const SafetensorsFile& file, const std::string& key) {
  return number_in(file, key, text_entry(file, key));
}

}  // namespace HEED_NAMESPACE
