// json.hpp: strict reading of small JSON files.
#pragma once

#include <filesystem>
#include <string>

#include "base/json.hpp"
#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE::hugging_face {

bool file_exists(const std::filesystem::path& path);
// Reads a text file of at most `max_bytes` bytes. Throws Error "PATH: ...".
std::string read_small_file(const std::filesystem::path& path, std::size_t max_bytes);

// Reads a file with one JSON object of at most 32 levels. Throws Error "PATH: ...".
Json parsed_object(const std::filesystem::path& path, std::size_t max_bytes);

// A value for an error message, cut after about 80 bytes.
std::string short_text(const Json& value);

}  // namespace HEED_NAMESPACE::hugging_face
